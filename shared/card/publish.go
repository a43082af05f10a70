package card

import "fmt"

// CheckPublishForm refuses a card, signed or not, on whose payload two SDKs
// could disagree: it holds a member no schema knows, misses a required one, or
// shows a value that one of them takes for unset.
func CheckPublishForm(raw []byte) error {
	tree, _, err := parse(raw)
	if err != nil {
		return err
	}
	return publishForm(tree)
}

func publishForm(tree map[string]any) error {
	if err := agentCard.typed("", tree); err != nil {
		return Refuse(NotPublishForm, "the card is no valid one").Because(err)
	}
	if err := agentCard.strict("", tree); err != nil {
		return err
	}
	if err := withoutEmpties("the card", tree); err != nil {
		return err
	}
	return publishedCapabilities(tree["capabilities"].(map[string]any))
}

// strict refuses unknown members and implicit booleans that are false.
func (m message) strict(path string, object map[string]any) error {
	for name, v := range object {
		f, known := m.field(name)
		switch {
		case !known:
			return Refuse(NotPublishForm, "%s%s is a member no verifier knows", path, clip(name))
		case f.presence == implicit && v == false:
			return Refuse(NotPublishForm, "%s%s is false, which is to be left out", path, name)
		case f.of == nil:
			continue
		}
		for at, inner := range f.messages(v) {
			if err := f.of.strict(path+at+".", inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func withoutEmpties(path string, v any) error {
	switch v := v.(type) {
	case nil:
		return isEmpty(path)
	case string:
		if v == "" {
			return isEmpty(path)
		}
	case []any:
		return emptyArray(path, v)
	case map[string]any:
		return emptyObject(path, v)
	}
	return nil
}

func emptyArray(path string, v []any) error {
	if len(v) == 0 {
		return isEmpty(path)
	}
	for i, e := range v {
		if err := withoutEmpties(fmt.Sprintf("%s[%d]", path, i), e); err != nil {
			return err
		}
	}
	return nil
}

func emptyObject(path string, v map[string]any) error {
	if len(v) == 0 {
		return isEmpty(path)
	}
	for name, e := range v {
		if err := withoutEmpties(path+"."+clip(name), e); err != nil {
			return err
		}
	}
	return nil
}

func isEmpty(path string) error {
	return Refuse(NotPublishForm, "%s is null or empty, which is to be left out", path)
}

// publishedCapabilities wants both flags written although they are false, and
// the third one only when it is true: that is how the verifiers agree.
func publishedCapabilities(c map[string]any) error {
	for _, name := range []string{"streaming", "pushNotifications"} {
		if _, ok := c[name].(bool); !ok {
			return Refuse(NotPublishForm, "capabilities.%s is missing", name)
		}
	}
	if extended, present := c["extendedAgentCard"]; present && extended != true {
		return Refuse(NotPublishForm, "capabilities.extendedAgentCard is to be true or absent")
	}
	return nil
}
