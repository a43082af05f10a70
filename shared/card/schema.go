package card

import (
	"fmt"
	"iter"
)

// presence says when proto3 takes a member for unset.
type presence uint8

const (
	required presence = iota // never
	explicit                 // when null
	implicit                 // when null or the default of its type
)

// shape is the JSON form of a member.
type shape uint8

const (
	text    shape = iota // a string
	flag                 // a boolean
	texts                // an array of strings
	textMap              // an object of strings
	free                 // an object in which nothing is interpreted
	single               // a message
	list                 // an array of messages
	mapped               // an object of messages
)

// field is a member of a message; of is set for single, list and mapped.
type field struct {
	name string
	presence
	shape
	of message
}

// message is a row of the table in section H.3.
type message []field

var (
	agentCard = message{
		{"name", required, text, nil},
		{"description", required, text, nil},
		{"supportedInterfaces", required, list, agentInterface},
		{"version", required, text, nil},
		{"capabilities", required, single, agentCapabilities},
		{"defaultInputModes", required, texts, nil},
		{"defaultOutputModes", required, texts, nil},
		{"skills", required, list, agentSkill},
		{"provider", explicit, single, agentProvider},
		{"documentationUrl", explicit, text, nil},
		{"iconUrl", explicit, text, nil},
		{"securitySchemes", implicit, mapped, securityScheme},
		{"securityRequirements", implicit, list, securityRequirement},
		{"signatures", implicit, list, cardSignature},
	}
	agentInterface = message{
		{"url", required, text, nil},
		{"protocolBinding", required, text, nil},
		{"protocolVersion", required, text, nil},
		{"tenant", implicit, text, nil},
	}
	agentProvider = message{
		{"url", required, text, nil},
		{"organization", required, text, nil},
	}
	agentCapabilities = message{
		{"streaming", explicit, flag, nil},
		{"pushNotifications", explicit, flag, nil},
		{"extendedAgentCard", explicit, flag, nil},
		{"extensions", implicit, list, agentExtension},
	}
	agentExtension = message{
		{"params", explicit, free, nil},
		{"uri", implicit, text, nil},
		{"description", implicit, text, nil},
		{"required", implicit, flag, nil},
	}
	agentSkill = message{
		{"id", required, text, nil},
		{"name", required, text, nil},
		{"description", required, text, nil},
		{"tags", required, texts, nil},
		{"examples", implicit, texts, nil},
		{"inputModes", implicit, texts, nil},
		{"outputModes", implicit, texts, nil},
		{"securityRequirements", implicit, list, securityRequirement},
	}
	cardSignature = message{
		{"protected", required, text, nil},
		{"signature", required, text, nil},
		{"header", explicit, free, nil},
	}
	securityRequirement = message{{"schemes", implicit, mapped, stringList}}
	stringList          = message{{"list", implicit, texts, nil}}
	securityScheme      = message{
		{"apiKeySecurityScheme", explicit, single, apiKeyScheme},
		{"httpAuthSecurityScheme", explicit, single, httpAuthScheme},
		{"oauth2SecurityScheme", explicit, single, oauth2Scheme},
		{"openIdConnectSecurityScheme", explicit, single, openIDScheme},
		{"mtlsSecurityScheme", explicit, single, mtlsScheme},
	}
	apiKeyScheme = message{
		{"location", required, text, nil},
		{"name", required, text, nil},
		{"description", implicit, text, nil},
	}
	httpAuthScheme = message{
		{"scheme", required, text, nil},
		{"description", implicit, text, nil},
		{"bearerFormat", implicit, text, nil},
	}
	oauth2Scheme = message{
		{"flows", required, single, oauthFlows},
		{"description", implicit, text, nil},
		{"oauth2MetadataUrl", implicit, text, nil},
	}
	openIDScheme = message{
		{"openIdConnectUrl", required, text, nil},
		{"description", implicit, text, nil},
	}
	mtlsScheme = message{{"description", implicit, text, nil}}
	oauthFlows = message{
		{"authorizationCode", explicit, single, authorizationCodeFlow},
		{"clientCredentials", explicit, single, clientCredentialsFlow},
		{"implicit", explicit, single, implicitFlow},
		{"password", explicit, single, passwordFlow},
		{"deviceCode", explicit, single, deviceCodeFlow},
	}
	authorizationCodeFlow = message{
		{"authorizationUrl", required, text, nil},
		{"tokenUrl", required, text, nil},
		{"scopes", required, textMap, nil},
		{"refreshUrl", implicit, text, nil},
		{"pkceRequired", implicit, flag, nil},
	}
	clientCredentialsFlow = message{
		{"tokenUrl", required, text, nil},
		{"scopes", required, textMap, nil},
		{"refreshUrl", implicit, text, nil},
	}
	implicitFlow = message{
		{"authorizationUrl", implicit, text, nil},
		{"refreshUrl", implicit, text, nil},
		{"scopes", implicit, textMap, nil},
	}
	passwordFlow = message{
		{"tokenUrl", implicit, text, nil},
		{"refreshUrl", implicit, text, nil},
		{"scopes", implicit, textMap, nil},
	}
	deviceCodeFlow = message{
		{"deviceAuthorizationUrl", required, text, nil},
		{"tokenUrl", required, text, nil},
		{"scopes", required, textMap, nil},
		{"refreshUrl", implicit, text, nil},
	}
)

func (m message) field(name string) (field, bool) {
	for _, f := range m {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// fits reports whether v has the JSON type of f.
func (f field) fits(v any) bool {
	switch f.shape {
	case text:
		return isString(v)
	case flag:
		_, ok := v.(bool)
		return ok
	case texts:
		return isArray(v, isString)
	case textMap:
		return isObject(v, isString)
	case list:
		return isArray(v, isPlainObject)
	case mapped:
		return isObject(v, isPlainObject)
	default:
		return isPlainObject(v)
	}
}

func isString(v any) bool      { _, ok := v.(string); return ok }
func isPlainObject(v any) bool { _, ok := v.(map[string]any); return ok }

func isArray(v any, each func(any) bool) bool {
	array, ok := v.([]any)
	for _, e := range array {
		ok = ok && each(e)
	}
	return ok
}

func isObject(v any, each func(any) bool) bool {
	object, ok := v.(map[string]any)
	for _, e := range object {
		ok = ok && each(e)
	}
	return ok
}

// messages yields the messages inside v, each with its path from f's parent.
func (f field) messages(v any) iter.Seq2[string, map[string]any] {
	return func(yield func(string, map[string]any) bool) {
		switch v := v.(type) {
		case []any:
			for i, e := range v {
				if o, ok := e.(map[string]any); ok && !yield(fmt.Sprintf("%s[%d]", f.name, i), o) {
					return
				}
			}
		case map[string]any:
			if f.shape == single {
				yield(f.name, v)
				return
			}
			for name, e := range v {
				if o, ok := e.(map[string]any); ok && !yield(f.name+"."+clip(name), o) {
					return
				}
			}
		}
	}
}

// typed demands the required members of m and the right JSON type of every known
// one; null stands for an absent member.
func (m message) typed(path string, object map[string]any) error {
	for _, f := range m {
		v := object[f.name]
		switch {
		case v == nil && f.presence == required:
			return Refuse(InvalidCard, "%s%s is missing", path, f.name)
		case v == nil:
			continue
		case !f.fits(v):
			return Refuse(InvalidCard, "%s%s has the wrong JSON type", path, f.name)
		case f.of == nil:
			continue
		}
		for at, inner := range f.messages(v) {
			if err := f.of.typed(path+at+".", inner); err != nil {
				return err
			}
		}
	}
	return nil
}
