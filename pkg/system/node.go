package system

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// node writes a free value, as a scope reads it: keys are sorted, a float stays one, and
// text is in quotes where it could be taken for something else.
func node(v any) *yaml.Node {
	switch v := v.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, keyNode(k), node(v[k]))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v {
			n.Content = append(n.Content, node(item))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case string:
		return textNode(v)
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: text}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(v)}
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

// isPlain says whether text without quotes is read as that text.
func isPlain(text string) bool {
	var n yaml.Node
	if text == "<<" || strings.TrimSpace(text) != text || yaml.Unmarshal([]byte(text), &n) != nil || len(n.Content) != 1 {
		return false
	}
	scalar := n.Content[0]
	return scalar.Kind == yaml.ScalarNode && scalar.Style == 0 && scalar.ShortTag() == "!!str" && scalar.Value == text && !yaml11(text)
}

// yaml11 are words that older readers of YAML take for true, false and numbers.
func yaml11(text string) bool {
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	return strings.Trim(text, "0123456789:._+-") == ""
}

// quoted writes text in double quotes.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f || c == 0x85 || c == 0xfeff || c == 0x2028 || c == 0x2029:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
