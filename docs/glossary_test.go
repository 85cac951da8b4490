package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// glossaryLines returns the lines of the block of glossary.md after a heading.
func glossaryLines(t *testing.T, heading string) []string {
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
	return slices.Collect(strings.Lines(block))
}

// glossaryWords returns the words of the block of glossary.md after a heading.
func glossaryWords(t *testing.T, heading string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, line := range glossaryLines(t, heading) {
		for word := range strings.FieldsSeq(line) {
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
	eachFile(t, func(path string, files *token.FileSet, f *ast.File) {
		add := func(name *ast.Ident, function bool) {
			out[path] = append(out[path], declaration{name, files.Position(name.Pos()).Line, function})
		}
		for _, d := range f.Decls {
			declare(d, add)
		}
	})
	return out
}

// eachFile parses the Go files of the program, without tests.
func eachFile(t *testing.T, visit func(file string, files *token.FileSet, f *ast.File)) {
	t.Helper()
	for _, root := range []string{"../pkg", "../internal", "../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution|parser.ParseComments)
			if err != nil {
				return err
			}
			visit(path, files, f)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
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

// phrases matches what texts must not say.
type phrases []phrase

type phrase struct {
	text    string
	pattern *regexp.Regexp
}

func newPhrases(lines []string) phrases {
	var out phrases
	for _, line := range lines {
		text := strings.TrimSpace(line)
		words, start := strings.CutPrefix(text, "^")
		pattern := regexp.QuoteMeta(words)
		if start {
			pattern = "^" + pattern
		} else if words[0] >= 'a' {
			pattern = `\b` + pattern
		}
		out = append(out, phrase{text, regexp.MustCompile("(?i)" + pattern + `\b`)})
	}
	return out
}

// in returns the phrases that a text has. Texts of one word are names, not sentences.
func (p phrases) in(text string) []string {
	words := strings.Fields(text)
	if len(words) < 2 {
		return nil
	}
	text = strings.Join(words, " ")
	var out []string
	for _, phrase := range p {
		if phrase.pattern.MatchString(text) {
			out = append(out, phrase.text)
		}
	}
	return out
}

// TestTexts holds what users read against the phrases that glossary.md says not to use. What is
// generated, as the built-in catalog is, quotes others.
func TestTexts(t *testing.T) {
	t.Parallel()
	forbidden := newPhrases(glossaryLines(t, "### Not in what users read"))
	if len(forbidden) < 50 {
		t.Fatalf("only %d phrases were read", len(forbidden))
	}
	exceptions := textExceptions(t)
	check := func(path string, line int, text string) {
		path = strings.TrimPrefix(filepath.ToSlash(path), "../")
		for _, found := range forbidden.in(text) {
			key := found + " | " + path
			if _, excepted := exceptions[key]; excepted {
				exceptions[key] = true
				continue
			}
			t.Errorf("%s:%d: %q: glossary.md says not to write %q", path, line, text, found)
		}
	}
	eachFile(t, func(path string, files *token.FileSet, f *ast.File) {
		if !ast.IsGenerated(f) {
			eachText(f, func(at token.Pos, text string) { check(path, files.Position(at).Line, text) })
		}
	})
	eachHelp(t, check)
	for key, used := range exceptions {
		if !used {
			t.Errorf("glossary.md excepts %q, which is in no text", key)
		}
	}
}

// eachHelp visits the paragraphs of the help of the commands.
func eachHelp(t *testing.T, visit func(file string, line int, text string)) {
	t.Helper()
	files, err := filepath.Glob("../internal/cli/help/*.txt")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files of help: %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for paragraph := range strings.SplitSeq(string(data), "\n\n") {
			visit(file, line, paragraph)
			line += strings.Count(paragraph, "\n") + 2
		}
	}
}

// textExceptions returns "PHRASE | FILE" of the exceptions of glossary.md; each owes a reason.
func textExceptions(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, line := range glossaryLines(t, "### Where such a phrase is right") {
		fields := strings.SplitN(strings.TrimSpace(line), " | ", 3)
		if len(fields) != 3 || len(strings.Fields(fields[2])) < 3 {
			t.Errorf("glossary.md: %q: expected PHRASE | FILE | REASON", strings.TrimSpace(line))
			continue
		}
		out[fields[0]+" | "+fields[1]] = false
	}
	return out
}

// eachText visits the string literals of a file; imports and tags of fields are none.
func eachText(f *ast.File, visit func(at token.Pos, text string)) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.StructType:
			for _, field := range n.Fields.List {
				field.Tag = nil
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				visit(n.Pos(), text)
			}
		}
		return true
	})
}

// TestPhrases shows that the matcher finds a phrase, as whole words alone.
func TestPhrases(t *testing.T) {
	t.Parallel()
	p := newPhrases([]string{"^want\n", ": want\n", "goes on\n", "folder\n", "in the way\n"})
	for text, want := range map[string]string{
		"want a list":                        "^want",
		"line 3: want a list":                ": want",
		"%q is a path: Want one":             ": want",
		"the watch goes\n\ton without it":    "goes on",
		"cannot read the Folder: forbidden":  "folder",
		"it is in the way: a folder":         "folder, in the way",
		"the spec has what users want":       "",
		"a scaffolder is no folders matcher": "",
		"it goes ontologically":              "",
		"in the wayside":                     "",
		"folder":                             "",
	} {
		if got := strings.Join(p.in(text), ", "); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
import _ "a folder"
type y struct { Z int `+"`json:\"a folder\"`"+` }
var help = "see the " + `+"`old\nfolder`", 0)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	eachText(f, func(_ token.Pos, text string) { texts = append(texts, text) })
	if got := strings.Join(texts, "|"); got != "see the |old\nfolder" {
		t.Errorf("texts are %q", got)
	}
}

// TestInside holds comments against the phrases that glossary.md says not to use, and the names of
// local variables and parameters against the words that are no whole name.
func TestInside(t *testing.T) {
	t.Parallel()
	forbidden, words := commentPhrases(t), glossaryWords(t, "### Not as the whole name of a function")
	eachFile(t, func(file string, files *token.FileSet, f *ast.File) {
		if ast.IsGenerated(f) {
			return
		}
		file = strings.TrimPrefix(filepath.ToSlash(file), "../")
		report := func(at token.Pos, what string) {
			t.Errorf("%s:%d: glossary.md says not to write %q", file, files.Position(at).Line, what)
		}
		for _, group := range f.Comments {
			for _, found := range forbidden.in(group.Text()) {
				report(group.Pos(), found)
			}
		}
		eachLocal(f, func(name *ast.Ident) {
			if words[name.Name] {
				report(name.Pos(), name.Name)
			}
		})
	})
}

// commentPhrases returns the phrases for texts without those that are fine in comments.
func commentPhrases(t *testing.T) phrases {
	t.Helper()
	fine := glossaryLines(t, "### Fine in comments")
	lines := slices.DeleteFunc(glossaryLines(t, "### Not in what users read"), func(line string) bool { return slices.Contains(fine, line) })
	return newPhrases(lines)
}

// eachLocal visits the parameters, results and variables that functions declare.
func eachLocal(f *ast.File, visit func(name *ast.Ident)) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			for _, list := range []*ast.FieldList{n.Params, n.Results} {
				if list == nil {
					continue
				}
				for _, field := range list.List {
					for _, name := range field.Names {
						visit(name)
					}
				}
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					if name, is := left.(*ast.Ident); is {
						visit(name)
					}
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if name, is := e.(*ast.Ident); is && n.Tok == token.DEFINE {
					visit(name)
				}
			}
		case *ast.DeclStmt:
			for _, s := range n.Decl.(*ast.GenDecl).Specs {
				if s, is := s.(*ast.ValueSpec); is {
					for _, name := range s.Names {
						visit(name)
					}
				}
			}
		}
		return true
	})
}
