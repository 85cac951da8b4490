package pages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkout writes files and returns their folder.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// page parses a text. "~" stands for "`".
func page(t *testing.T, text string) Page {
	t.Helper()
	p, err := Parse(checkout(t, map[string]string{"page.md": strings.ReplaceAll(text, "~", "`")}), "page.md")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBlocks(t *testing.T) {
	p := page(t, "# A\n\n~~~sh cluster\nkubectl get pods\n~~~\n\n1. An item:\n\n   ~~~yaml file=a/b.yaml\n   a:\n     b: 1\n\n   c: 2\n   ~~~\n\n- ~~~sh\n  true\n  ~~~\n\n> ~~~json\n> {}\n> ~~~\n\n~~~~text\n~~~sh\nno command\n~~~\n~~~~\n")
	want := []Block{
		{Line: 3, Language: "sh", Attributes: Attributes{Cluster: true}, Text: "kubectl get pods\n"},
		{Line: 9, Language: "yaml", Attributes: Attributes{File: "a/b.yaml"}, Text: "a:\n  b: 1\n\nc: 2\n"},
		{Line: 16, Language: "sh", Text: "true\n"},
		{Line: 20, Language: "json", Text: "{}\n"},
		{Line: 24, Language: "text", Text: "```sh\nno command\n```\n"},
	}
	if len(p.Blocks) != len(want) || len(p.Findings) > 0 || !p.Cluster() {
		t.Fatalf("%+v\nfindings %v", p.Blocks, p.Findings)
	}
	for i, b := range p.Blocks {
		if b.Line != want[i].Line || b.Language != want[i].Language || b.Attributes != want[i].Attributes || b.Text != want[i].Text {
			t.Errorf("%+v\nwant %+v", b, want[i])
		}
	}
}

// Fences of tildes and ends of lines of another system are the same.
func TestOtherWriting(t *testing.T) {
	root := checkout(t, map[string]string{"page.md": "# A\r\n\r\n~~~sh fails\r\nfalse\r\n~~~\r\n"})
	p, err := Parse(root, "page.md")
	if err != nil || len(p.Blocks) != 1 || len(p.Findings) > 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	if b := p.Blocks[0]; b.Line != 3 || b.Text != "false\n" || !b.Fails || b.Language != "sh" {
		t.Errorf("%+v", b)
	}
}

func TestBlockFindings(t *testing.T) {
	for text, want := range map[string]string{
		"~~~\nx\n~~~":                        "1: the block has no language",
		"~~~bash\nls\n~~~":                   "1: bash is not used: write sh",
		"a\n\n~~~pyhton\nls\n~~~":            `3: "pyhton" is not a language of blocks`,
		"~~~sh clutser\nls\n~~~":             `1: "clutser" is not an attribute of a block`,
		"~~~sh cluster=yes\nls\n~~~":         "1: cluster has no value",
		"~~~sh fails fails\nls\n~~~":         "1: fails occurs twice",
		"~~~yaml file=../x\na: 1\n~~~":       "1: file=../x: expected a path below",
		"~~~yaml file=/etc/x\na: 1\n~~~":     "1: file=/etc/x: expected a path below",
		"~~~yaml file\na: 1\n~~~":            "1: file=: expected a path below",
		"~~~yaml cluster\na: 1\n~~~":         "1: only file=NAME goes with yaml",
		"~~~sh elsewhere=Makefile\nls\n~~~":  "1: elsewhere=Makefile: expected the name of a test",
		"~~~sh foreign=terraform\nls\n~~~":   "1: foreign=terraform: expected one of brew, ",
		"~~~sh file=a.sh fails\nls\n~~~":     "1: a block with file=NAME is written, not run",
		"~~~text\n\n$ kubectl sysop\n~~~":    "3: a command in a block that is not run",
		"~~~sh\n$ kubectl sysop\n~~~":        "2: a command in a block that is not run",
		"~~~console\nkubectl sysop\n~~~":     "1: a console block without a command",
		"~~~console\nx\n$ ls\n~~~":           "2: output before the first command",
		"~~~console\n$ ls\n...\n~~~":         `3: "..." elides all of the output`,
		"~~~console\n$ ls\n...\n...\n~~~":    `3: "..." elides all of the output`,
		"~~~console\n$ ls\na\n...\n...\n~~~": "5: two elisions",
		"~~~sh\nls\n":                        "1: the block has no end",
		"a\n\n    kubectl sysop graph\n":     "3: commands in an indented block",
		"a [b][c] d\n":                       "1: the link [b][c] has no definition",
	} {
		p := page(t, text)
		if !slices.ContainsFunc(p.Findings, func(f Finding) bool { return strings.HasPrefix(f.String(), "page.md:"+want) }) {
			t.Errorf("%q: %v\nwant %s", text, p.Findings, want)
		}
	}
}

func TestAnchors(t *testing.T) {
	p := page(t, "# What a `drain` hits\n\n## A & B: (c_d)\n\n## Twice\n\n## Twice\n\n## Été 1.2\n\nSet\n---\n\n<a id=\"mine\"></a>\n")
	var got []string
	for _, h := range p.Headings {
		got = append(got, h.Anchor)
	}
	if want := []string{"what-a-drain-hits", "a--b-c_d", "twice", "twice-1", "été-12", "set"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if !p.hasAnchor("mine") || p.hasAnchor("yours") {
		t.Errorf("%q", p.Anchors)
	}
}
