package pages

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// All reads every page below root, in the order of their paths. It skips hidden and vendored
// directories, dist and testdata.
func All(root string) ([]Page, error) {
	var all []Page
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "vendor", "node_modules", "dist"}, d.Name())):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		p, err := Parse(root, name)
		all = append(all, p)
		return err
	})
	return all, err
}

// Check checks the links and blocks of all pages of a checkout, without the network. The findings
// are ordered by path and line.
func Check(root string, pages []Page) []Finding {
	c := checker{root: root, pages: map[string]Page{}, links: map[string][]string{}}
	for _, p := range pages {
		c.pages[p.Path] = p
		c.findings = append(c.findings, p.Findings...)
	}
	c.repository, c.tests = repository(root), nil
	for _, p := range pages {
		for _, l := range p.Links {
			c.link(p, l)
		}
		for _, b := range p.Blocks {
			c.elsewhere(p, b)
		}
	}
	c.reached(pages)
	slices.SortFunc(c.findings, Finding.Compare)
	return slices.Compact(c.findings)
}

type checker struct {
	root string
	// repository is its address without the scheme, as in the module path.
	repository string
	pages      map[string]Page
	// links are the pages that each page links to.
	links map[string][]string
	// tests are the names of all test functions; lazy.
	tests    map[string]bool
	findings []Finding
}

func (c *checker) find(p Page, line int, format string, args ...any) {
	c.findings = append(c.findings, Finding{p.Path, line, fmt.Sprintf(format, args...)})
}

func repository(root string) string {
	b, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return ""
	}
	return modfile.ModulePath(b)
}

func (c *checker) link(p Page, l Link) {
	u, err := url.Parse(l.Target)
	switch {
	case l.Target == "":
		c.find(p, l.Line, "a link that leads nowhere: write its address")
	case err != nil:
		c.find(p, l.Line, "%s: not an address: %v", l.Target, err)
	case u.Scheme != "" || u.Host != "":
		c.external(p, l, u)
	case strings.HasPrefix(u.Path, "/"):
		c.find(p, l.Line, "%s: an absolute path: write it relative to the page", l.Target)
	default:
		c.relative(p, l, u)
	}
}

var hostName = regexp.MustCompile(`^([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?\.)+[a-zA-Z]{2,}$`)

// external checks only the form of an address.
func (c *checker) external(p Page, l Link, u *url.URL) {
	local := "https://" + c.repository
	switch {
	case u.Scheme == "mailto" && strings.Contains(u.Opaque, "@"):
	case u.Scheme != "https":
		c.find(p, l.Line, "%s: expected https", l.Target)
	case !hostName.MatchString(u.Hostname()) || u.User != nil:
		c.find(p, l.Line, "%s: %q is not a name of a host", l.Target, u.Host)
	case c.repository != "" && ownFile(strings.TrimPrefix(l.Target, local), l.Target, local):
		c.find(p, l.Line, "%s: a file of this repository: link to it by a relative path", l.Target)
	}
}

var ofBranch = regexp.MustCompile(`^/(blob|tree|raw)/(main|master|HEAD)(/|$)`)

// ownFile reports whether an address is a file in the main branch. A file of a release may differ.
func ownFile(rest, target, local string) bool {
	return strings.HasPrefix(target, local) && ofBranch.MatchString(rest)
}

// relative checks that the file, and the heading in it, exist.
func (c *checker) relative(p Page, l Link, u *url.URL) {
	target := p.Path
	if u.Path != "" {
		target = path.Join(path.Dir(p.Path), u.Path)
	}
	if target == ".." || strings.HasPrefix(target, "../") {
		c.find(p, l.Line, "%s: it leads out of the repository", l.Target)
		return
	}
	info, err := os.Stat(filepath.Join(c.root, filepath.FromSlash(target)))
	switch {
	case err != nil || !sameCase(c.root, target):
		c.find(p, l.Line, "%s: there is no %s", l.Target, target)
		return
	case info.IsDir() && l.Image:
		c.find(p, l.Line, "%s: a directory, not an image", l.Target)
		return
	case info.IsDir():
		target = path.Join(target, "README.md")
	}
	to, isPage := c.pages[target]
	if isPage {
		c.links[p.Path] = append(c.links[p.Path], target)
	}
	if u.Fragment == "" {
		return
	}
	if !isPage {
		if !regexp.MustCompile(`^L\d+(-L\d+)?$`).MatchString(u.Fragment) {
			c.find(p, l.Line, "%s: %s has no headings", l.Target, target)
		}
		return
	}
	if !to.hasAnchor(u.Fragment) {
		c.find(p, l.Line, "%s: %s has no heading #%s%s", l.Target, target, u.Fragment, to.anchors())
	}
}

// sameCase reports whether a path has the case of the files: some systems ignore case, others do
// not.
func sameCase(root, target string) bool {
	for target != "." && target != "/" {
		entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(path.Dir(target))))
		if err != nil || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == path.Base(target) }) {
			return false
		}
		target = path.Dir(target)
	}
	return true
}

func (p Page) hasAnchor(a string) bool {
	return slices.Contains(p.Anchors, a) || slices.ContainsFunc(p.Headings, func(h Heading) bool { return h.Anchor == a })
}

// anchors lists the anchors of a short page, for a finding.
func (p Page) anchors() string {
	if len(p.Headings) == 0 || len(p.Headings) > 20 {
		return ""
	}
	var all []string
	for _, h := range p.Headings {
		all = append(all, "#"+h.Anchor)
	}
	return ": it has " + strings.Join(all, ", ")
}

// reached reports pages that no links from a README lead to.
func (c *checker) reached(pages []Page) {
	seen := map[string]bool{}
	todo := []string{"README.md", "docs/README.md"}
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if !seen[name] {
			seen[name] = true
			todo = append(todo, c.links[name]...)
		}
	}
	for _, p := range pages {
		if !seen[p.Path] {
			c.find(p, 1, "no link leads here from README.md or docs/README.md")
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(\w+ \*testing\.T\)`)

// elsewhere checks that the test that runs a block exists.
func (c *checker) elsewhere(p Page, b Block) {
	if b.Elsewhere == "" {
		return
	}
	if c.tests == nil {
		c.tests = map[string]bool{}
		if err := c.readTests(); err != nil {
			c.find(p, b.Line, "read the tests: %v", err)
		}
	}
	if !c.tests[b.Elsewhere] {
		c.find(p, b.Line, "elsewhere=%s: there is no such test", b.Elsewhere)
	}
}

func (c *checker) readTests() error {
	return fs.WalkDir(os.DirFS(c.root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(name)))
		for _, m := range testFunction.FindAllSubmatch(b, -1) {
			c.tests[string(m[1])] = true
		}
		return err
	})
}
