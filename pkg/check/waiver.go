package check

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// WaiveAnnotation is the annotation by which an object waives findings about it and about the
// objects that it owns: id=reason, several by lines or semicolons. On a Namespace it applies
// to all objects in it.
const WaiveAnnotation = "sysop.dev/waive"

// Waiver accepts the findings of a rule.
type Waiver struct {
	// Rule is the ID.
	Rule string `json:"id" read:"rule,required"`
	// Object is the one that carries the annotation, or that the file names; the zero Ref
	// means every object. As in kubectl, a file may use a short kind (deploy) and may omit the
	// group.
	Object object.Ref `json:"object" read:"object"`
	// Reason is never empty.
	Reason string `json:"reason" read:"reason,required"`
	// Until is the last day of the waiver, in UTC; zero for no end.
	Until time.Time `json:"until" read:"until"`
	// Origin is its place: waivers.yaml:4, or annotation of Deployment/shop/web.
	Origin string `json:"-"`
	// InSource is set for an annotation.
	InSource bool `json:"-"`
}

// Ended reports whether the last day of a waiver is over.
func (w *Waiver) Ended(now time.Time) bool {
	return !w.Until.IsZero() && !now.UTC().Before(w.Until.AddDate(0, 0, 1))
}

// untilLayout is how the last day of a waiver is written.
const untilLayout = "2006-01-02"

// ParseWaivers reads a file of waivers:
//
//	waivers:
//	- id: pod-limits
//	  object: Deployment/shop/web    # every object, where it is left out
//	  reason: the limit is set by the namespace
//	  until: 2027-01-31              # for good, where it is left out
//
// All problems are returned, with their places in the file; of a file with problems no
// waiver is to be used. name is that of the file, for people, and rules are those that may
// be waived.
func ParseWaivers(name string, data []byte, rules []Rule) ([]Waiver, []strict.Problem) {
	root, problem := strict.Document(data)
	switch {
	case problem != nil:
		return nil, []strict.Problem{*problem}
	case root == nil:
		return nil, []strict.Problem{{Line: 1, Column: 1, Message: "the file is empty: expected waivers, a list"}}
	}
	p := &waiverFile{name: name, rules: rules}
	top := &strict.Mapping{Fields: []strict.Field{{Name: "waivers", Required: true, Set: p.list}}}
	top.Read(root)
	if problems := slices.Concat(top.Problems, p.problems); len(problems) > 0 {
		return nil, problems
	}
	return p.waivers, nil
}

// ReadWaivers reads the list under waivers, where another file contains it. The problems are
// those of ParseWaivers.
func ReadWaivers(name string, list *yaml.Node, rules []Rule) ([]Waiver, []strict.Problem) {
	p := &waiverFile{name: name, rules: rules}
	p.list(list)
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	return p.waivers, nil
}

// waiverFile is a file of waivers while it is read.
type waiverFile struct {
	name     string
	rules    []Rule
	waivers  []Waiver
	problems []strict.Problem
}

func (p *waiverFile) list(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		p.problems = append(p.problems, strict.At(n, "expected a list of waivers"))
		return
	}
	for _, item := range n.Content {
		p.item(item)
	}
}

func (p *waiverFile) item(n *yaml.Node) {
	var w Waiver
	m := &strict.Mapping{}
	m.Struct(n, &w, strict.Formats{
		"rule":   func(id string) string { return waiverUnknownRule(id, p.rules) },
		"object": waiverObject, "reason": waiverReason, "until": waiverUntil,
	})
	w.Origin = waiverOrigin(p.name, n)
	same := func(o Waiver) bool { return o.Rule == w.Rule && o.Object == w.Object }
	if i := slices.IndexFunc(p.waivers, same); i >= 0 && len(m.Problems) == 0 {
		m.Report(n, "a second waiver of %s for the same object: the first is at %s", w.Rule, p.waivers[i].Origin)
	}
	p.problems = append(p.problems, m.Problems...)
	p.waivers = append(p.waivers, w)
}

func waiverReason(m *strict.Mapping, n *yaml.Node) string {
	reason := strings.TrimSpace(m.Text(n))
	if reason == "" && n.Value != "" {
		m.Report(n, "the string is empty")
	}
	return reason
}

func waiverUntil(m *strict.Mapping, n *yaml.Node) time.Time {
	day, err := time.Parse(untilLayout, m.Text(n))
	if err != nil && n.Value != "" {
		m.Report(n, "%q is not a date: write it as 2027-01-31", field.Shorten(n.Value))
	}
	return day
}

// waiverObject reads TYPE/NAMESPACE/NAME, or TYPE/NAME for a cluster-scoped object. The type
// is resolved later, when the cluster is known.
func waiverObject(m *strict.Mapping, n *yaml.Node) object.Ref {
	text := m.Text(n)
	if text == "" {
		return object.Ref{}
	}
	ref, err := object.ParseRef(text)
	if err != nil || strings.TrimSpace(text) != text {
		m.Report(n, "%q is not an object: write TYPE/NAMESPACE/NAME, or TYPE/NAME of a cluster-scoped one", field.Shorten(text))
	}
	return ref
}

// waiverUnknownRule returns an error text with similar IDs if no rule has the ID; else it is
// empty.
func waiverUnknownRule(id string, rules []Rule) string {
	ids := make([]string, 0, len(rules))
	for i := range rules {
		if rules[i].ID == id {
			return ""
		}
		ids = append(ids, rules[i].ID)
	}
	return "there is no rule " + quoteShort(id) + object.DidYouMean(object.Nearest(id, ids))
}
