package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// doublings is a document whose aliases make 2^n of a text.
func doublings(n int, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "a0: &a0 %q\n", text)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	return b.String()
}

func chain(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 x\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d]\n", i, i, i-1)
	}
	return b.String()
}

// check takes all documents of a text. What is no YAML is an error, too.
func (g *Growth) check(text []byte) error {
	if err := CheckNodes(text); err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := g.Take(&doc); err != nil {
			return err
		}
	}
}

func TestGrowth(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, tt := range []struct{ name, text, want string }{
		{"none", "a: 1\n---\nb: [c, d]\n", ""},
		{"few", "a: &a {b: c}\nd: *a\ne: {<<: *a}\n", ""},
		{"nodes", doublings(30, "x"), "line 31: its aliases expand to far more"},
		{"text", "a: &a " + long + "\nb: [" + strings.Repeat("*a, ", 200) + "]\n", "line 2: its aliases expand to far more"},
		{"many documents", strings.Repeat("---\n"+doublings(12, "x"), 12), "its aliases expand to far more"},
		{"itself", "a: &a [*a]\n", "line 1: the alias *a contains itself"},
		{"deep", strings.Repeat("[", 300) + strings.Repeat("]", 300), "nested more than 200 deep"},
		{"deep by aliases", chain(300), "nested more than 200 deep"},
		{"not YAML", "a: [\n", "line "},
		{"nodes without aliases", strings.Repeat("- \n", MaxNodes/2+1), "nodes (keys, values, items)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := Growth{Left: 1 << 20}
			err := g.check([]byte(tt.text))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if g := (Growth{Left: 40}); g.check([]byte("a: &a [b]\nc: *a\n")) != nil || g.Left != 40-33 {
		t.Errorf("33 bytes were added, and %d of 40 are left", g.Left)
	}
}

func countNodes(n *yaml.Node) int {
	sum := 1
	for _, c := range n.Content {
		sum += countNodes(c)
	}
	return sum
}

// What is counted without a parser is never less than what the parser makes.
func TestNodesAtMost(t *testing.T) {
	check := func(text string) bool {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(text), &doc) != nil {
			return false
		}
		if got, want := CountNodes([]byte(text)), countNodes(&doc); got < want {
			t.Errorf("%q: %d are counted, and the parser makes %d", text, got, want)
		}
		return true
	}
	for _, text := range []string{"", "a", "- - - -", "-", "? \n? \n", "{a, b, c}", "[[[[]]]]", "[a: b, c: d]", "{a: {}, b: }", "a:\n- b\n- c: d\n", "-\u0085-\u2028-", "\xff\xfe-\x00\n\x00-\x00\n\x00", "{\"a\":1,'b':[]}", "? a\n: b\n? c", "!!map {? a}", "- ? a\n- ? b\n", "a: |\n  - x: y\n"} {
		check(text)
	}
	r := rand.New(rand.NewPCG(1, 2))
	bits := []string{"-", " ", "\n", ":", "?", "[", "]", "{", "}", ",", "a", "\"b\"", "- ", ": ", "\n  ", "&a ", "!t ", "|\n ", "#c\n", "\u0085", "\t"}
	parsed := 0
	for range 50_000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(bits[r.IntN(len(bits))])
		}
		if check(b.String()) {
			parsed++
		}
	}
	if parsed < 2_000 {
		t.Errorf("only %d of the random texts are YAML", parsed)
	}
}

func TestDocumentsOfTooManyNodes(t *testing.T) {
	text := []byte(strings.Repeat("- \n", MaxNodes/2+1))
	if _, problem := Document(text); problem == nil || !strings.Contains(problem.Message, "nodes (keys, values, items)") {
		t.Errorf("got %v", problem)
	}
}
