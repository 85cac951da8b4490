package luahealth

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// key says which kinds a customization is for: GROUP/KIND, or KIND alone of the core, with
// the wildcards that Argo CD allows in it (those of github.com/gobwas/glob): * is any text,
// of any length and with any dot or slash, ? one character, [ab] and [!ab] one of some, and
// {a,b} one of several patterns.
type key struct {
	text    string
	pattern *regexp.Regexp // nil without a wildcard
	literal int            // how many characters match themselves
}

// keyOf is the key of exactly one kind.
func keyOf(gk schema.GroupKind) string {
	if gk.Group == "" {
		return gk.Kind
	}
	return gk.Group + "/" + gk.Kind
}

const wildcards = "*?[{"

func parseKey(text string) (key, error) {
	if text == "" {
		return key{}, fmt.Errorf("an empty key: expected GROUP/KIND")
	}
	if !strings.ContainsAny(text, wildcards) {
		return key{text: text}, nil
	}
	k := key{text: text}
	var b strings.Builder
	b.WriteString(`\A(?s:`)
	depth := 0
	for rest := text; rest != ""; {
		written, size := translate(rest, &depth)
		if written == "" {
			return key{}, fmt.Errorf("%q is not a pattern of kinds", text)
		}
		if size == 1 && !strings.ContainsAny(rest[:1], wildcards+"},") {
			k.literal++
		}
		b.WriteString(written)
		rest = rest[size:]
	}
	b.WriteString(`)\z`)
	p, err := regexp.Compile(b.String())
	if err != nil || depth != 0 {
		return key{}, fmt.Errorf("%q is not a pattern of kinds", text)
	}
	k.pattern = p
	return k, nil
}

// translate writes the first element of a pattern as a regular expression, and says how
// long the element is. It writes nothing where the pattern is none.
func translate(rest string, depth *int) (string, int) {
	switch c := rest[0]; c {
	case '*':
		return ".*", 1
	case '?':
		return ".", 1
	case '{':
		*depth++
		return "(?:", 1
	case '}':
		if *depth--; *depth < 0 {
			return "", 0
		}
		return ")", 1
	case ',':
		if *depth > 0 {
			return "|", 1
		}
		return ",", 1
	case '[':
		end := strings.IndexByte(rest, ']')
		if end < 2 {
			return "", 0
		}
		set, negated := strings.CutPrefix(rest[1:end], "!")
		if set == "" {
			return "", 0
		}
		set = strings.NewReplacer(`\`, `\\`, "[", `\[`, "^", `\^`).Replace(set)
		if negated {
			return "[^" + set + "]", end + 1
		}
		return "[" + set + "]", end + 1
	default:
		return regexp.QuoteMeta(rest[:1]), 1
	}
}

func (k *key) wild() bool { return k.pattern != nil }

func (k *key) matches(text string) bool {
	if k.pattern == nil {
		return k.text == text
	}
	return k.pattern.MatchString(text)
}

// splitKey is the key of the last part of resource.customizations.health.GROUP_KIND.
func splitKey(text string) (string, error) {
	group, kind, grouped := strings.Cut(text, "_")
	switch {
	case text == "all":
		return "*/*", nil
	case text == "" || strings.Contains(kind, "_"):
		return "", fmt.Errorf("expected GROUP_KIND, or KIND of the core group")
	case !grouped:
		return text, nil
	}
	return group + "/" + kind, nil
}
