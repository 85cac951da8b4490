package infer

import "strings"

// Version is that of what Compile makes: a digest of another one is not read.
const Version = 2

// SchemaHints is what the structural schema of a kind adds to the content of its
// objects: what a field refers to although its key does not say so. It has a
// field only where there is something to say, and can be written as JSON.
type SchemaHints struct {
	Fields map[string]*SchemaHints `json:"f,omitempty"`
	// Items is that of the items of a list, and of the values of a map.
	Items *SchemaHints `json:"i,omitempty"`
	// To is the stem of the built-in kind that the field names: secret, configmap.
	To string `json:"t,omitempty"`
	// Kind and Group are those of a reference that does not say them itself.
	Kind  string  `json:"k,omitempty"`
	Group *string `json:"g,omitempty"`
	// Free says that it is a map of texts, whose keys are nobody's fields.
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

// Compile reads the schema of a version out of a CustomResourceDefinition; nil
// where it says nothing.
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

// compile reads the schema of one field; about is what is said of the list that
// holds it.
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
		if of, ok := s["additionalProperties"].(map[string]any); ok && len(properties) == 0 {
			if of["type"] == "string" {
				d.Free = true
			} else {
				d.Items = compile("", of, "", depth+1)
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

// isReferenceKey says whether a key says by itself what text, or an object, under it
// refers to.
func isReferenceKey(key string, text bool) bool {
	form, stem := formOf(key)
	if form == noForm || text && form == itself && !bareText(stem) {
		return false
	}
	_, ofKey := keyOf(stem)
	_, ok := builtIn(stem)
	return ok || ofKey
}

// fixedValue returns the value that a field has where nothing else is said.
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

// refersToA returns what an object with a name refers to, by what is said of it:
// the words of k8s.io/api for a key of a Secret, or else its own. The words for a
// key of a ConfigMap say nothing: others use them for Secrets.
func refersToA(words string, properties map[string]any) string {
	if k, ok := properties["key"].(map[string]any); ok {
		if said, _ := k["description"].(string); strings.HasPrefix(said, "The key of the secret to select from") {
			return "secret"
		}
	}
	if _, any := properties["kind"]; any || choice(properties["type"]) {
		return ""
	}
	lower := strings.ToLower(words)
	is, other := mentions(lower, "secret"), mentions(lower, "configmap") || mentions(lower, "config map")
	switch {
	case is && !other && !external(lower):
		return "secret"
	case other && !is:
		return "configmap"
	}
	return ""
}

// choice says whether a field chooses one of several things.
func choice(v any) bool {
	s, _ := v.(map[string]any)
	list, _ := s["enum"].([]any)
	return len(list) > 1
}

// namesA returns what a text is the name of, by what is said of it.
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

// notThing tells words that make something else of the secret before them.
func notThing(word string) bool {
	switch word {
	case "key", "keys", "engine", "engines", "store", "stores", "server", "rotation", "access", "backend", "field", "manager", "provider", "property", "path", "namespace", "template", "type":
		return true
	}
	return false
}

// mentions says whether a text in small letters has a word, or its plural, and
// means an object by it: a client secret is none, nor is a secret store.
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

// value tells words before secret that make it the text that is kept secret.
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

// external says whether a text in small letters speaks of secrets that are kept
// elsewhere.
func external(lower string) bool {
	for _, word := range [...]string{"secrets manager", "secret manager", "vault", "aws", "azure", "gcp", "google", "external secret"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
