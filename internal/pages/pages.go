// Package pages reads the Markdown pages of a checkout, checks their links and blocks of
// commands, and runs the commands.
//
// The first word after a fence is the language of the block, the others are attributes:
//
//	console            "$ command" lines, each with the output that it must have. A line
//	                   "..." matches any lines, " ..." at the end of a line for its rest.
//	                   A command continues in lines that start with "> ".
//	sh                 a script, which must end with 0; what it writes is not compared
//	yaml, json, go, text, none, mermaid   no commands
//	cluster            (console, sh) it needs a cluster, and so does the page
//	fails              (console, sh) its last command must end with another code than 0
//	file=NAME          the block is a file of the directory that the page is run in; it is
//	                   written, not run
//	elsewhere=TestName (console, sh) that test of the module runs it
//	foreign=TOOL       (console, sh) commands of a tool that need not be here: their syntax
//	                   is checked. openssl is run where it is
//
// The blocks of a page are run in order, in one session of bash and in one directory.
package pages

import (
	"cmp"
	"fmt"
)

// Page is a Markdown page.
type Page struct {
	// Root is the directory of the checkout, Path the file below it, with slashes.
	Root, Path string
	// Source is the text of the file.
	Source []byte
	// Blocks, Headings and Links are in the order of the page.
	Blocks   []Block
	Headings []Heading
	Links    []Link
	// Anchors are those of HTML in the page (id, name), without the headings'.
	Anchors []string
	// Findings are the errors in the blocks that do not require a run.
	Findings []Finding
}

// Block is a fenced block of code.
type Block struct {
	// Line is the line of the opening fence, from 1.
	Line     int
	Language string
	Attributes
	// Text is the text between the fences, with "\n" at the end of each line, and without the
	// indentation of a list.
	Text string

	// content is the range of lines between the fences, from 0, and prefix the prefix of each in
	// the file.
	content [2]int
	prefix  string
}

// Attributes follow the language of a block.
type Attributes struct {
	Cluster, Fails           bool
	File, Elsewhere, Foreign string
}

// Commands reports whether the block has commands.
func (b Block) Commands() bool { return b.Language == "console" || b.Language == "sh" }

// Cluster reports whether one of the blocks, and so the page, needs a cluster.
func (p Page) Cluster() bool {
	for _, b := range p.Blocks {
		if b.Cluster {
			return true
		}
	}
	return false
}

// Heading is a heading with the anchor that GitHub gives it, without "#".
type Heading struct {
	Line         int
	Text, Anchor string
}

// Link is a link or an image.
type Link struct {
	Line   int
	Target string
	Image  bool
}

// Finding is an error at a line of a page. Its String is "PATH:LINE: MESSAGE".
type Finding struct {
	Path    string
	Line    int
	Message string
}

func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Message) }

// Compare orders findings by path, line and message.
func (f Finding) Compare(g Finding) int {
	return cmp.Or(cmp.Compare(f.Path, g.Path), cmp.Compare(f.Line, g.Line), cmp.Compare(f.Message, g.Message))
}
