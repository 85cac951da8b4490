package system

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// defaultRegulation is what holds where a manifest says nothing.
func defaultRegulation() Regulation {
	return Regulation{HoldOff: DefaultHoldOff, MaxSignalsPerHour: DefaultMaxSignalsPerHour, Settle: DefaultSettle, GitOps: Refuse}
}

func (r *reader) regulation(s scope, n *yaml.Node) {
	g := &r.sys.Regulation
	s.mapping(n,
		key{"signals", false, func(s scope, n *yaml.Node) { s.list(n, r.newSignal) }},
		key{"rules", false, func(s scope, n *yaml.Node) { s.list(n, r.rule) }},
		key{"maxUnavailableApps", false, func(s scope, n *yaml.Node) { g.MaxUnavailableApps = s.count(n) }},
		key{"holdOff", false, func(s scope, n *yaml.Node) { g.HoldOff = s.duration(n) }},
		key{"maxSignalsPerHour", false, func(s scope, n *yaml.Node) { g.MaxSignalsPerHour = s.count(n) }},
		key{"settle", false, func(s scope, n *yaml.Node) { g.Settle = s.duration(n) }},
		key{"gitops", false, func(s scope, n *yaml.Node) { g.GitOps = s.gitOps(n) }},
	)
}

var signalNames = lazyregexp.New(`^[A-Za-z][-A-Za-z0-9]{0,62}$`)

// newSignal reads the name of a signal of the user's own.
func (r *reader) newSignal(s scope, n *yaml.Node) {
	name := s.text(n)
	switch {
	case name == "":
	case strings.EqualFold(name, Stop) || strings.EqualFold(name, Recover):
		s.report(n, "%s and %s always exist: omit %s", Stop, Recover, name)
	case !signalNames.MatchString(name):
		s.report(n, "%q is not a signal name: expected at most 63 letters, digits and dashes, a letter first", field.Shorten(name))
	case r.signals[name]:
		s.report(n, "a second signal %s: expected one", name)
	default:
		r.signals[name] = true
		r.sys.Regulation.Signals = append(r.sys.Regulation.Signals, name)
	}
}

func (r *reader) rule(s scope, n *yaml.Node) {
	rule := Rule{For: DefaultFor, RecoverFor: DefaultRecoverFor, Line: n.Line}
	s.mapping(n,
		key{"name", true, func(s scope, n *yaml.Node) {
			rule.Name = s.name(n)
			if i := slices.IndexFunc(r.sys.Regulation.Rules, func(o Rule) bool { return o.Name == rule.Name }); i >= 0 && rule.Name != "" {
				s.report(n, "a second rule %s: the first is on line %d", rule.Name, r.sys.Regulation.Rules[i].Line)
			}
		}},
		key{"when", true, func(s scope, n *yaml.Node) { r.when(s, n, &rule) }},
		key{"signal", true, func(s scope, n *yaml.Node) {
			if rule.Signal = s.text(n); rule.Signal == "" {
				return
			}
			if rule.Signal == Recover {
				s.report(n, "%s is sent when the condition of a rule clears: expected %s, or a signal of your own", Recover, Stop)
			}
			r.signalName(s, n)
		}},
		key{"to", false, func(s scope, n *yaml.Node) { rule.To = r.to(s, n) }},
		key{"cascade", false, func(s scope, n *yaml.Node) { rule.Cascade = s.bool(n) }},
		key{"recover", false, func(s scope, n *yaml.Node) {
			s.mapping(n, key{"for", true, func(s scope, n *yaml.Node) { rule.RecoverFor = s.duration(n) }})
		}},
	)
	if rule.App != "" && slices.Contains(rule.To, rule.App) {
		s.report(n, "%s would be held for its own failure, and never recover: name other apps in to", rule.App)
	}
	r.sys.Regulation.Rules = append(r.sys.Regulation.Rules, rule)
}

// statuses are those in which a rule may fire. Healthy is none: it ends a rule.
func statuses() []string {
	var all []string
	for _, s := range health.Statuses() {
		if s != health.Healthy {
			all = append(all, string(s))
		}
	}
	return all
}

func (r *reader) when(s scope, n *yaml.Node, rule *Rule) {
	s.mapping(n,
		key{"app", false, func(s scope, n *yaml.Node) {
			if n.Value != anyApp {
				r.appName(s, n, func(name string) { rule.App = name })
			}
		}},
		key{"health", false, func(s scope, n *yaml.Node) {
			s.list(n, func(s scope, n *yaml.Node) {
				switch status := health.Status(s.word(n, statuses()...)); {
				case slices.Contains(rule.Health, status):
					s.report(n, "a second %s: expected one", status)
				case status != "":
					rule.Health = append(rule.Health, status)
				}
			})
		}},
		key{"upgrading", false, func(s scope, n *yaml.Node) { rule.Upgrading = s.bool(n) }},
		key{"for", false, func(s scope, n *yaml.Node) { rule.For = s.duration(n) }},
	)
	if len(rule.Health) == 0 && !rule.Upgrading && !has(n, "health") {
		s.report(n, "the rule would never fire: expected health (%s), or upgrading: true", strings.Join(statuses(), ", "))
	}
}

// has says whether a mapping has a key.
func has(n *yaml.Node, name string) bool {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}

// to reads who gets a signal: none for the neighbours.
func (r *reader) to(s scope, n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode {
		if n.Value != neighbours {
			s.report(n, "there is no %s: expected %s, or a list of apps%s", strconv.Quote(field.Shorten(n.Value)), neighbours, object.DidYouMean(object.Nearest(n.Value, []string{neighbours})))
		}
		return nil
	}
	var apps []string
	s.list(n, func(s scope, n *yaml.Node) {
		r.appName(s, n, func(name string) {
			if slices.Contains(apps, name) {
				s.report(n, "a second %s: expected one", field.Shorten(name))
			}
			apps = append(apps, name)
		})
	})
	return apps
}
