package docs

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// glossaryWords returns the words that the block of glossary.md after a heading lists.
func glossaryWords(t *testing.T, heading string) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n"+heading+"\n")
	_, block, opened := strings.Cut(rest, "```text\n")
	block, _, closed := strings.Cut(block, "```")
	if !found || !opened || !closed {
		t.Fatalf("glossary.md has no list under %q", heading)
	}
	out := map[string]bool{}
	lines := bufio.NewScanner(strings.NewReader(block))
	for lines.Scan() {
		for word := range strings.FieldsSeq(lines.Text()) {
			out[word] = true
		}
	}
	return out
}

// part matches one word of an identifier: HTTPServer has HTTP and Server.
var part = regexp.MustCompile(`[A-Z]+(?:[0-9]|\b|_)|[A-Z]+[a-z]*|[a-z]+`)

// TestIdentifiers holds the names of functions, methods, types, fields, constants and
// package variables against the words that glossary.md says not to use.
func TestIdentifiers(t *testing.T) {
	t.Parallel()
	parts, names := glossaryWords(t, "### Not in any name"), glossaryWords(t, "### Not as the whole name of a function")
	if len(parts) < 40 || len(names) < 40 {
		t.Fatalf("only %d and %d words were read", len(parts), len(names))
	}
	for file, declared := range declarations(t) {
		for _, d := range declared {
			if d.function && names[d.name.Name] {
				t.Errorf("%s:%d: %s is no verb and no noun", file, d.line, d.name.Name)
			}
			for _, word := range part.FindAllString(d.name.Name, -1) {
				if parts[strings.ToLower(word)] {
					t.Errorf("%s:%d: %s: glossary.md names the word to use for %q", file, d.line, d.name.Name, word)
				}
			}
		}
	}
}

type declaration struct {
	name     *ast.Ident
	line     int
	function bool
}

// declarations returns what the files of the program declare outside of functions, with the
// fields and methods of types.
func declarations(t *testing.T) map[string][]declaration {
	t.Helper()
	out := map[string][]declaration{}
	for _, root := range []string{"../pkg", "../internal", "../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			add := func(name *ast.Ident, function bool) {
				out[path] = append(out[path], declaration{name, files.Position(name.Pos()).Line, function})
			}
			for _, d := range f.Decls {
				declare(d, add)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func declare(d ast.Decl, add func(name *ast.Ident, function bool)) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		add(d.Name, true)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add(s.Name, false)
				ast.Inspect(s.Type, func(n ast.Node) bool {
					if f, is := n.(*ast.Field); is {
						for _, name := range f.Names {
							add(name, false)
						}
					}
					return true
				})
			case *ast.ValueSpec:
				for _, name := range s.Names {
					add(name, false)
				}
			}
		}
	}
}
