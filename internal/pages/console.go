package pages

import (
	"fmt"
	"strings"
)

// step is a command of a console block, or the script of another.
type step struct {
	// line is the line of the command in the page, from 1; last is its last line.
	line, last int
	text       string
	// want are the expected lines of output, without line ends.
	want  []string
	fails bool
}

// steps returns the commands of a block.
func (b Block) steps() []step {
	if b.Language == "sh" {
		return b.script()
	}
	all := console(b.Text)
	for i := range all {
		all[i].line += b.Line
		all[i].last += b.Line
	}
	if len(all) > 0 {
		all[len(all)-1].fails = b.Fails
	}
	return all
}

// script returns the block as one step. A last command that must fail is a step of its own: the
// last line, with the preceding lines that end with a backslash.
func (b Block) script() []step {
	lines := strings.SplitAfter(strings.TrimSuffix(b.Text, "\n"), "\n")
	all := []step{{line: b.Line + 1, last: b.Line + len(lines), text: b.Text}}
	if !b.Fails {
		return all
	}
	at := len(lines) - 1
	for at > 0 && continues(lines[at-1]) {
		at--
	}
	tail := step{line: b.Line + 1 + at, last: b.Line + len(lines), text: strings.Join(lines[at:], ""), fails: true}
	if at == 0 {
		return []step{tail}
	}
	all[0].text, all[0].last = strings.Join(lines[:at], ""), b.Line+at
	return append(all, tail)
}

// console splits a block into commands and their output. Lines are counted from 1.
func console(text string) (all []step) {
	inCommand := false
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, step{line: i + 1, last: i + 1, text: command + "\n"})
			inCommand = true
			continue
		}
		if len(all) == 0 {
			continue
		}
		last := &all[len(all)-1]
		continued, prompt := strings.CutPrefix(line, "> ")
		if line == ">" {
			continued, prompt = "", true
		}
		if inCommand && (prompt || continues(last.text)) {
			last.text += continued + "\n"
			last.last = i + 1
			continue
		}
		inCommand = false
		last.want = append(last.want, line)
	}
	for i := range all {
		all[i].want = trimmed(all[i].want)
	}
	return all
}

// continues reports whether a command ends with a backslash that escapes the line end.
func continues(text string) bool {
	text = strings.TrimSuffix(text, "\n")
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}

// trimmed removes blanks at the ends of lines, and empty lines at the end, which editors remove and
// readers do not see.
func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(line, " \t\r")
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// consoleProblems returns the errors in a console block. Lines are counted from 1.
func consoleProblems(text string) (out []Finding) {
	all := console(text)
	if len(all) == 0 {
		return []Finding{{Line: 0, Message: "a console block without a command: lines that start with \"$ \" are commands"}}
	}
	if all[0].line > 1 {
		out = append(out, Finding{Line: 1, Message: "output before the first command"})
	}
	for _, s := range all {
		if hidesAll(s.want) {
			out = append(out, Finding{Line: s.last + 1, Message: fmt.Sprintf("%q elides all of the output: keep a line of it, or write sh", "...")})
		}
		for i, line := range s.want {
			if i > 0 && elided(line) && elided(s.want[i-1]) {
				out = append(out, Finding{Line: s.last + i + 1, Message: "two elisions, one after the other"})
			}
		}
	}
	return out
}

func elided(line string) bool { return strings.TrimSpace(line) == "..." }

// hidesAll reports whether the output is one elision.
func hidesAll(want []string) bool {
	for _, line := range want {
		if rest, cut := strings.CutSuffix(line, " ..."); !elided(line) && (!cut || strings.TrimSpace(rest) != "") && line != "" {
			return false
		}
	}
	return len(want) > 0
}

// lineMatches reports whether a line of output matches that of the page, up to its elision.
func lineMatches(want, got string) bool {
	if before, ok := strings.CutSuffix(want, " ..."); ok {
		return strings.HasPrefix(got, before)
	}
	return want == got
}

// matches compares output with the page. mismatch is the index of the first line of the page
// without a match, or len(want) if there is more output.
func matches(want, got []string) (ok bool, mismatch int) {
	// As with "*" in a pattern, lines after an elision are tried one after the other.
	w, g, star, from := 0, 0, -1, 0
	for g < len(got) {
		switch {
		case w < len(want) && elided(want[w]):
			star, from = w, g
			w++
		case w < len(want) && lineMatches(want[w], got[g]):
			w++
			g++
		case star >= 0:
			mismatch = max(mismatch, w)
			from++
			w, g = star+1, from
		default:
			return false, max(mismatch, w)
		}
	}
	for w < len(want) && elided(want[w]) {
		w++
	}
	return w == len(want), max(mismatch, w)
}

// renewed returns new output for the page. A line of the page that ends with an elision stays if it
// still matches, and so does a whole output that matches.
func renewed(want, got []string) []string {
	if ok, _ := matches(want, got); ok {
		return want
	}
	var cut []string
	for _, line := range want {
		if strings.HasSuffix(line, " ...") && !elided(line) {
			cut = append(cut, line)
		}
	}
	out := make([]string, len(got))
	for i, line := range got {
		out[i] = line
		for _, c := range cut {
			if lineMatches(c, line) {
				out[i] = c
				break
			}
		}
	}
	return out
}
