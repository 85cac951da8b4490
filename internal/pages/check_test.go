package pages

import (
	"slices"
	"strings"
	"testing"
)

// TestCheck has one of each mistake, and beside it what is right.
func TestCheck(t *testing.T) {
	root := checkout(t, map[string]string{
		"go.mod": "module github.com/some/thing\n",
		"README.md": `# Thing

[ok](docs/a.md) [ok](docs/a.md#one) [ok](docs) [ok](#thing) ![ok](logo.png) [ok](https://example.com/x) [ok][ref]
[code](x_test.go#L3) <https://example.com> [release](https://github.com/some/thing/releases)
[gone](docs/b.md)
[anchor](docs/a.md#two)
[case](docs/A.md)
[out](../x.md)
![folder](docs)
[root](/docs/a.md)
[plain](http://example.com)
[host](https://example)
[own](https://github.com/some/thing/blob/main/docs/a.md)
[empty]()
[here](#nowhere)
<a href="docs/c.md">c</a>
[file](logo.png#part)
[by reference][lost]

` + "```sh elsewhere=TestHere\ntrue\n```\n\n```sh elsewhere=TestNot\ntrue\n```\n" + `
[ref]: docs/a.md
[lost]: docs/d.md
`,
		"docs/a.md":          "# One\n",
		"docs/README.md":     "# Docs\n\n[a](a.md)\n",
		"docs/lonely.md":     "# Lonely\n",
		"docs/testdata/x.md": "[no](page.md)\n",
		".hidden/x.md":       "[no](page.md)\n",
		"logo.png":           "x",
		"x_test.go":          "package x\n\nfunc TestHere(t *testing.T) {}\n",
	})
	all, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range Check(root, all) {
		got = append(got, f.String())
	}
	want := []string{
		"README.md:5: docs/b.md: there is no docs/b.md",
		"README.md:6: docs/a.md#two: docs/a.md has no heading #two: it has #one",
		"README.md:7: docs/A.md: there is no docs/A.md",
		"README.md:8: ../x.md: it leads out of the repository",
		"README.md:9: docs: a directory, not an image",
		"README.md:10: /docs/a.md: an absolute path: write it relative to the page",
		"README.md:11: http://example.com: expected https",
		`README.md:12: https://example: "example" is not a name of a host`,
		"README.md:13: https://github.com/some/thing/blob/main/docs/a.md: a file of this repository: link to it by a relative path",
		"README.md:14: a link that leads nowhere: write its address",
		"README.md:15: #nowhere: README.md has no heading #nowhere: it has #thing",
		"README.md:16: docs/c.md: there is no docs/c.md",
		"README.md:17: logo.png#part: logo.png has no headings",
		"README.md:18: docs/d.md: there is no docs/d.md",
		"README.md:24: elsewhere=TestNot: there is no such test",
		"docs/lonely.md:1: no link leads here from README.md or docs/README.md",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
