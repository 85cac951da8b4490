package system

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/all"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

const (
	// MaxBytes is how many bytes a manifest has at most: a ConfigMap holds no more.
	MaxBytes = 1 << 20
	// maxProblems are reported of one manifest.
	maxProblems = 100
)

// Parse reads a manifest. name is that of the file, for people. Where anything is wrong
// there is no system, and the problems say what and where, in the order of the text. Each
// names the path to its place: spec.apps[1].on.Stop[0]: there is no "paus".
//
// Kinds are unknown here: of a root only its form is checked.
func Parse(name string, data []byte) (*System, []strict.Problem) { return ParseWith(name, data, nil) }

// ParseWith reads a manifest with values laid over those that it has, before templates are
// filled in.
func ParseWith(name string, data []byte, values map[string]any) (*System, []strict.Problem) {
	r := &reader{over: values, sys: &System{Origin: name}, signals: map[string]bool{Stop: true, Recover: true}}
	if root := r.root(data); root != nil {
		r.manifest(root)
		for _, check := range r.later {
			check()
		}
	}
	if len(r.problems) == 0 {
		return r.sys, nil
	}
	slices.SortStableFunc(r.problems, func(a, b strict.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if more := len(r.problems) - maxProblems; more > 0 {
		last := &r.problems[maxProblems-1]
		last.Message = fmt.Sprintf("%s; and %d problems more", last.Message, more)
		r.problems = r.problems[:maxProblems]
	}
	return nil, r.problems
}

// reader reads one manifest.
type reader struct {
	sys *System
	// over are values from outside.
	over     map[string]any
	problems []strict.Problem
	signals  map[string]bool
	// appNames are the names of all apps, of those with problems as well.
	appNames []string
	// resources are read when the values are known, and only then roots are compared.
	resources []resourceList
	// later are checks of names that may be declared below.
	later []func()
}

// root finds the one document of a text.
func (r *reader) root(data []byte) *yaml.Node {
	want := "expected a document of apiVersion " + APIVersion + ", kind " + Kind
	if len(data) > MaxBytes {
		r.problems = []strict.Problem{{Line: 1, Column: 1, Message: "it has more than 1 MiB: it is not a System manifest"}}
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if json.Valid(data) {
		// In JSON a tab can only stand between values, where YAML has none.
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" "))
	}
	all, problem := strict.Documents(data)
	all = slices.DeleteFunc(all, func(n *yaml.Node) bool { return n.ShortTag() == "!!null" && n.Value == "" })
	switch {
	case problem != nil:
		r.problems = []strict.Problem{*problem}
	case len(all) == 0:
		r.problems = []strict.Problem{{Line: 1, Column: 1, Message: "the file is empty: " + want}}
	case len(all) > 1:
		r.problems = []strict.Problem{strict.At(all[1], "a second document: a manifest is one document; put objects of an app under its resources")}
	case all[0].Kind != yaml.MappingNode:
		r.problems = []strict.Problem{strict.At(all[0], "%s", want)}
	default:
		return all[0]
	}
	return nil
}

func (r *reader) manifest(root *yaml.Node) {
	sys := r.sys
	scope{r, ""}.mapping(root,
		key{"apiVersion", true, func(s scope, n *yaml.Node) { s.word(n, APIVersion) }},
		key{"kind", true, func(s scope, n *yaml.Node) { s.word(n, Kind) }},
		key{"metadata", true, func(s scope, n *yaml.Node) {
			s.mapping(n,
				key{"name", true, func(s scope, n *yaml.Node) { sys.Name = s.name(n) }},
				key{"namespace", false, func(s scope, n *yaml.Node) { sys.Namespace = s.name(n) }})
		}},
		key{"spec", true, r.spec},
	)
}

func (r *reader) spec(s scope, n *yaml.Node) {
	sys := r.sys
	sys.Regulation = defaultRegulation()
	s.mapping(n,
		key{"description", false, func(s scope, n *yaml.Node) { sys.Description = s.text(n) }},
		key{"values", false, func(s scope, n *yaml.Node) { sys.Values = s.object(n) }},
		key{"apps", true, func(s scope, n *yaml.Node) { s.list(n, r.app) }},
		key{"operators", false, func(s scope, n *yaml.Node) { s.list(n, r.operator) }},
		key{"inputs", false, func(s scope, n *yaml.Node) { s.list(n, r.input) }},
		key{"upgrade", false, r.upgrading},
		key{"dependencies", false, func(s scope, n *yaml.Node) { s.list(n, r.dependency) }},
		key{"connections", false, func(s scope, n *yaml.Node) { s.list(n, r.connection) }},
		key{"labels", false, r.labels},
		key{"regulation", false, r.regulation},
		key{"monitoring", false, r.monitoring},
		key{"backup", false, r.backup},
		key{"chargeback", false, r.chargeback},
		key{"autoscaling", false, r.autoscaling},
		key{"waivers", false, func(s scope, n *yaml.Node) {
			waivers, problems := check.ReadWaivers(sys.Origin, n, all.Rules())
			sys.Waivers = waivers
			s.add(problems...)
		}},
	)
	if r.over != nil {
		sys.Values = Laid(sys.Values, r.over)
	}
	// Templates are filled in when the values are known; then the roots are compared.
	r.later = append([]func(){r.readResources}, r.later...)
}

// appName reads the name of an app that is somewhere in the manifest, and keeps it.
func (r *reader) appName(s scope, n *yaml.Node, keep func(string)) {
	name := s.text(n)
	if name == "" {
		return
	}
	keep(name)
	r.later = append(r.later, func() {
		if !slices.Contains(r.appNames, name) {
			s.report(n, "there is no app %s%s", strconv.Quote(field.Shorten(name)), object.DidYouMean(object.Nearest(name, r.appNames)))
		}
	})
}

// dependency reads one. Apps may need each other in a circle: real ones do (a broker that
// keeps its state in a database which reports to the broker), and a cycle is ordered as one
// app.
func (r *reader) dependency(s scope, n *yaml.Node) {
	d := Dependency{Line: n.Line}
	s.mapping(n,
		key{"from", true, func(s scope, n *yaml.Node) { r.appName(s, n, func(name string) { d.From = name }) }},
		key{"to", true, func(s scope, n *yaml.Node) { r.appName(s, n, func(name string) { d.To = name }) }},
		key{"reason", false, func(s scope, n *yaml.Node) { d.Reason = s.text(n) }},
	)
	if d.From != "" && d.From == d.To {
		s.report(n, "%s cannot need itself: from and to are the same app", d.From)
	}
	if i := slices.IndexFunc(r.sys.Dependencies, func(o Dependency) bool { return o.From == d.From && o.To == d.To }); i >= 0 && d.From != "" && d.To != "" {
		s.report(n, "a second dependency of %s on %s: the first is on line %d", d.From, d.To, r.sys.Dependencies[i].Line)
	}
	r.sys.Dependencies = append(r.sys.Dependencies, d)
}

// sharings are the ways in which what several apps need is paid.
func sharings() []string {
	return []string{string(cost.ShareEven), string(cost.ShareUsage), string(cost.ShareRequests), string(cost.ShareWeight)}
}

// amounts are decimal numbers as they are written.
var amounts = lazyregexp.New(`^[0-9]{1,12}(\.[0-9]{1,12})?$`)

func (r *reader) chargeback(s scope, n *yaml.Node) {
	c := &r.sys.Chargeback
	s.mapping(n,
		key{"prices", false, func(s scope, n *yaml.Node) { c.Prices = s.line(n) }},
		key{"sharing", false, func(s scope, n *yaml.Node) { c.Sharing = cost.Sharing(s.word(n, sharings()...)) }},
		key{"weights", false, func(s scope, n *yaml.Node) {
			c.Weights = map[string]string{}
			s.entries(n, func(s scope, name string, k, v *yaml.Node) {
				r.appName(s, k, func(string) {})
				if v.Kind != yaml.ScalarNode || !amounts.MatchString(v.Value) || strings.Trim(v.Value, "0.") == "" {
					s.report(v, "expected a weight: a decimal number above 0 such as 2 or 0.5")
				}
				c.Weights[name] = v.Value
			})
		}},
		key{"tenant", false, func(s scope, n *yaml.Node) { c.Tenant = s.line(n) }},
	)
	if c.Sharing == cost.ShareWeight && c.Weights == nil {
		s.report(n, "sharing by weight requires weights: an app without one has 1")
	}
}
