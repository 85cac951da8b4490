package render

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// What the program is called in the files of other tools.
const (
	toolName = "kubectl-sysop"
	toolPage = "https://github.com/kubectl-sysop/kubectl-sysop"
)

// written is where in a file something was written.
type written struct {
	uri  string
	line int
}

// placeOf reads FILE:LINE. It is false of what is no file: standard input, or a place
// without a line.
func placeOf(origin string) (written, bool) {
	at := strings.LastIndexByte(origin, ':')
	if at <= 0 {
		return written{}, false
	}
	line, err := strconv.Atoi(origin[at+1:])
	file := origin[:at]
	if err != nil || line < 1 || file == "-" || file == "<stdin>" || strings.Contains(file, " of ") {
		return written{}, false
	}
	return written{uriOf(file), line}, true
}

// uriOf writes the name of a file as a URI reference, relative where the name is.
func uriOf(file string) string {
	if field.IsWebURL(file) {
		return file
	}
	u := url.URL{Path: strings.TrimPrefix(filepath.ToSlash(file), "./")}
	if filepath.IsAbs(file) {
		u.Scheme, u.Path = "file", "/"+strings.TrimPrefix(u.Path, "/") // file:///C:/shop.yaml, too
	}
	return u.String()
}

// evidenceOf is field and value of a finding, as far as there are any.
func evidenceOf(f *view.CaseFinding) string {
	switch {
	case f.Field == "":
		return f.Value
	case f.Value == "":
		return f.Field
	}
	return f.Field + " = " + f.Value
}

// findingText is the Reason and the message of a finding, with the evidence.
func findingText(f *view.CaseFinding) string {
	text := f.Message
	if f.Reason != "" && !strings.Contains(text, f.Reason) {
		text = f.Reason + ": " + text
	}
	if e := evidenceOf(f); e != "" {
		text += " (" + e + ")"
	}
	return text
}

// gapsInWords are what could not be read, each in a sentence without a full stop.
func gapsInWords(f *view.Findings) []string {
	var out []string
	for _, g := range f.Gaps {
		namespace := ""
		if g.Namespace != "" {
			namespace = " in " + g.Namespace
		}
		out = append(out, "not read: "+g.Resource+namespace+": "+g.Reason+": "+g.Message)
	}
	return out
}
