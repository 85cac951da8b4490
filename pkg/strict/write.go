package strict

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// ValueNode writes a free value, as Scalar and mappings and lists of such read it: keys are
// sorted, a float stays one, and text is in quotes where it could be taken for something else.
func ValueNode(v any) *yaml.Node {
	switch v := v.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, KeyNode(k), ValueNode(v[k]))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case []any:
		return ListNode(len(v), func(i int) *yaml.Node { return ValueNode(v[i]) })
	case string:
		return TextNode(v)
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case float64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: floatText(v)}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(v)}
}

// ListNode writes a list of n items.
func ListNode(n int, each func(int) *yaml.Node) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i := range n {
		list.Content = append(list.Content, each(i))
	}
	if n == 0 {
		list.Style = yaml.FlowStyle
	}
	return list
}

func floatText(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	switch text {
	case "NaN":
		return ".nan"
	case "+Inf":
		return ".inf"
	case "-Inf":
		return "-.inf"
	}
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// TextNode writes text: as it is where that is plain, as a block where it has lines, else
// in quotes.
func TextNode(text string) *yaml.Node {
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
	case !IsPlain(text):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// KeyNode writes a key, which is on one line.
func KeyNode(name string) *yaml.Node {
	n := TextNode(name)
	if n.Style == yaml.LiteralStyle {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// IsPlain says whether text without quotes is read as that text, here and by older readers.
func IsPlain(text string) bool {
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

// Scalar reads a scalar as JSON has it: text, int64, float64, a boolean or nil; false where
// JSON has no such thing. Times are text.
func Scalar(n *yaml.Node) (any, bool) {
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		return n.Value, true
	case "!!null":
		return nil, true
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b, true
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return i, true
		}
	case "!!float":
		var f float64
		if n.Decode(&f) == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f, true
		}
	}
	return nil, false
}
