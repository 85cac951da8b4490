package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// rootArg is one ROOT of the command line.
type rootArg struct {
	text  string
	kind  object.Resource
	group string // helm, app or system, beside or instead of a kind
	name  string // empty for all of the kind
	// namespace is set where the root was written as we print it, Kind/ns/name.
	namespace string
	// missing says that it may also be missing, if something names it.
	missing bool
}

// matches says whether a node can be what the root names.
func (r rootArg) matches(g *graph.Graph, id graph.ID) bool {
	return g.WasRead(id) || r.missing && g.State(id) == graph.Missing
}

// parseRoots reads TYPE/NAME..., TYPE NAME... or TYPE, as kubectl does.
func parseRoots(args []string, kinds *object.Kinds) ([]rootArg, error) {
	slashed := slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "/") })
	var out []rootArg
	if slashed {
		for _, a := range args {
			r, err := slashedRoot(a, kinds)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
		return out, nil
	}
	for typ := range strings.SplitSeq(args[0], ",") {
		names := args[1:]
		if len(names) == 0 {
			names = []string{""}
		}
		for _, name := range names {
			r, err := oneRoot(strings.TrimSuffix(typ+"/"+name, "/"), typ, name, kinds)
			if err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// parseSelector reads the labels of --selector; nil for none.
func parseSelector(text string) (labels.Selector, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--selector %q: %w", text, err)
	}
	return selector, nil
}

// selectedRoots reads roots of which a selector, if there is one, chooses.
func selectedRoots(args []string, selector labels.Selector, kinds *object.Kinds) ([]rootArg, error) {
	roots, err := parseRoots(args, kinds)
	if err != nil {
		return nil, err
	}
	if selector != nil && slices.ContainsFunc(roots, func(r rootArg) bool { return r.name != "" }) {
		return nil, fmt.Errorf("--selector chooses among all of a TYPE: it excludes a name")
	}
	return roots, nil
}

// slashedRoot reads TYPE/NAME, or TYPE/NAMESPACE/NAME as we print it.
func slashedRoot(text string, kinds *object.Kinds) (rootArg, error) {
	parts := strings.Split(text, "/")
	switch {
	case len(parts) == 1:
		return rootArg{}, fmt.Errorf("root %q: if one root is TYPE/NAME, all must be", text)
	case len(parts) > 3 || slices.Contains(parts, ""):
		return rootArg{}, fmt.Errorf("root %q: expected TYPE/NAME, or TYPE/NAMESPACE/NAME", text)
	}
	r, err := oneRoot(text, parts[0], parts[len(parts)-1], kinds)
	if err != nil || len(parts) == 2 {
		return r, err
	}
	if r.group == "" && !r.kind.Namespaced {
		return r, fmt.Errorf("root %q: %s are not namespaced: expected TYPE/NAME", text, r.kind)
	}
	r.namespace = parts[1]
	return r, nil
}

// oneRoot finds the kind. A name of a group may be one of a kind as well: app is
// short for the Application of Argo CD. Then both are meant.
func oneRoot(text, typ, name string, kinds *object.Kinds) (rootArg, error) {
	k, err := kinds.Find(typ)
	if slices.Contains([]string{graph.ByHelm, graph.ByApp, graph.BySystem}, typ) && name != "" {
		return rootArg{text: text, group: typ, name: name, kind: k}, nil
	}
	if err != nil {
		return rootArg{}, fmt.Errorf("root %q: %w", text, err)
	}
	return rootArg{text: text, kind: k, name: name}, nil
}

// ask says what must be read to know the roots: their namespace and what reaches
// into it, or everything where a root is of the whole cluster.
func (s *session) ask(roots []rootArg) source.Query {
	all := s.c.allNamespaces || s.namespace == ""
	s.systems = slices.DeleteFunc(slices.Clone(roots), func(r rootArg) bool { return r.group != graph.BySystem })
	for _, r := range roots {
		s.c.definitions = s.c.definitions || r.group == "" && r.kind.GroupKind() == definitionKind
		if r.group == "" && !r.kind.Namespaced && (r.kind.String() != "namespaces" || r.name == "") {
			all = true
		}
	}
	if all {
		for _, r := range roots {
			if r.group == "" && source.LeftOut(r.kind) {
				s.c.include = append(s.c.include, r.kind.GroupKind())
			}
		}
		return source.Query{All: true}
	}
	ask := source.Query{Kinds: s.rules.Crossing()}
	for _, refs := range s.releases {
		ask.Objects = append(ask.Objects, refs...)
	}
	for _, r := range roots {
		ref := object.Ref{Group: r.kind.Group, Kind: r.kind.Kind, Namespace: s.namespaceOf(r), Name: r.name}
		if !slices.Contains(ask.Namespaces, ref.Namespace) {
			ask.Namespaces = append(ask.Namespaces, ref.Namespace)
		}
		switch {
		case r.group != "":
		case r.name == "" && source.LeftOut(r.kind):
			s.c.include = append(s.c.include, r.kind.GroupKind())
		case r.name == "":
		case r.kind.Namespaced && !source.LeftOut(r.kind):
			// It comes with its namespace.
		case r.kind.Namespaced:
			ask.Objects = append(ask.Objects, ref)
		default:
			ref.Namespace = ""
			ask.Objects = append(ask.Objects, ref)
		}
	}
	return ask
}

// namespaceOf is the namespace that a root is looked for in, or that it is; empty for all of them.
func (s *session) namespaceOf(r rootArg) string {
	switch {
	case r.namespace != "":
		return r.namespace
	case r.group == "" && r.kind.String() == "namespaces" && r.name != "":
		return r.name
	}
	return s.namespace
}

// resolve returns the nodes of the roots that are there.
func (s *session) resolve(g *graph.Graph, roots []rootArg, selector labels.Selector) []graph.ID {
	var out []graph.ID
	for _, r := range roots {
		out = append(out, s.nodes(g, r, selector)...)
	}
	return out
}

// together maps the objects of each group to its first: they are one root.
func (s *session) together(g *graph.Graph, roots []rootArg) map[graph.ID]graph.ID {
	as := map[graph.ID]graph.ID{}
	for _, r := range roots {
		if r.group == "" {
			continue
		}
		ids := s.nodes(g, r, nil)
		for _, id := range ids {
			if _, taken := as[id]; !taken {
				as[id] = ids[0]
			}
		}
	}
	return as
}

func (s *session) nodes(g *graph.Graph, r rootArg, selector labels.Selector) []graph.ID {
	if r.group != "" {
		one := r
		one.group = ""
		return append(s.grouped(g, r), s.nodes(g, one, selector)...)
	}
	if r.kind.Kind == "" {
		return nil
	}
	in := s.namespaceOf(r)
	if r.name != "" && (in != "" || !r.kind.Namespaced) {
		ref := object.Ref{Group: r.kind.Group, Kind: r.kind.Kind, Name: r.name}
		if r.kind.Namespaced {
			ref.Namespace = in
		}
		id, ok := g.Find(ref)
		if !ok || !r.matches(g, id) {
			return nil
		}
		return []graph.ID{id}
	}
	var out []graph.ID
	for id := range g.OfKind(r.kind.GroupKind()) {
		ref := g.Ref(id)
		switch {
		case !r.matches(g, id), r.name != "" && ref.Name != r.name:
		case in != "" && ref.Namespace != "" && ref.Namespace != in:
		case selector != nil && !selector.Matches(labels.Set(g.Labels(id))):
		default:
			out = append(out, id)
		}
	}
	return out
}

// grouped returns the objects of a Helm release, or of an application by its
// label, or of a System, that no other of them owns.
func (s *session) grouped(g *graph.Graph, r rootArg) []graph.ID {
	if r.group == graph.BySystem {
		return s.inSystem(g, r)
	}
	var also []graph.ID
	if r.group == graph.ByHelm {
		for _, ref := range s.releases[r.name] {
			if id, ok := g.Find(ref); ok && g.State(id) == graph.Present {
				also = append(also, id)
			}
		}
	}
	return g.InGroup(r.group, s.namespaceOf(r), r.name, also...)
}

// readReleases asks Helm's own records what the releases among the roots installed.
func (s *session) readReleases(ctx context.Context, roots []rootArg) error {
	if !slices.ContainsFunc(roots, func(r rootArg) bool { return r.group == "helm" }) {
		return fmt.Errorf("--helm-manifest needs a root helm/RELEASE")
	}
	s.releases = map[string][]object.Ref{}
	for _, r := range roots {
		if r.group != "helm" {
			continue
		}
		cluster, ok := s.source.(*source.Cluster)
		if !ok {
			return hint.With(fmt.Errorf("--helm-manifest: a snapshot has no data of Secrets"), "without the flag, the annotations of the objects are used")
		}
		namespace := s.namespaceOf(r)
		if namespace == "" {
			return fmt.Errorf("--helm-manifest: name the namespace of the release with -n")
		}
		refs, err := cluster.HelmRelease(ctx, namespace, r.name)
		if err != nil {
			return hint.With(fmt.Errorf("read the Helm release %q in namespace %s: %w", r.name, namespace, err), "without --helm-manifest, the annotations of the objects are used")
		}
		s.releases[r.name] = refs
	}
	return nil
}

// missing says why a root was not found.
func (s *session) missing(g *graph.Graph, roots []rootArg, selector labels.Selector) error {
	for _, r := range roots {
		found := s.nodes(g, r, selector)
		if r.name == "" {
			if gap, ok := s.gapOf(g, r.kind, s.namespaceOf(r)); ok && len(found) == 0 {
				return fmt.Errorf("read %s: %s", r.text, gap.Message)
			}
			continue
		}
		if len(found) > 1 && r.group == "" && s.snapshot {
			var where []string
			for _, id := range found {
				where = append(where, g.Ref(id).Namespace)
			}
			return hint.With(fmt.Errorf("%s is in several namespaces: %s", r.text, strings.Join(where, ", ")), "name one with -n, or all of them with -A")
		}
		if len(found) > 0 {
			continue
		}
		return s.notFound(g, r)
	}
	return nil
}

// gapOf returns why a kind could not be read where the roots are.
func (s *session) gapOf(g *graph.Graph, kind object.Resource, in string) (object.Gap, bool) {
	for _, gap := range g.Gaps() {
		if gap.Resource == kind.String() && (gap.Namespace == "" || gap.Namespace == in) {
			return gap, true
		}
	}
	return object.Gap{}, false
}

func (s *session) notFound(g *graph.Graph, r rootArg) error {
	where, in := "", s.namespaceOf(r)
	if in != "" && (r.group != "" || r.kind.Namespaced) {
		where = " in namespace " + in
	}
	if r.group == graph.BySystem {
		return s.noSystem(g, r, where)
	}
	if r.group != "" {
		what := map[string]string{"helm": "Helm release", "app": "application (label " + graph.InstanceLabel + ")"}[r.group]
		return fmt.Errorf("no object of the %s %q%s", what, r.name, where)
	}
	if gap, ok := s.gapOf(g, r.kind, in); ok {
		return fmt.Errorf("read %s%s: %s", r.text, where, gap.Message)
	}
	err := fmt.Errorf("%s %q not found%s", r.kind, r.name, where)
	var there []string
	for id := range g.OfKind(r.kind.GroupKind()) {
		if ref := g.Ref(id); g.State(id) == graph.Present && (in == "" || ref.Namespace == in || ref.Namespace == "") {
			there = append(there, ref.Name)
		}
	}
	switch none := len(there) == 0; {
	case none && !s.inv.Covered(r.kind.GroupKind(), in):
		return err // It was asked for by name: what others there are is not known.
	case none && where != "":
		return hint.With(err, "there are no "+r.kind.String()+" in it; -n names another namespace, -A searches all")
	case none:
		return hint.With(err, "there are no "+r.kind.String())
	}
	const few = 8
	more := ""
	if len(there) > few {
		there, more = there[:few], ", ..."
	}
	return hint.With(err, "there are "+strings.Join(there, ", ")+more)
}

// home is the namespace that need not be written: that of the user, or the one
// that all roots share.
func (s *session) home(g *graph.Graph, roots []graph.ID) string {
	if s.namespace != "" || len(roots) == 0 {
		return s.namespace
	}
	ns := g.Ref(roots[0]).Namespace
	for _, id := range roots {
		if g.Ref(id).Namespace != ns {
			return ""
		}
	}
	return ns
}

// survey reads the namespace of the user, or everything, and nothing that this
// leads to.
func (s *session) survey(ctx context.Context) (*graph.Graph, error) {
	ask := source.Query{Namespaces: []string{s.namespace}, Kinds: s.rules.Crossing()}
	if s.namespace == "" {
		ask = source.Query{All: true}
	}
	return s.read(ctx, ask, func(*graph.Graph) []graph.ID { return nil }, graph.StackOptions{})
}
