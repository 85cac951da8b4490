package web

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"
)

// gone replaces a hidden value.
const gone = "(hidden)"

// mode is how much below a field is shown.
type mode uint8

const (
	open   mode = iota // numbers, and words of known fields
	points             // a reference: its target
	closed             // below a field that looks like a credential: names of other objects only
	dark               // nothing
)

// place is the position of a value.
type place struct {
	key    string // of the field, or of its list
	in     string // of the parent field
	status bool
	mode   mode
}

// manifest counts the hidden values.
type manifest struct{ hidden int }

// Manifest formats an object as YAML for the page, without what may be secret. hidden counts the
// hidden values.
//
// It is an allowlist: a text is shown if its field is known to contain a word, and if it has the
// form of one. Of the environment, arguments, data, and unknown fields it shows only the names.
// Numbers and booleans are shown unless a parent is named like a credential. Messages of a status
// are shown, as health shows them.
//
// Names are always shown: a password in the name of an object is visible in the whole cluster
// anyway.
func Manifest(object map[string]any) (text []byte, hidden int) {
	var m manifest
	text, err := yaml.Marshal(m.object(object))
	if err != nil { // it is no JSON, which the API server never stores
		return []byte("# " + gone + "\n"), 1
	}
	return text, m.hidden
}

// object is all of an object.
func (m *manifest) object(object map[string]any) map[string]any {
	kind, _ := object["kind"].(string)
	out := map[string]any{}
	for key, v := range object {
		data := key == "data" || key == "binaryData"
		switch sized, _ := v.(map[string]any); {
		case data && kind == "ConfigMap" && sized != nil:
			out[key] = m.sizes(sized)
		case key == "data" && kind == "ControllerRevision": // a part of an object
			out[key] = m.value(place{key: "revision"}, v)
		case key == "message" || key == "note" || key == "reason": // of an Event
			out[key] = m.value(place{key: key, status: kind == "Event"}, v)
		default:
			m.field(out, place{status: key == "status"}, key, v)
		}
	}
	return out
}

// sizes replaces data by its sizes.
func (m *manifest) sizes(data map[string]any) map[string]any {
	out := map[string]any{}
	for key, v := range data {
		text, _ := v.(string)
		m.hidden++
		out[m.key(key)] = fmt.Sprintf("(hidden, %d bytes)", len(text))
	}
	return out
}

// key returns the name of a field, and hides what is no name.
func (m *manifest) key(key string) string {
	if aKey.MatchString(key) && !tokens.MatchString(key) {
		return key
	}
	m.hidden++
	return gone
}

// field writes a field at a place.
func (m *manifest) field(out map[string]any, at place, key string, v any) {
	if key == "managedFields" && at.key == "metadata" {
		return
	}
	name := m.key(key)
	if name == gone {
		m.hidden += leaves(v) - 1 // the key counts as one already
		out[name] = gone
		return
	}
	out[name] = m.value(at.child(key), v)
}

// leaves counts values.
func leaves(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for _, child := range v {
			n += leaves(child)
		}
	case []any:
		for _, child := range v {
			n += leaves(child)
		}
	default:
		n = 1
	}
	return max(n, 1)
}

// child returns the place of a field.
func (p place) child(key string) place {
	out := place{key: key, in: p.key, status: p.status, mode: p.mode}
	switch {
	case p.mode == dark || contents[key] || key == "value" && !compared(p.key):
		out.mode = dark
	case key == "items" && (p.key == "secret" || p.key == "configMap"): // which keys become which files
		out.mode = points
	case pointer(key):
		out.mode = points
	case key == "key" && (matching[p.key] || p.mode == points): // of a label, or of a Secret
	case credential(key):
		out.mode = closed
	}
	return out
}

// compared reports whether the value below a field is matched with others: of a priority, a
// toleration, a metric. Otherwise it belongs to a list of names and values, whose name describes
// it.
func compared(key string) bool {
	return key == "" || key == "target" || key == "current" || matching[key]
}

// value returns the visible part of a value.
func (m *manifest) value(at place, v any) any {
	switch v := v.(type) {
	case map[string]any:
		return m.fields(at, v)
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			if at.mode != dark && environments[strings.ToLower(at.key)] {
				out[i] = m.variable(child)
				continue
			}
			out[i] = m.value(at, child)
		}
		return out
	case nil:
		return nil
	case string:
		return m.text(at, v)
	case bool:
		if at.mode != dark {
			return v
		}
	default:
		if at.mode <= points || at.mode == closed && at.key == "defaultMode" {
			return v
		}
	}
	m.hidden++
	return gone
}

// fields returns the visible fields of a map, by its purpose.
func (m *manifest) fields(at place, v map[string]any) any {
	out := map[string]any{}
	for key, child := range v {
		text, isText := child.(string)
		switch {
		case at.mode == dark:
			m.field(out, at, key, child)
		case key == "openAPIV3Schema":
			out[key] = "(a schema)"
		case at.key == "metadata":
			m.metadata(out, at, key, child)
		case environments[strings.ToLower(at.key)]:
			out[m.key(key)] = m.variable(child)
		case isText && (labelled[at.key] || strings.HasSuffix(at.key, "Selector") && at.mode == open):
			out[m.key(key)] = m.label(text)
		default:
			m.field(out, at, key, child)
		}
	}
	return out
}

// metadata writes the metadata of an object, or of a template.
func (m *manifest) metadata(out map[string]any, at place, key string, v any) {
	child, isMap := v.(map[string]any)
	switch {
	case key == "labels" && isMap:
		labels := map[string]any{}
		for name, value := range child {
			text, _ := value.(string)
			labels[m.key(name)] = m.label(text)
		}
		out[key] = labels
	case key == "annotations" && isMap:
		if notes := m.annotations(child); len(notes) > 0 {
			out[key] = notes
		}
	case metadata[key] || key == "ownerReferences":
		out[key] = m.value(place{key: key, in: at.key, mode: at.mode}, v)
	default:
		m.field(out, place{key: at.key, mode: dark}, key, v)
	}
}

// annotations are shown by key. The copy of the object that kubectl stores in one is omitted.
func (m *manifest) annotations(all map[string]any) map[string]any {
	out := map[string]any{}
	for key, v := range all {
		text, _ := v.(string)
		switch {
		case strings.Contains(key, "last-applied"):
			m.hidden++
		case notes[key] && m.plain(text):
			out[key] = text
		default:
			m.hidden++
			out[m.key(key)] = gone
		}
	}
	return out
}

// variable returns an environment variable in any form: its name, and its source.
func (m *manifest) variable(v any) any {
	fields, ok := v.(map[string]any)
	if !ok {
		return m.value(place{mode: dark}, v)
	}
	out := map[string]any{}
	for key, child := range fields {
		switch key {
		case "name", "valueFrom":
			m.field(out, place{}, key, child)
		default:
			m.field(out, place{mode: dark}, key, child)
		}
	}
	return out
}

func (m *manifest) label(text string) any {
	if aLabel.MatchString(text) && !tokens.MatchString(text) {
		return text
	}
	m.hidden++
	return gone
}

// plain reports whether a text is a harmless word.
func (m *manifest) plain(text string) bool {
	return (aWord.MatchString(text) || aTime.MatchString(text)) && !lets(text)
}

// text returns the visible part of a text.
func (m *manifest) text(at place, text string) any {
	switch {
	case text == "":
		return text
	case at.mode < closed && at.status && (messages[at.key] || at.key == "note"):
		return m.message(text)
	case shows(at, text) && !lets(text):
		return text
	}
	m.hidden++
	return gone
}

// shows reports whether a text has the form that its place requires.
func shows(at place, text string) bool {
	switch at.mode {
	case dark:
		return false
	case closed:
		return references[at.key] && aWord.MatchString(text)
	case points:
		return (references[at.key] || pointer(at.key) || at.key == "key" || at.key == "path") && aWord.MatchString(text) || at.key == "divisor" && amount.MatchString(text)
	}
	matched := matching[at.in] && (at.key == "key" || at.key == "value" || at.key == "values")
	return (matched || named(at.key)) && aWord.MatchString(text) ||
		(amounts[at.key] || amounts[at.in] || strings.HasSuffix(at.key, "Size")) && amount.MatchString(text) ||
		span(at.key) && aSpan.MatchString(text) ||
		addresses[at.key] && inNetwork(text) ||
		at.key == "schedule" && aCron.MatchString(text) ||
		at.status && aChoice.MatchString(text) ||
		aTime.MatchString(text)
}

// inNetwork reports addresses, and ranges of them.
func inNetwork(text string) bool {
	_, notOne := netip.ParseAddr(text)
	_, notMany := netip.ParsePrefix(text)
	return notOne == nil || notMany == nil
}

// message returns a text of a status, without passwords in URLs, tokens, and invisible characters.
func (m *manifest) message(text string) string {
	m.hidden += len(userinfo.FindAllString(text, -1)) + len(tokens.FindAllString(text, -1))
	text = tokens.ReplaceAllString(userinfo.ReplaceAllString(text, "://"+gone+"@"), gone)
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
