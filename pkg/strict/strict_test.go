package strict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

func TestDocument(t *testing.T) {
	for text, want := range map[string]string{
		"":              "",
		"# nothing\n":   "",
		"a: 1":          "",
		"a: 1\n---\nb:": "line 2, column 1: expected one document, got a second one",
		"a: [":          "not YAML",
		"a: 1\n b: [":   "line 2",
		"\x00":          "not YAML",
	} {
		n, p := strict.Document([]byte(text))
		if p == nil {
			if want != "" || (n == nil) != (text == "" || text[0] == '#') {
				t.Errorf("%q: node %v, no problem", text, n)
			}
		} else if want == "" || !strings.Contains(p.String(), want) {
			t.Errorf("%q: %v, want %q", text, p, want)
		}
	}
}

// TestMapping: everything that is wrong is told, and what is right is handed on.
func TestMapping(t *testing.T) {
	root, p := strict.Document([]byte("other: &p 1\nname: a\nname: b\nnam: c\non: maybe\nlist: [x, '', {}]\nprices: {a: 1, a: 2, b: *p, ? [c] : 3}\nkind: Other\n"))
	if p != nil {
		t.Fatal(p)
	}
	var m, prices strict.Mapping
	got := map[string]string{}
	m.Fields = []strict.Field{
		{Name: "name", Required: true, Set: func(n *yaml.Node) { got["name"] = m.Text(n) }},
		{Name: "on", Set: func(n *yaml.Node) { m.Bool(n) }},
		{Name: "list", Set: func(n *yaml.Node) { got["list"] = fmt.Sprint(m.Texts(n)) }},
		{Name: "kind", Set: func(n *yaml.Node) { m.Want(n, "This") }},
		{Name: "prices", Set: func(n *yaml.Node) { prices.Entries(n, func(k string, v *yaml.Node) { got[k] = v.Value }) }},
		{Name: "other", Set: func(n *yaml.Node) {}},
		{Name: "missing", Required: true},
	}
	m.Read(root)
	var told []string
	for _, p := range slices.Concat(m.Problems, prices.Problems) {
		told = append(told, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Message))
	}
	want := []string{
		"3:1 a second name: expected one", `4:1 unknown key "nam" (did you mean name?)`, "5:5 expected true or false", "6:11 the string is empty", "6:15 expected a string",
		`8:7 got "Other": expected This`, "1:1 missing is missing", "7:16 a second a: expected one", "7:25 aliases are not read: write the value out", "7:31 expected a name",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	if fmt.Sprint(got) != "map[a:1 list:[x] name:a]" {
		t.Errorf("read %v", got)
	}
}
