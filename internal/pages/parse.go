package pages

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Parse reads the page at path, which is below root and has slashes.
func Parse(root, path string) (Page, error) {
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return Page{}, err
	}
	p := Page{Root: root, Path: path, Source: b}
	p.read()
	return p, nil
}

// reader visits the nodes of a page.
type reader struct {
	page *Page
	// source has "\n" as line ends, whatever the file has.
	source []byte
	// used counts the anchors, to number repeated ones.
	used map[string]int
}

func (p *Page) read() {
	r := reader{page: p, source: bytes.ReplaceAll(p.Source, []byte("\r\n"), []byte("\n")), used: map[string]int{}}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM))
	document := markdown.Parser().Parse(text.NewReader(r.source))
	// Walk returns only the visitor's error, which is nil.
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			r.node(n)
		}
		return ast.WalkContinue, nil
	})
}

func (r *reader) node(n ast.Node) {
	p := r.page
	switch n := n.(type) {
	case *ast.FencedCodeBlock:
		r.block(n)
	case *ast.CodeBlock:
		r.indented(n)
	case *ast.Heading:
		words := r.words(n)
		p.Headings = append(p.Headings, Heading{Line: r.line(n), Text: words, Anchor: r.anchor(words)})
	case *ast.Link:
		p.Links = append(p.Links, Link{Line: r.line(n), Target: string(n.Destination)})
	case *ast.Image:
		p.Links = append(p.Links, Link{Line: r.line(n), Target: string(n.Destination), Image: true})
	case *ast.AutoLink:
		if n.AutoLinkType == ast.AutoLinkURL {
			p.Links = append(p.Links, Link{Line: r.line(n), Target: string(n.URL(r.source))})
		}
	case *ast.RawHTML:
		r.html(string(n.Segments.Value(r.source)), r.line(n))
	case *ast.HTMLBlock:
		r.html(string(n.Lines().Value(r.source)), r.line(n))
	case *ast.Paragraph, *ast.TextBlock:
		r.undefined(n)
	}
}

// line returns the line of a node, or of its nearest parent with a line, from 1.
func (r *reader) line(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if pos := n.Pos(); pos >= 0 {
			return r.lineAt(pos)
		}
	}
	return 1
}

func (r *reader) lineAt(pos int) int { return 1 + bytes.Count(r.source[:pos], []byte("\n")) }

func (r *reader) find(line int, message string) {
	r.page.Findings = append(r.page.Findings, Finding{r.page.Path, line, message})
}

// words returns the text below a node, as a reader sees it.
func (r *reader) words(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(r.source))
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(r.source))
		default:
			b.WriteString(r.words(c))
		}
	}
	return b.String()
}

// noAnchor matches what GitHub removes from an anchor.
var noAnchor = regexp.MustCompile(`[^\p{L}\p{M}\p{N}\p{Pc}\- ]`)

// anchor returns GitHub's anchor: in lower case, without punctuation, with "-" for spaces, and a
// number if it is repeated.
func (r *reader) anchor(words string) string {
	a := strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(words)), ""), " ", "-")
	seen := r.used[a]
	r.used[a]++
	if seen == 0 {
		return a
	}
	a += "-" + itoa(seen)
	r.used[a]++
	return a
}

var (
	htmlLink   = regexp.MustCompile(`(?i)<(a|img)\b[^>]*?\s(?:href|src)\s*=\s*["']([^"']*)["']`)
	htmlAnchor = regexp.MustCompile(`(?i)<[a-z][^>]*?\s(?:id|name)\s*=\s*["']([^"']+)["']`)
)

// html collects the links and anchors of HTML in a page.
func (r *reader) html(text string, line int) {
	for _, m := range htmlLink.FindAllStringSubmatch(text, -1) {
		r.page.Links = append(r.page.Links, Link{Line: line, Target: m[2], Image: strings.EqualFold(m[1], "img")})
	}
	for _, m := range htmlAnchor.FindAllStringSubmatch(text, -1) {
		r.page.Anchors = append(r.page.Anchors, m[1])
	}
}

var reference = regexp.MustCompile(`\[[^\[\]]+\]\[([^\[\]]*)\]`)

// undefined reports links by reference without a definition, which remain text.
func (r *reader) undefined(n ast.Node) {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(r.source))
		} else {
			b.WriteByte(0)
		}
	}
	for _, m := range reference.FindAllStringSubmatch(b.String(), -1) {
		r.find(r.line(n), "the link "+m[0]+" has no definition: write ["+cmp.Or(m[1], "NAME")+"]: ADDRESS")
	}
}
