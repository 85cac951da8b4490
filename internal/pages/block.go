package pages

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// The languages of blocks; the first list has commands.
func commandLanguages() []string { return []string{"console", "sh"} }

func otherLanguages() []string { return []string{"yaml", "json", "go", "text", "none", "mermaid"} }

// foreignTools are those that a test machine may lack.
func foreignTools() []string {
	return []string{"brew", "cosign", "crane", "curl", "docker", "gh", "go", "helm", "krew", "openssl", "skopeo"}
}

func itoa(n int) string { return strconv.Itoa(n) }

var hidden = regexp.MustCompile(`(?m)^[ \t]*\$ \S`)

// block reads a fenced block, and records its errors.
func (r *reader) block(n *ast.FencedCodeBlock) {
	b := Block{Line: r.line(n), Text: string(n.Lines().Value(r.source))}
	if b.Text != "" && !strings.HasSuffix(b.Text, "\n") {
		b.Text += "\n"
	}
	b.content = [2]int{b.Line, b.Line + n.Lines().Len()}
	lines := bytes.Split(r.source, []byte("\n"))
	fence := lines[b.Line-1]
	b.prefix = blank(string(fence[:bytes.IndexAny(fence, "`~")]))
	if n.Lines().Len() > 0 {
		first := n.Lines().At(0)
		start := bytes.LastIndexByte(r.source[:first.Start], '\n') + 1
		b.prefix = string(r.source[start:first.Start])
	}
	if b.content[1] >= len(lines) || !closes(string(lines[b.content[1]])) {
		r.find(b.Line, "the block has no end: close its fence")
	}
	info := ""
	if n.Info != nil {
		info = string(n.Info.Segment.Value(r.source))
	}
	for _, problem := range b.info(info) {
		r.find(b.Line, problem)
	}
	if b.Language == "console" && b.Elsewhere == "" {
		for _, f := range consoleProblems(b.Text) {
			r.find(b.Line+f.Line, f.Message)
		}
	}
	if at := hidden.FindStringIndex(b.Text); at != nil && b.Language != "console" {
		r.find(b.Line+1+strings.Count(b.Text[:at[0]], "\n"), "a command in a block that is not run: make it console, or leave the \"$\" out")
	}
	r.page.Blocks = append(r.page.Blocks, b)
}

// blank is what the other lines have where the first has the mark of a list.
func blank(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '>' || c == ' ' || c == '\t' {
			return c
		}
		return ' '
	}, s)
}

var end = regexp.MustCompile("^[ \t>]*(```+|~~~+)[ \t]*$")

func closes(line string) bool { return end.MatchString(line) }

var command = regexp.MustCompile(`(?m)^(\$ |kubectl |make |go (run|test|build|install) )`)

// indented reports commands in a block without fences, which has no language.
func (r *reader) indented(n *ast.CodeBlock) {
	if command.Match(n.Lines().Value(r.source)) {
		r.find(r.lineAt(n.Lines().At(0).Start), "commands in an indented block: put them between fences")
	}
}

// info parses the text after the fence.
func (b *Block) info(info string) (problems []string) {
	words := strings.Fields(info)
	if len(words) == 0 {
		return []string{"the block has no language: write one after the fence, text where it is none"}
	}
	b.Language = words[0]
	all := slices.Concat(commandLanguages(), otherLanguages())
	switch {
	case b.Language == "bash" || b.Language == "shell" || b.Language == "zsh":
		problems = append(problems, b.Language+" is not used: write sh, or console where there is output")
	case !slices.Contains(all, b.Language):
		problems = append(problems, fmt.Sprintf("%q is not a language of blocks: expected one of %s", b.Language, strings.Join(all, ", ")))
	}
	seen := map[string]bool{}
	for _, word := range words[1:] {
		name, value, has := strings.Cut(word, "=")
		if seen[name] {
			problems = append(problems, name+" occurs twice")
		}
		seen[name] = true
		if p := b.attribute(name, value, has); p != "" {
			problems = append(problems, p)
		}
	}
	return append(problems, b.conflicts()...)
}

var (
	testName = regexp.MustCompile(`^Test[A-Z0-9]\w*$`)
	fileName = regexp.MustCompile(`^[\w./-]+$`)
)

// attribute parses one attribute, and returns its error.
func (b *Block) attribute(name, value string, has bool) string {
	switch name {
	case "cluster", "fails":
		if has {
			return name + " has no value"
		}
		b.Cluster, b.Fails = b.Cluster || name == "cluster", b.Fails || name == "fails"
	case "file":
		if !fileName.MatchString(value) || path.IsAbs(value) || path.Clean(value) != value || value == "." || strings.HasPrefix(value, "..") {
			return fmt.Sprintf("file=%s: expected a path below the directory of the page, of letters, digits, \".\", \"_\", \"-\" and \"/\"", value)
		}
		b.File = value
	case "elsewhere":
		if !testName.MatchString(value) {
			return fmt.Sprintf("elsewhere=%s: expected the name of a test, such as TestExamples", value)
		}
		b.Elsewhere = value
	case "foreign":
		if !slices.Contains(foreignTools(), value) {
			return fmt.Sprintf("foreign=%s: expected one of %s", value, strings.Join(foreignTools(), ", "))
		}
		b.Foreign = value
	default:
		return fmt.Sprintf("%q is not an attribute of a block: expected cluster, fails, file=NAME, elsewhere=TEST or foreign=TOOL", name)
	}
	return ""
}

// conflicts returns attributes that exclude each other.
func (b *Block) conflicts() (problems []string) {
	if !b.Commands() && (b.Cluster || b.Fails || b.Elsewhere != "" || b.Foreign != "") {
		problems = append(problems, "only file=NAME goes with "+b.Language+": it has no commands")
	}
	if b.Elsewhere != "" && b.Foreign != "" {
		problems = append(problems, "elsewhere and foreign do not go together")
	}
	if b.File != "" && (b.Fails || b.Elsewhere != "" || b.Foreign != "" || b.Cluster) {
		problems = append(problems, "a block with file=NAME is written, not run: leave the other attributes out")
	}
	return problems
}
