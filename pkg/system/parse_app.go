package system

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Words that stand where an app does, so that no app has their names.
const (
	anyApp     = "any"
	neighbours = "neighbours"
)

func (r *reader) app(s scope, n *yaml.Node) {
	a := App{Line: n.Line}
	resources := resourceList{app: len(r.sys.Apps), scope: s, node: n}
	s.mapping(n,
		key{"name", true, func(s scope, n *yaml.Node) { a.Name = r.newApp(s, n) }},
		key{"roots", false, func(s scope, n *yaml.Node) {
			s.list(n, func(s scope, n *yaml.Node) {
				if root := s.root(n, false); root.Name != "" {
					a.Roots = append(a.Roots, root)
					resources.roots = append(resources.roots, placedRoot{s, n})
				}
			})
		}},
		key{"operator", false, func(s scope, n *yaml.Node) { a.Operator = s.name(n) }},
		key{"resources", false, func(s scope, n *yaml.Node) {
			s.list(n, func(s scope, n *yaml.Node) { resources.items = append(resources.items, placedItem{s, n}) })
		}},
		key{"monitoring", false, func(s scope, n *yaml.Node) { a.Monitoring = s.appMonitoring(n) }},
		key{"gitops", false, func(s scope, n *yaml.Node) { a.GitOps = s.gitOps(n) }},
		key{"autoscaling", false, func(s scope, n *yaml.Node) { a.Autoscaling = s.appAutoscaling(n) }},
		key{"on", false, func(s scope, n *yaml.Node) { a.On = r.on(s, n) }},
	)
	r.sys.Apps = append(r.sys.Apps, a)
	r.resources = append(r.resources, resources)
}

// newApp reads the name that an app gives itself.
func (r *reader) newApp(s scope, n *yaml.Node) string {
	name := s.name(n)
	switch {
	case name == anyApp || name == neighbours:
		s.report(n, "%s is a reserved word of rules: rename the app", name)
	case name != "" && slices.Contains(r.appNames, name):
		i := slices.IndexFunc(r.sys.Apps, func(a App) bool { return a.Name == name })
		s.report(n, "a second app %s: the first is on line %d", name, r.sys.Apps[i].Line)
	case name != "":
		r.appNames = append(r.appNames, name)
	}
	return name
}

func (s scope) gitOps(n *yaml.Node) GitOps {
	return GitOps(s.word(n, string(Refuse), string(Suspend), string(Ignore)))
}

// root reads TYPE/NAME or TYPE/NAMESPACE/NAME; where alone is set a TYPE as well.
func (s scope) root(n *yaml.Node, allowType bool) Root {
	text := s.text(n)
	if text == "" {
		return Root{}
	}
	root, ok := ParseRoot(text)
	root.Line = n.Line
	if !ok || root.Name == "" && !allowType {
		hint := ""
		if allowType {
			hint = ", or a TYPE alone"
		}
		s.report(n, "%q is not an object: write TYPE/NAME or TYPE/NAMESPACE/NAME%s", field.Shorten(text), hint)
		return Root{}
	}
	return root
}

// ParseRoot reads TYPE, TYPE/NAME or TYPE/NAMESPACE/NAME as people write it; false where
// it has no such form. Whether there is such a type is another question.
func ParseRoot(text string) (Root, bool) {
	var root Root
	switch parts := strings.Split(text, "/"); len(parts) {
	case 1:
		root = Root{Type: parts[0]}
	case 2:
		root = Root{Type: parts[0], Name: parts[1]}
	case 3:
		root = Root{Type: parts[0], Namespace: parts[1], Name: parts[2]}
	}
	return root, root.String() == text && isType(root.Type) && (root.Name == "" || isName(root.Name)) && (root.Namespace == "" || isLabel(root.Namespace))
}

// String writes a root as ParseRoot reads it.
func (r Root) String() string {
	text := r.Type
	if r.Namespace != "" {
		text += "/" + r.Namespace
	}
	if r.Name != "" {
		text += "/" + r.Name
	}
	return text
}

// isType says whether a text can be a kind, a resource or a short name, and its group.
func isType(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if !isLabel(strings.ToLower(part)) {
			return false
		}
	}
	return len(text) <= 316 && text[0] > '9' // a label, a dot, and a group
}

// isName says whether a text can be the name of an object: of roles it is freer than DNS.
func isName(text string) bool {
	return len(text) <= 253 && text != "." && text != ".." && !strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == '%' || c >= 0x7f })
}

// sameRoot says whether two roots are the same object for certain. Short names of kinds are
// known to a cluster only.
func (r *reader) sameRoot(a, b Root) bool {
	in := func(o Root) string { return cmp.Or(o.Namespace, r.sys.Namespace) }
	return a.Name == b.Name && in(a) == in(b) && sameType(a.Type, b.Type)
}

// sameType compares what is written before the slash: Deployment.apps, deployments and
// deployment are one.
func sameType(a, b string) bool {
	kindA, groupA, _ := strings.Cut(strings.ToLower(a), ".")
	kindB, groupB, _ := strings.Cut(strings.ToLower(b), ".")
	if groupA != "" && groupB != "" && groupA != groupB {
		return false
	}
	return object.MayBePlural(kindA, kindB) || object.MayBePlural(kindB, kindA)
}

// on reads the actions on each signal.
func (r *reader) on(s scope, n *yaml.Node) map[string][]Action {
	all := map[string][]Action{}
	s.entries(n, func(s scope, name string, k, v *yaml.Node) {
		r.signalName(s, k)
		var actions []Action
		s.list(v, func(s scope, n *yaml.Node) { actions = append(actions, r.action(s, n, name == Recover)) })
		all[name] = actions
	})
	return all
}

// signalName checks a name of a signal, which may be declared below.
func (r *reader) signalName(s scope, n *yaml.Node) {
	r.later = append(r.later, func() {
		if !r.signals[n.Value] {
			s.report(n, "there is no signal %s%s: declare it in spec.regulation.signals", strconv.Quote(field.Shorten(n.Value)), object.DidYouMean(object.Nearest(n.Value, r.signalNames())))
		}
	})
}

func (r *reader) signalNames() []string {
	var all []string
	for name := range r.signals {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
