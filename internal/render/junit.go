package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// asJUnit writes findings in the XML of JUnit, as CI systems read it: what was checked is a
// testsuite, a rule is a testcase. One with errors or warnings that are not waived has
// failed, in one failure element: many readers take no more than one. One that could not be
// decided is skipped. A habit (info) fails nothing, and is written to its output, as waived
// findings are. Nothing is timed: time is 0, for readers that want a number.
func asJUnit(w io.Writer, a view.Output, _ Options) error {
	f := a.Findings
	out := junitSuites{Name: toolName + " " + f.Name, Time: junitTime, Suites: []junitSuite{}}
	for i := range f.Suites {
		s := junitSuiteOf(f, &f.Suites[i])
		out.Tests += s.Tests
		out.Failures += s.Failures
		out.Skipped += s.Skipped
		out.Suites = append(out.Suites, s)
	}
	if notes := append(gapsInWords(f), f.Notes...); len(notes) > 0 {
		out.Suites = append(out.Suites, junitSuite{Name: "notes", Time: junitTime, Err: junitLines(notes)})
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

const junitTime = "0"

func junitSuiteOf(f *view.Findings, s *view.Suite) junitSuite {
	out := junitSuite{Name: clean(s.Name), Time: junitTime}
	for _, p := range s.Properties {
		if out.Properties == nil {
			out.Properties = &junitProperties{}
		}
		out.Properties.List = append(out.Properties.List, junitProperty{clean(p.Name), clean(p.Value)})
	}
	titles := map[string]string{}
	for i := range f.Rules {
		titles[f.Rules[i].ID] = f.Rules[i].Title
	}
	for i := range s.Cases {
		c := junitCaseOf(s, &s.Cases[i], titles[s.Cases[i].Rule])
		out.Tests++
		switch {
		case c.Failure != nil:
			out.Failures++
		case c.Skipped != nil:
			out.Skipped++
		}
		out.Cases = append(out.Cases, c)
	}
	return out
}

func junitCaseOf(s *view.Suite, c *view.Case, title string) junitCase {
	out := junitCase{Name: clean(c.Rule), Class: clean(s.Name), Time: junitTime}
	if c.Class != "" {
		out.Class += "." + clean(c.Class)
	}
	var wrong, notes []string
	var first *view.CaseFinding
	for i := range c.Findings {
		f := &c.Findings[i]
		if f.Waived != nil {
			notes = append(notes, fmt.Sprintf("waived: %s: %s: %s (%s)", f.Object, findingText(f), f.Waived.Reason, f.Waived.Origin))
			continue
		}
		if first == nil || f.Severity < first.Severity {
			first = f
		}
		wrong = append(wrong, junitFinding(f))
	}
	for _, o := range c.Open {
		notes = append(notes, fmt.Sprintf("unknown: %s: %s", o.Object, o.Why))
	}
	if !c.Failed() {
		notes = append(wrong, notes...)
	}
	switch {
	case c.Failed():
		message := fmt.Sprintf("%s: %s", first.Object, findingText(first))
		if more := len(wrong) - 1; more > 0 {
			message += fmt.Sprintf(" (and %d more)", more)
		}
		if title != "" {
			wrong = append([]string{title}, wrong...)
		}
		out.Failure = &junitFailure{Type: first.Severity.String(), Message: clean(message), Text: junitLines(wrong)}
	case len(c.Open) > 0:
		out.Skipped = &junitSkipped{Message: clean("unknown: " + c.Open[0].Why)}
	}
	if len(notes) > 0 {
		out.Out = junitLines(notes)
	}
	return out
}

// junitFinding is a finding in a line or two: what is wrong where, and a way out.
func junitFinding(f *view.CaseFinding) string {
	text := fmt.Sprintf("%s: %s: %s", f.Severity, f.Object, findingText(f))
	if f.Origin != "" {
		text = f.Origin + ": " + text
	}
	if f.Remedy != "" {
		text += "; " + f.Remedy
	}
	return text
}

// junitLines are lines of text. Control characters are no part of XML 1.0, even escaped.
func junitLines(lines []string) string {
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string           `xml:"name,attr"`
	Tests      int              `xml:"tests,attr"`
	Failures   int              `xml:"failures,attr"`
	Errors     int              `xml:"errors,attr"`
	Skipped    int              `xml:"skipped,attr"`
	Time       string           `xml:"time,attr"`
	Properties *junitProperties `xml:"properties"`
	Cases      []junitCase      `xml:"testcase"`
	Err        string           `xml:"system-err,omitempty"`
}

type junitProperties struct {
	List []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Skipped *junitSkipped `xml:"skipped"`
	Failure *junitFailure `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}
