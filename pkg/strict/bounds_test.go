package strict

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckBounds(t *testing.T) {
	var text strings.Builder
	text.WriteString("a: &a " + strings.Repeat("x", 64<<10) + "\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "k%d: *a\n", i)
	}
	nested := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'j'; c++ {
		nested += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9))
	}
	most := strings.Join(strings.SplitAfter(text.String(), "\n")[:200], "")
	for name, test := range map[string]struct{ text, want string }{
		"plain":                     {"a: b\n", ""},
		"aliases that add little":   {"a: &a {b: c}\nd: *a\n", ""},
		"not YAML":                  {"a: *nobody\n", ""},
		"none at all":               {"", ""},
		"text that is repeated":     {text.String(), "expand to far more"},
		"nodes that are repeated":   {nested, "expand to far more"},
		"as much as may be":         {most, ""},
		"the second of two":         {"a: b\n---\n" + text.String(), "expand to far more"},
		"many nodes without alias":  {strings.Repeat("- - \n", MaxNodes/3), "nodes (keys, values, items)"},
		"one that holds itself":     {"a: &a [*a]\n", "contains itself"},
		"aliases of several add up": {strings.Repeat(most+"---\n", 2), "expand to far more"},
	} {
		err := CheckBounds([]byte(test.text))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}
