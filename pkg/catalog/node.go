package catalog

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// fields are the keys and values of a mapping that is written, in their order.
type fields []*yaml.Node

// put adds a field, but for one that has nothing in it.
func (f fields) put(name string, value *yaml.Node) fields {
	if value == nil {
		return f
	}
	return append(f, keyNode(name), value)
}

func (f fields) text(name, text string) fields {
	if text == "" {
		return f
	}
	return f.put(name, textNode(text))
}

func (f fields) yes(name string, set bool) fields {
	if !set {
		return f
	}
	return f.put(name, valueNode(true))
}

func (f fields) list(name string, n int, each func(int) *yaml.Node) fields {
	if n == 0 {
		return f
	}
	return f.put(name, listNode(n, each))
}

// texts adds a list of texts; a short one stands on one line.
func (f fields) texts(name string, all []string) fields {
	if len(all) == 0 {
		return f
	}
	list := listNode(len(all), func(i int) *yaml.Node { return textNode(all[i]) })
	if !slices.ContainsFunc(all, func(t string) bool { return len(t) > 40 || strings.Contains(t, "\n") }) {
		list.Style = yaml.FlowStyle
	}
	return f.put(name, list)
}

// node is the mapping; nil where it is empty.
func (f fields) node() *yaml.Node {
	if len(f) == 0 {
		return nil
	}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: f}
}

// flow is the mapping, on one line.
func (f fields) flow() *yaml.Node {
	n := f.node()
	if n != nil {
		n.Style = yaml.FlowStyle
	}
	return n
}

func listNode(n int, each func(int) *yaml.Node) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i := range n {
		list.Content = append(list.Content, each(i))
	}
	if n == 0 {
		list.Style = yaml.FlowStyle
	}
	return list
}

// valueNode writes a free value, as valuesAt reads it: keys are sorted, a float stays one.
func valueNode(v any) *yaml.Node {
	switch v := v.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, keyNode(k), valueNode(v[k]))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case []any:
		return listNode(len(v), func(i int) *yaml.Node { return valueNode(v[i]) })
	case string:
		return textNode(v)
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case int64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}
	case float64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: floatText(v)}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

func floatText(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	switch text {
	case "NaN":
		return ".nan"
	case "+Inf":
		return ".inf"
	case "-Inf":
		return "-.inf"
	}
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// textNode writes text: as it is where that is plain, as a block where it has lines, else
// in quotes.
func textNode(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	odd := func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) || c > 0xffff }
	switch {
	case text == "" || strings.ContainsFunc(text, odd):
		n.Style = yaml.DoubleQuotedStyle
	case strings.Contains(text, "\n"):
		n.Style = yaml.LiteralStyle
		if text[0] == ' ' || text[0] == '\n' || strings.Contains(text, " \n") || strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\n\n") {
			n.Style = yaml.DoubleQuotedStyle
		}
	case !isPlain(text):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// keyNode writes a key, which stands on one line.
func keyNode(name string) *yaml.Node {
	n := textNode(name)
	if n.Style == yaml.LiteralStyle {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// isPlain says whether text without quotes is read as that text, here and by older readers.
func isPlain(text string) bool {
	if isWord(text) {
		return true
	}
	var n yaml.Node
	if text == "<<" || strings.TrimSpace(text) != text || yaml.Unmarshal([]byte(text), &n) != nil || len(n.Content) != 1 {
		return false
	}
	scalar := n.Content[0]
	return scalar.Kind == yaml.ScalarNode && scalar.Style == 0 && scalar.ShortTag() == "!!str" && scalar.Value == text && !oldWord(text)
}

// isWord says that a text is letters, dots and dashes that mean nothing but themselves: most
// keys and names are, and need no parser.
func isWord(text string) bool {
	for i, c := range text {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c != '.' && c != '-') {
			return false
		}
	}
	switch strings.ToLower(text) {
	case "true", "false", "null", "nan", "inf":
		return false
	}
	return text != "" && !oldWord(text)
}

// oldWord are words that YAML 1.1 takes for true, false and numbers. Versions, with two dots,
// are none.
func oldWord(text string) bool {
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	return strings.Trim(text, "0123456789:._+-") == "" && strings.Count(text, ".") < 2
}
