// Package level says which level a System has reached: that it is built and updated, monitored and
// backed up, and scaled. A level is a group of rules of check: it is reached when no app of the System
// violates one of them. What goes in are the results of these rules; the package reads nothing.
package level

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Status says whether a level is reached.
type Status string

// The states of a level.
const (
	Reached  Status = "reached"
	Violated Status = "violated"
	// Unknown is that of a level that nothing violates as far as could be read.
	Unknown Status = "unknown"
)

// Report is the level of a System.
type Report struct {
	// Level is the highest one that is reached with all below it; 0 for none.
	Level  int     `json:"level"`
	Levels []Level `json:"levels"`
}

// Level is one level.
type Level struct {
	Level  int    `json:"level"`
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Rules are those that the level needs.
	Rules []Rule `json:"rules"`
}

// Rule is what a rule of check says of the apps of the System.
type Rule struct {
	Rule   string `json:"rule"`
	Title  string `json:"title"`
	Status Status `json:"status"`
	// Command adds what is lacking, or shows how; it is empty for a rule that nothing violates.
	Command string `json:"command,omitempty"`
	// Violations are certain; Unknowns are what could not be decided.
	Violations []Violation `json:"violations"`
	Unknowns   []Violation `json:"unknowns"`
}

// Violation is an object that violates a rule, or may do so. Apps are those that it belongs to.
type Violation struct {
	Apps   []string `json:"apps"`
	Object string   `json:"object"`
	// Message is one sentence without a full stop.
	Message string `json:"message"`
}

// Apps are the apps of all violations, in order, each once.
func Apps(violations []Violation) []string {
	var out []string
	for _, k := range violations {
		for _, app := range k.Apps {
			if !slices.Contains(out, app) {
				out = append(out, app)
			}
		}
	}
	return out
}

// rule is a rule of a level, with the command that helps.
type rule struct {
	id      string
	command func(Source) string
}

// The rules that are not the same for every app: a missing root violates that of what is built, and the
// manifest excludes apps from the others.
const (
	built   = "stack-built"
	metrics = "stack-metrics"
	alerts  = "stack-alerts"
	scaled  = "stack-scaled"

	missing = "it does not exist"
)

// levels are the levels, from 1.
var levels = []struct {
	name  string
	rules []rule
}{
	{"build and update", []rule{{built, func(s Source) string { return "kubectl sysop system export -n " + s.Namespace }}}},
	{"monitored and backed up", []rule{
		{metrics, Source.monitor},
		{alerts, Source.monitor},
		{"stack-backup", func(s Source) string { return s.with("backup plan", " --system "+s.Query) }},
		{"stack-backup-age", func(s Source) string { return s.with("backup list", "") }},
	}},
	{"scaled", []rule{{scaled, func(s Source) string { return s.with("autoscale plan", " -f "+s.Query) }}}},
}

// Source is the System as commands name it.
type Source struct {
	// Query is the FILE of the manifest, or the NAME of an adopted System; File says which.
	// Namespace is that of the System.
	Query, Namespace string
	File             bool
}

func (s Source) with(command, args string) string {
	text := "kubectl sysop " + command + args
	if s.Namespace != "" && !s.File {
		text += " -n " + s.Namespace
	}
	return text
}

func (s Source) monitor() string {
	if s.File {
		return s.with("monitor plan", " -f "+s.Query)
	}
	return s.with("monitor plan", " system/"+s.Query)
}

// Rules are those that the levels need, among all.
func Rules(all []check.Rule) []check.Rule {
	return slices.DeleteFunc(slices.Clone(all), func(r check.Rule) bool {
		for _, l := range levels {
			if slices.ContainsFunc(l.rules, func(needed rule) bool { return needed.id == r.ID }) {
				return false
			}
		}
		return true
	})
}

// Of says the level of a System by the results of the rules for its apps; false where one of the
// rules was not evaluated.
func Of(sys *check.System, report *check.Report, s Source) (*Report, bool) {
	titles := map[string]string{}
	for i := range report.Rules {
		titles[report.Rules[i].ID] = report.Rules[i].Title
	}
	out := &Report{}
	for i, l := range levels {
		one := Level{Level: i + 1, Name: l.name, Status: Reached, Rules: []Rule{}}
		for _, needed := range l.rules {
			title, evaluated := titles[needed.id]
			if sys == nil || !evaluated {
				return nil, false
			}
			r := Rule{Rule: needed.id, Title: title, Violations: []Violation{}, Unknowns: []Violation{}}
			r.apps(sys, report)
			r.decide(needed, s)
			one.Rules = append(one.Rules, r)
			if one.Status != Violated && r.Status != Reached {
				one.Status = r.Status
			}
		}
		if one.Status == Reached && out.Level == i {
			out.Level = i + 1
		}
		out.Levels = append(out.Levels, one)
	}
	return out, true
}

// apps adds what the rule says of each app. What is waived is not lacking.
func (r *Rule) apps(sys *check.System, report *check.Report) {
	for i := range sys.Apps {
		a := &sys.Apps[i]
		if a.NotMonitored && (r.Rule == metrics || r.Rule == alerts) || a.NotScaled && r.Rule == scaled {
			continue
		}
		for _, root := range a.Unread {
			add(&r.Unknowns, a.Name, root, "it could not be read")
		}
		subject := subjectOf(sys, a, report)
		for _, root := range a.Missing {
			switch {
			case r.Rule == built:
				add(&r.Violations, a.Name, root, missing)
			case subject == nil: // nothing is known of an app of which no root exists
				add(&r.Unknowns, a.Name, root, missing)
			}
		}
		if subject == nil {
			continue
		}
		for _, result := range subject.Results {
			if result.Rule.ID != r.Rule {
				continue
			}
			r.take(a.Name, result)
		}
	}
}

// take adds what a rule of check found for an app.
func (r *Rule) take(app string, result *check.Result) {
	for i := range result.Findings {
		if f := &result.Findings[i]; f.Waived == nil {
			add(&r.Violations, app, f.Object.String(), f.Message)
		}
	}
	for _, u := range result.Unknowns {
		add(&r.Unknowns, app, u.Object.String(), u.Reason)
	}
}

// add adds a violation, or an app to one that others have, too.
func add(all *[]Violation, app, subject, message string) {
	for i := range *all {
		if k := &(*all)[i]; k.Object == subject && k.Message == message {
			k.Apps = append(k.Apps, app)
			return
		}
	}
	*all = append(*all, Violation{[]string{app}, subject, message})
}

// decide says whether the rule is kept, and what helps.
func (r *Rule) decide(needed rule, s Source) {
	switch {
	case s.File && slices.ContainsFunc(r.Violations, func(k Violation) bool { return k.Message == missing }):
		r.Status, r.Command = Violated, "kubectl sysop install -f "+s.Query
	case len(r.Violations) > 0:
		r.Status, r.Command = Violated, needed.command(s)
	case len(r.Unknowns) > 0:
		r.Status = Unknown
	default:
		r.Status = Reached
	}
}

// subjectOf is the results for an app: for its one root, or for SYSTEM.APP; nil for none.
func subjectOf(sys *check.System, a *check.SystemApp, report *check.Report) *check.Subject {
	whole := object.Ref{Kind: graph.BySystem, Namespace: sys.Namespace, Name: sys.Name + "." + a.Name}
	for _, s := range report.Subjects {
		if s.Ref == whole || slices.Contains(a.Roots, s.Ref) {
			return s
		}
	}
	return nil
}
