package strict_test

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

type shelf struct {
	Name  string   `json:"name" read:"capital,required"`
	Open  bool     `json:"open,omitempty"`
	Tags  []string `json:"tags,omitempty" read:"capital"`
	Books []book   `json:"books,omitempty" read:",max=3,flow" want:"a list of books: {title, pages}"`
	Below *shelf   `json:"below,omitempty"`
	Size  int64    `json:"size,omitempty" read:"size"`
	Line  int      `json:"line" read:"-"`
}

type book struct {
	Title string `json:"title" read:",required,unique"`
	Free  any    `json:"-"`
}

var formats = strict.Formats{
	"capital": func(text string) string {
		if text[0] < 'A' || text[0] > 'Z' {
			return text + " has no capital"
		}
		return ""
	},
	"size": func(m *strict.Mapping, n *yaml.Node) int64 {
		var size int64
		if n.Decode(&size) != nil {
			m.Report(n, "expected a size")
		}
		return size
	},
}

// TestStruct: a struct is read by its tags, all that is wrong is reported at its place, and
// what is read is written so that it reads the same.
func TestStruct(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"name: A\nopen: true\ntags: [B, C]\nbooks: [{title: one}, {title: two}]\nbelow: {name: D}\nsize: 3\n", ""},
		{"name: A\ntags: B\n", ""},
		{"open: true\n", "line 1, column 1: name is missing"},
		{"name: a\n", "line 1, column 7: a has no capital"},
		{"name: A\ntags: [B, c]\n", "line 2, column 11: c has no capital"},
		{"name: A\nopen: yes please\n", "line 2, column 7: expected true or false"},
		{"name: A\nbooks: none\n", "line 2, column 8: expected a list of books: {title, pages}"},
		{"name: A\nbooks: []\n", "line 2, column 8: expected a list of books: {title, pages}"},
		{"name: A\nbooks: [{title: one}, {title: one}]\n", "line 2, column 23: a second one: expected one"},
		{"name: A\nbooks: [{title: a}, {title: b}, {title: c}, {title: d}]\n", "line 2, column 45: 4 items in a list: expected at most 3"},
		{"name: A\nbooks: [{titel: a}]\n", "line 2, column 10: unknown key \"titel\" (did you mean title?)\nline 2, column 9: title is missing"},
		{"name: A\nbelow: {open: 1}\n", "line 2, column 15: expected true or false\nline 2, column 8: name is missing"},
		{"name: A\nsize: big\n", "line 2, column 7: expected a size"},
		{"name: A\nline: 3\n", "line 2, column 1: unknown key \"line\""},
		{"[]", "line 1, column 1: expected a mapping of keys to values"},
	} {
		read := func(text string) (shelf, string) {
			root, problem := strict.Document([]byte(text))
			if problem != nil {
				t.Fatal(problem)
			}
			var s shelf
			var m strict.Mapping
			m.Struct(root, &s, formats)
			var all []string
			for _, p := range m.Problems {
				all = append(all, p.String())
			}
			return s, strings.Join(all, "\n")
		}
		s, got := read(test.text)
		if got != test.want {
			t.Errorf("%q: got\n%s\nwant\n%s", test.text, got, test.want)
		}
		if test.want != "" {
			continue
		}
		text, err := strict.Encode(strict.StructNode(s, nil))
		if again, wrong := read(string(text)); err != nil || wrong != "" || !reflect.DeepEqual(s, again) {
			t.Errorf("%q is written as %q, which reads %+v (%v %s)", test.text, text, again, err, wrong)
		}
	}
}

// TestFree: a free value has the numbers of JSON, and what JSON does not have is reported with
// its path.
func TestFree(t *testing.T) {
	root, _ := strict.Document([]byte("a: [1, 0.5, x, null, true]\nb: {c: .inf, 1: x, d: 1, d: 2, <<: {}}\n"))
	var got []string
	value := strict.Free(root, func(path string, n *yaml.Node, message string) {
		got = append(got, path+": "+strict.At(n, "%s", message).String())
	})
	want := []string{
		".b.c: line 2, column 8: .inf is not a JSON value: expected a string, a number, true, false or null",
		".b: line 2, column 14: the key 1 is not a string: put it in quotes",
		".b: line 2, column 26: a second d: expected one",
		".b: line 2, column 32: merge keys are not read: write the fields out",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if list := value.(map[string]any)["a"]; !reflect.DeepEqual(list, []any{int64(1), 0.5, "x", nil, true}) {
		t.Errorf("got %#v", list)
	}
}
