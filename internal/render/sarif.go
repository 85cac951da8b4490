package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// The version of SARIF that is written, and its schema.
const (
	sarifVersion = "2.1.0"
	sarifSchema  = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	// sarifPrint names the way in which fingerprints are made: of rule, object and field. It
	// changes with the way.
	sarifPrint = "sysopFinding/v1"
)

// asSARIF writes findings as SARIF 2.1.0 (OASIS, 2020). What is wrong is a result of the
// kind fail, what could not be decided one of the kind open. A result is at a logical
// location, the object, and at a place in a file where one is known. What several suites
// say of one object is one result.
func asSARIF(w io.Writer, a view.Output, _ Options) error {
	log := sarifLog{Schema: sarifSchema, Version: sarifVersion, Runs: []sarifRun{sarifRunOf(a.Findings)}}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(log); err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	_, err := w.Write(escapeStrings(text.Bytes(), surrogates))
	return err
}

func sarifRunOf(f *view.Findings) sarifRun {
	run := sarifRun{
		Tool:              sarifTool{sarifDriver{Name: toolName, Version: f.Version, InformationURI: toolPage, Rules: []sarifRule{}}},
		AutomationDetails: sarifID{f.Name + "/"},
		Invocations:       []sarifInvocation{{ExecutionSuccessful: true, Notifications: []sarifNotification{}}},
		ColumnKind:        "utf16CodeUnits",
		Results:           []sarifResult{},
	}
	index := map[string]int{}
	for i := range f.Rules {
		index[f.Rules[i].ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(&f.Rules[i]))
	}
	notes := &run.Invocations[0].Notifications
	for _, text := range gapsInWords(f) {
		*notes = append(*notes, sarifNotification{Level: "warning", Message: sarifText{Text: text + "."}})
	}
	for _, text := range f.Notes {
		*notes = append(*notes, sarifNotification{Level: "note", Message: sarifText{Text: text + "."}})
	}
	c := sarifCollector{run: &run, index: index, at: map[string]int{}, count: map[string]int{}}
	for i := range f.Suites {
		for j := range f.Suites[i].Cases {
			c.add(&f.Suites[i], &f.Suites[i].Cases[j])
		}
	}
	return run
}

func sarifRuleOf(r *view.FindingRule) sarifRule {
	parts := slices.DeleteFunc([]string{r.Title, r.Why, r.Fix}, func(s string) bool { return s == "" })
	text := strings.Join(parts, "\n\n")
	markdown := "**" + r.Title + "**" + strings.TrimPrefix(text, r.Title)
	if len(r.Sources) > 0 {
		text += "\n\nFrom: " + strings.Join(r.Sources, "; ")
		markdown += "\n\nFrom:\n\n- " + strings.Join(r.Sources, "\n- ")
	}
	out := sarifRule{ID: r.ID, Short: sarifText{Text: r.Title}, Help: sarifText{text, markdown}, HelpURI: r.URI, Default: sarifConfiguration{sarifLevel(r.Severity.String())}}
	if r.Why != "" {
		out.Full = &sarifText{Text: r.Why}
	}
	out.Properties.Tags = append([]string{}, slices.Compact(slices.Sorted(slices.Values(r.Tags)))...)
	return out
}

// sarifLevel is the level of a severity.
func sarifLevel(severity string) string {
	if severity == "info" {
		return "note"
	}
	return severity
}

// sarifCollector gathers results, of which equal ones are one.
type sarifCollector struct {
	run   *sarifRun
	index map[string]int
	at    map[string]int // by what makes a result the same: its place among the results
	count map[string]int // by fingerprint: how many have it
}

func (c *sarifCollector) add(s *view.Suite, testCase *view.Case) {
	for i := range testCase.Findings {
		f := &testCase.Findings[i]
		r := c.result(testCase, f.Object.String(), f.Origin)
		r.Kind, r.Level = "fail", sarifLevel(f.Severity.String())
		r.Message.Text = f.Object.String() + ": " + findingText(f) + "."
		r.Properties.Field, r.Properties.Value, r.Properties.Reason, r.Properties.Remedy, r.Properties.Patch = f.Field, f.Value, f.Reason, f.Remedy, f.Patch
		for _, other := range f.Related {
			location := sarifLocation{Logical: []sarifLogical{sarifResource(other.String())}}
			if !slices.ContainsFunc(r.Related, func(l sarifLocation) bool { return l.Logical[0] == location.Logical[0] }) {
				r.Related = append(r.Related, location)
			}
		}
		if f.Waived != nil {
			r.Suppressions = append(r.Suppressions, sarifSuppressionOf(f.Waived))
		}
		c.put(s, r, f.Field)
	}
	for _, o := range testCase.Open {
		r := c.result(testCase, o.Object.String(), o.Origin)
		r.Kind, r.Level = "open", "none"
		r.Message.Text = o.Object.String() + ": unknown: " + o.Why + "."
		c.put(s, r, "")
	}
}

// result is one about an object. That none is suppressed is said of every one, or of none:
// so an empty list is written (3.27.23).
func (c *sarifCollector) result(testCase *view.Case, object, origin string) sarifResult {
	location := sarifLocation{Logical: []sarifLogical{sarifResource(object)}}
	if at, ok := placeOf(origin); ok {
		location.Physical = &sarifPhysical{Artifact: sarifArtifact{at.uri}, Region: sarifRegion{at.line}}
	}
	r := sarifResult{RuleID: testCase.Rule, RuleIndex: -1, Locations: []sarifLocation{location}, Suppressions: []sarifSuppression{}}
	if at, ok := c.index[testCase.Rule]; ok {
		r.RuleIndex = at
	}
	r.Properties.Category = testCase.Class
	return r
}

// put adds a result, unless it is there: then it is about one suite more.
func (c *sarifCollector) put(s *view.Suite, r sarifResult, field string) {
	object := r.Locations[0].Logical[0].Name
	same := strings.Join([]string{r.RuleID, r.Kind, r.Level, object, field, r.Message.Text}, "\x00")
	if at, ok := c.at[same]; ok {
		subjects := &c.run.Results[at].Properties.Subjects
		if !slices.Contains(*subjects, s.Name) {
			*subjects = append(*subjects, s.Name)
		}
		return
	}
	// The message is no part of it: figures in it change from run to run.
	sum := sha256.Sum256([]byte(strings.Join([]string{r.RuleID, r.Kind, object, field}, "\x00")))
	hash := hex.EncodeToString(sum[:16])
	c.count[hash]++
	r.Prints = map[string]string{sarifPrint: fmt.Sprintf("%s:%d", hash, c.count[hash])}
	r.Properties.Subjects = []string{s.Name}
	c.at[same] = len(c.run.Results)
	c.run.Results = append(c.run.Results, r)
}

func sarifResource(name string) sarifLogical { return sarifLogical{name, name, "resource"} }

func sarifSuppressionOf(w *view.CaseWaiver) sarifSuppression {
	s := sarifSuppression{Kind: "external", Status: "accepted", Justification: w.Reason}
	if w.InSource {
		s.Kind = "inSource"
	}
	if at, ok := placeOf(w.Origin); ok {
		s.Location = &sarifLocation{Physical: &sarifPhysical{Artifact: sarifArtifact{at.uri}, Region: sarifRegion{at.line}}}
	}
	return s
}
