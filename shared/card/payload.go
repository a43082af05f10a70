package card

import (
	"github.com/go-json-experiment/json"

	"github.com/anet-hub/anet/shared/codec"
)

// strip leaves out the members of object that proto3 takes for unset, at every
// level the schema knows. Unknown members and wrong types stay as they are.
func (m message) strip(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for name, v := range object {
		f, known := m.field(name)
		if !known {
			out[name] = v
			continue
		}
		if v = f.strip(v); !f.unset(v) {
			out[name] = v
		}
	}
	return out
}

func (f field) strip(v any) any {
	switch f.shape {
	case single:
		return f.stripOne(v)
	case list:
		return f.stripList(v)
	case mapped:
		return f.stripMap(v)
	default:
		return v
	}
}

func (f field) stripOne(v any) any {
	if object, ok := v.(map[string]any); ok {
		return f.of.strip(object)
	}
	return v
}

func (f field) stripList(v any) any {
	array, ok := v.([]any)
	if !ok {
		return v
	}
	out := make([]any, len(array))
	for i, e := range array {
		out[i] = f.stripOne(e)
	}
	return out
}

func (f field) stripMap(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(object))
	for name, e := range object {
		out[name] = f.stripOne(e)
	}
	return out
}

func (f field) unset(v any) bool {
	switch {
	case f.presence == required:
		return false
	case v == nil:
		return true
	default:
		return f.presence == implicit && f.isDefault(v)
	}
}

// isDefault reports whether v is the default of f's type; the empty value of
// another type is none.
func (f field) isDefault(v any) bool {
	switch v := v.(type) {
	case string:
		return f.shape == text && v == ""
	case bool:
		return f.shape == flag && !v
	case []any:
		return (f.shape == texts || f.shape == list) && len(v) == 0
	case map[string]any:
		return (f.shape == textMap || f.shape == mapped) && len(v) == 0
	default:
		return false
	}
}

// stripped is the primary payload of a card that was parsed, without its
// signatures.
func stripped(card map[string]any) ([]byte, error) {
	b, err := json.Marshal(agentCard.strip(card))
	if err != nil {
		return nil, err
	}
	return codec.Canonicalize(b)
}

func canonical(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return codec.CanonicalJSON(b)
}
