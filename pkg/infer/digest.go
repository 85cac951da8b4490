package infer

import "strings"

// Version is that of what Compile makes: a digest of another one is not read.
const Version = 1

// Digest is what the structural schema of a kind adds to the content of its
// objects: what a field refers to although its key does not say so. It has a
// field only where there is something to say, and can be written as JSON.
type Digest struct {
	Fields map[string]*Digest `json:"f,omitempty"`
	// Items is that of the items of a list, and of the values of a map.
	Items *Digest `json:"i,omitempty"`
	// To is the stem of the built-in kind that the field names: secret, configmap.
	To string `json:"t,omitempty"`
	// Kind and Group are those of a reference that does not say them itself.
	Kind  string  `json:"k,omitempty"`
	Group *string `json:"g,omitempty"`
	// Free says that it is a map of texts, whose keys are nobody's fields.
	Free bool `json:"x,omitempty"`
}

func (d *Digest) field(key string) *Digest {
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

func (d *Digest) item() *Digest {
	if d == nil {
		return nil
	}
	return d.Items
}

func (d *Digest) empty() bool {
	return len(d.Fields) == 0 && d.Items == nil && d.To == "" && d.Kind == "" && !d.Free
}

// Compile reads the schema of a version out of a CustomResourceDefinition; nil
// where it says nothing.
func Compile(crd map[string]any, version string) *Digest {
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		m, _ := v.(map[string]any)
		if m["name"] != version {
			continue
		}
		s, _ := m["schema"].(map[string]any)
		root, _ := s["openAPIV3Schema"].(map[string]any)
		fields := map[string]*Digest{}
		properties, _ := root["properties"].(map[string]any)
		for key, p := range properties {
			if key != "status" && key != "metadata" {
				if d := compile(key, p, "", 0); d != nil {
					fields[key] = d
				}
			}
		}
		if len(fields) > 0 {
			return &Digest{Fields: fields}
		}
		return nil
	}
	return nil
}

// compile reads the schema of one field; about is what is said of the list that
// holds it.
func compile(key string, v any, about string, depth int) *Digest {
	s, ok := v.(map[string]any)
	if !ok || depth > deepest || skipped(key) {
		return nil
	}
	d := &Digest{}
	words, _ := s["description"].(string)
	if about != "" {
		words = about + " " + words
	}
	properties, _ := s["properties"].(map[string]any)
	switch typ, _ := s["type"].(string); typ {
	case "string":
		d.To = namesA(key, words)
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
func (d *Digest) object(key, words string, properties map[string]any, depth int) {
	if _, named := properties["name"]; named && small(properties) {
		form, stem := formOf(key)
		_, telling := builtIn(stem)
		if form == noForm || form == refForm && !telling {
			d.To = refersToA(words, properties)
		}
		if d.To == "" {
			d.Kind, d.Group = only(properties["kind"]), onlyGroup(properties)
		}
		return
	}
	for name, p := range properties {
		if f := compile(name, p, "", depth+1); f != nil {
			if d.Fields == nil {
				d.Fields = map[string]*Digest{}
			}
			d.Fields[name] = f
		}
	}
}

// only returns the value that a field has where nothing else is said.
func only(v any) string {
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
		if g := only(properties[key]); g != "" {
			return &g
		}
	}
	if v := only(properties["apiVersion"]); v != "" {
		return groupOf(map[string]any{"apiVersion": v})
	}
	return nil
}

// refersToA returns what an object with a name refers to, by what is said of it:
// the words of k8s.io/api for a selector of a key, or else its own.
func refersToA(words string, properties map[string]any) string {
	if k, ok := properties["key"].(map[string]any); ok {
		said, _ := k["description"].(string)
		switch {
		case strings.HasPrefix(said, "The key of the secret to select from"):
			return "secret"
		case strings.HasPrefix(said, "The key to select"):
			return "configmap"
		}
	}
	if _, any := properties["kind"]; any {
		return ""
	}
	is, other := mentions(words, "secret"), mentions(words, "configmap") || mentions(words, "config map")
	switch {
	case is && !other && !external(words):
		return "secret"
	case other && !is:
		return "configmap"
	}
	return ""
}

// namesA returns what a text is the name of, by what is said of it.
func namesA(key, words string) string {
	_, lower, ok := strings.Cut(strings.ToLower(words), "name of ")
	if !ok || external(words) || strings.HasSuffix(strings.ToLower(key), "key") {
		return ""
	}
	fields := strings.Fields(lower)
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
		case "a", "an", "the", "this", "that", "existing", "kubernetes", "k8s", "core", "v1", "opaque", "tls", "ca", "pull", "image", "optional", "generic", "basic-auth", "credentials", "certificate", "ssl":
		default:
			return ""
		}
	}
	return ""
}

// notThing tells words that make something else of the secret before them.
func notThing(word string) bool {
	switch word {
	case "key", "keys", "engine", "store", "backend", "field", "manager", "provider", "property", "path", "namespace", "template", "type":
		return true
	}
	return false
}

// mentions says whether a text has a word, or its plural.
func mentions(text, word string) bool {
	lower := strings.ToLower(text)
	for {
		i := strings.Index(lower, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		rest := strings.TrimPrefix(lower[end:], "s")
		if (i == 0 || !isWord(lower[i-1])) && (rest == "" || !isWord(rest[0])) {
			return true
		}
		lower = lower[end:]
	}
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// external says whether a text speaks of secrets that are kept elsewhere.
func external(text string) bool {
	lower := strings.ToLower(text)
	for _, word := range [...]string{"secrets manager", "secret manager", "vault", "aws", "azure", "gcp", "google", "external secret", "secretstore", "secret store"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
