package infer

import "strings"

// Version is the format of Compile's result: one of another version must not be read.
const Version = 2

// SchemaHints is what the structural schema of a kind adds to the content of its objects: the
// target of a field whose key does not show it. It has only fields with a hint, and can be encoded
// as JSON.
type SchemaHints struct {
	Fields map[string]*SchemaHints `json:"f,omitempty"`
	// Items is that of the items of a list, and of the values of a map.
	Items *SchemaHints `json:"i,omitempty"`
	// To is the stem of the built-in kind that the field names: secret, configmap.
	To string `json:"t,omitempty"`
	// Kind and Group are those of a reference without such fields.
	Kind  string  `json:"k,omitempty"`
	Group *string `json:"g,omitempty"`
	// Free marks a map of texts with arbitrary keys.
	Free bool `json:"x,omitempty"`
}

func (d *SchemaHints) field(key string) *SchemaHints {
	if d == nil {
		return nil
	}
	if f, ok := d.Fields[key]; ok {
		return f
	}
	if len(d.Fields) == 0 {
		return d.Items
	}
	return nil
}

func (d *SchemaHints) item() *SchemaHints {
	if d == nil {
		return nil
	}
	return d.Items
}

func (d *SchemaHints) empty() bool {
	return len(d.Fields) == 0 && d.Items == nil && d.To == "" && d.Kind == "" && !d.Free
}

// Compile reads the schema of a version from a CustomResourceDefinition; nil if it has no hints.
func Compile(crd map[string]any, version string) *SchemaHints {
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		m, _ := v.(map[string]any)
		if m["name"] != version {
			continue
		}
		s, _ := m["schema"].(map[string]any)
		root, _ := s["openAPIV3Schema"].(map[string]any)
		fields := map[string]*SchemaHints{}
		properties, _ := root["properties"].(map[string]any)
		for key, p := range properties {
			if key != "status" && key != "metadata" {
				if d := compile(key, p, "", 0); d != nil {
					fields[key] = d
				}
			}
		}
		if len(fields) > 0 {
			return &SchemaHints{Fields: fields}
		}
		return nil
	}
	return nil
}

// compile reads the schema of one field; about is the description of the list that contains it.
func compile(key string, v any, about string, depth int) *SchemaHints {
	s, ok := v.(map[string]any)
	if !ok || depth > maxDepth || skipped(key) {
		return nil
	}
	d := &SchemaHints{}
	words, _ := s["description"].(string)
	if about != "" {
		words = about + " " + words
	}
	properties, _ := s["properties"].(map[string]any)
	switch typ, _ := s["type"].(string); typ {
	case "string":
		if !isReferenceKey(key, true) {
			d.To = namesA(key, words)
		}
	case "array":
		d.Items = compile(key, s["items"], words, depth+1)
	case "object", "":
		d.object(key, words, properties, depth)
		if items, ok := s["additionalProperties"].(map[string]any); ok && len(properties) == 0 {
			if items["type"] == "string" {
				d.Free = true
			} else {
				d.Items = compile("", items, "", depth+1)
			}
		}
	}
	if d.empty() {
		return nil
	}
	return d
}

// object reads the schema of an object: a reference, or its fields.
func (d *SchemaHints) object(key, words string, properties map[string]any, depth int) {
	if _, named := properties["name"]; named && small(properties) {
		if !isReferenceKey(key, false) {
			d.To = refersToA(words, properties)
		}
		if d.To == "" {
			d.Kind, d.Group = fixedValue(properties["kind"]), onlyGroup(properties)
		}
		return
	}
	for name, p := range properties {
		if f := compile(name, p, "", depth+1); f != nil {
			if d.Fields == nil {
				d.Fields = map[string]*SchemaHints{}
			}
			d.Fields[name] = f
		}
	}
}

// isReferenceKey reports whether the key alone shows the target of a text, or object, under it.
func isReferenceKey(key string, text bool) bool {
	form, stem := formOf(key)
	if form == noForm || text && form == itself && !bareText(stem) {
		return false
	}
	_, ofKey := keyOf(stem)
	_, ok := builtIn(stem)
	return ok || ofKey
}

// fixedValue returns the default or only value of a field.
func fixedValue(v any) string {
	s, _ := v.(map[string]any)
	if text, ok := s["default"].(string); ok {
		return text
	}
	if list, ok := s["enum"].([]any); ok && len(list) == 1 {
		text, _ := list[0].(string)
		return text
	}
	return ""
}

func onlyGroup(properties map[string]any) *string {
	for _, key := range [...]string{"group", "apiGroup"} {
		if g := fixedValue(properties[key]); g != "" {
			return &g
		}
	}
	if v := fixedValue(properties["apiVersion"]); v != "" {
		return groupOf(map[string]any{"apiVersion": v})
	}
	return nil
}

// refersToA returns the target of an object with a name, by its description: the text of k8s.io/api
// for a key of a Secret, or else its own. The text for a key of a ConfigMap is no evidence: others
// copy it for Secrets.
func refersToA(words string, properties map[string]any) string {
	if k, ok := properties["key"].(map[string]any); ok {
		if description, _ := k["description"].(string); strings.HasPrefix(description, "The key of the secret to select from") {
			return "secret"
		}
	}
	if _, any := properties["kind"]; any || choice(properties["type"]) {
		return ""
	}
	lower := strings.ToLower(words)
	secret, other := mentions(lower, "secret"), mentions(lower, "configmap") || mentions(lower, "config map")
	switch {
	case secret && !other && !external(lower):
		return "secret"
	case other && !secret:
		return "configmap"
	}
	return ""
}

// choice reports whether a field selects one of several things.
func choice(v any) bool {
	s, _ := v.(map[string]any)
	list, _ := s["enum"].([]any)
	return len(list) > 1
}

// namesA returns what a text names, by its description.
func namesA(key, words string) string {
	lower := strings.ToLower(words)
	_, behind, ok := strings.Cut(lower, "name of ")
	if !ok || external(lower) || strings.HasSuffix(strings.ToLower(key), "key") {
		return ""
	}
	fields := strings.Fields(behind)
	for n, word := range fields[:min(len(fields), 5)] {
		word = strings.Trim(word, ".,;:'\"`()")
		next := ""
		if n+1 < len(fields) {
			next = strings.Trim(fields[n+1], ".,;:'\"`()")
		}
		switch word {
		case "secret":
			if notThing(next) {
				return ""
			}
			return "secret"
		case "configmap":
			return "configmap"
		case "a", "an", "the", "existing", "kubernetes", "k8s", "core", "v1", "opaque", "tls", "ca", "pull", "image", "optional", "generic", "basic-auth", "credentials", "certificate", "ssl":
		default:
			return ""
		}
	}
	return ""
}

// notThing reports words that give the secret before them another meaning.
func notThing(word string) bool {
	switch word {
	case "key", "keys", "engine", "engines", "store", "stores", "server", "rotation", "access", "backend", "field", "manager", "provider", "property", "path", "namespace", "template", "type":
		return true
	}
	return false
}

// mentions reports whether a lower-case text has a word, or its plural, that means an object: a
// client secret does not, nor does a secret store.
func mentions(lower, word string) bool {
	for {
		i := strings.Index(lower, word)
		if i < 0 {
			return false
		}
		before, behind := lower[:i], strings.TrimPrefix(lower[i+len(word):], "s")
		if (i == 0 || !isWord(lower[i-1])) && (behind == "" || !isWord(behind[0])) && !value(lastWord(before)) && !notThing(firstWord(behind)) {
			return true
		}
		lower = lower[i+len(word):]
	}
}

func firstWord(s string) string {
	s = strings.TrimLeft(s, " \n\t")
	if i := strings.IndexFunc(s, func(r rune) bool { return r > 127 || !isWord(byte(r)) }); i >= 0 {
		return s[:i]
	}
	return s
}

func lastWord(s string) string {
	s = strings.TrimRight(s, " \n\t")
	if i := strings.LastIndexFunc(s, func(r rune) bool { return r > 127 || !isWord(byte(r)) }); i >= 0 {
		return s[i+1:]
	}
	return s
}

// value reports words before secret that make it a secret text.
func value(word string) bool {
	switch word {
	case "client", "shared", "app", "api", "oauth", "oauth2", "jwt", "webhook", "session", "cookie", "signing", "encryption":
		return true
	}
	return false
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// external reports whether a lower-case text is about secrets outside of the cluster.
func external(lower string) bool {
	for _, word := range [...]string{"secrets manager", "secret manager", "vault", "aws", "azure", "gcp", "google", "external secret"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
