package app

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

// Root is one ROOT of the command line.
type Root struct {
	Text  string
	Kind  object.Resource
	Group string // helm, app or system, beside or instead of a kind
	Name  string // empty for all of the kind
	// Namespace is set where the root was written as we print it, Kind/ns/name.
	Namespace string
	// Missing says that it may also be missing, if something names it.
	Missing bool
}

// matches reports whether a node can be what the root names.
func (r Root) matches(g *graph.Graph, id graph.ID) bool {
	return g.WasRead(id) || r.Missing && g.State(id) == graph.Missing
}

// ParseRoots reads TYPE/NAME..., TYPE NAME... or TYPE, as kubectl does.
func ParseRoots(args []string, kinds *object.Kinds) ([]Root, error) {
	slashed := slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "/") })
	var out []Root
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

// ParseSelector reads the labels of --selector; nil for none.
func ParseSelector(text string) (labels.Selector, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--selector %q: %w", text, err)
	}
	return selector, nil
}

// SelectedRoots reads roots, with a selector that chooses among them; nil for all.
func SelectedRoots(args []string, selector labels.Selector, kinds *object.Kinds) ([]Root, error) {
	roots, err := ParseRoots(args, kinds)
	if err != nil {
		return nil, err
	}
	if selector != nil && slices.ContainsFunc(roots, func(r Root) bool { return r.Name != "" }) {
		return nil, fmt.Errorf("--selector chooses among all of a TYPE: it excludes a name")
	}
	return roots, nil
}

// slashedRoot reads TYPE/NAME, or TYPE/NAMESPACE/NAME as we print it.
func slashedRoot(text string, kinds *object.Kinds) (Root, error) {
	parts := strings.Split(text, "/")
	switch {
	case len(parts) == 1:
		return Root{}, fmt.Errorf("root %q: if one root is TYPE/NAME, all must be", text)
	case len(parts) > 3 || slices.Contains(parts, ""):
		return Root{}, fmt.Errorf("root %q: expected TYPE/NAME, or TYPE/NAMESPACE/NAME", text)
	}
	r, err := oneRoot(text, parts[0], parts[len(parts)-1], kinds)
	if err != nil || len(parts) == 2 {
		return r, err
	}
	if r.Group == "" && !r.Kind.Namespaced {
		return r, fmt.Errorf("root %q: %s are not namespaced: expected TYPE/NAME", text, r.Kind)
	}
	r.Namespace = parts[1]
	return r, nil
}

// oneRoot finds the kind. A name of a group may be one of a kind as well: app is short for the
// Application of Argo CD. Then it means both.
func oneRoot(text, typ, name string, kinds *object.Kinds) (Root, error) {
	k, err := kinds.Find(typ)
	if slices.Contains([]string{graph.ByHelm, graph.ByApp, graph.BySystem}, typ) && name != "" {
		return Root{Text: text, Group: typ, Name: name, Kind: k}, nil
	}
	if err != nil {
		return Root{}, fmt.Errorf("root %q: %w", text, err)
	}
	return Root{Text: text, Kind: k, Name: name}, nil
}

// Query returns the query that finds the roots: their namespace and what refers into it, or
// everything where a root is cluster-scoped.
func (s *Session) Query(roots []Root) source.Query {
	all := s.Input.AllNamespaces || s.Namespace == ""
	s.systems = slices.DeleteFunc(slices.Clone(roots), func(r Root) bool { return r.Group != graph.BySystem })
	for _, r := range roots {
		s.Input.Definitions = s.Input.Definitions || r.Group == "" && r.Kind.GroupKind() == DefinitionKind
		if r.Group == "" && !r.Kind.Namespaced && (r.Kind.String() != "namespaces" || r.Name == "") {
			all = true
		}
	}
	if all {
		for _, r := range roots {
			if r.Group == "" && source.LeftOut(r.Kind) {
				s.Input.Include = append(s.Input.Include, r.Kind.GroupKind())
			}
		}
		return source.Query{All: true}
	}
	ask := source.Query{Kinds: s.Rules.Crossing()}
	for _, refs := range s.releases {
		ask.Objects = append(ask.Objects, refs...)
	}
	for _, r := range roots {
		ref := object.Ref{Group: r.Kind.Group, Kind: r.Kind.Kind, Namespace: s.NamespaceOf(r), Name: r.Name}
		if !slices.Contains(ask.Namespaces, ref.Namespace) {
			ask.Namespaces = append(ask.Namespaces, ref.Namespace)
		}
		switch {
		case r.Group != "":
		case r.Name == "" && source.LeftOut(r.Kind):
			s.Input.Include = append(s.Input.Include, r.Kind.GroupKind())
		case r.Name == "":
		case r.Kind.Namespaced && !source.LeftOut(r.Kind):
			// It comes with its namespace.
		case r.Kind.Namespaced:
			ask.Objects = append(ask.Objects, ref)
		default:
			ref.Namespace = ""
			ask.Objects = append(ask.Objects, ref)
		}
	}
	return ask
}

// NamespaceOf is the namespace to search for a root, or the root itself; empty for all.
func (s *Session) NamespaceOf(r Root) string {
	switch {
	case r.Namespace != "":
		return r.Namespace
	case r.Group == "" && r.Kind.String() == "namespaces" && r.Name != "":
		return r.Name
	}
	return s.Namespace
}

// Resolve returns the nodes of the roots that exist.
func (s *Session) Resolve(g *graph.Graph, roots []Root, selector labels.Selector) []graph.ID {
	var out []graph.ID
	for _, r := range roots {
		out = append(out, s.Nodes(g, r, selector)...)
	}
	return out
}

// Together maps the objects of each group to its first: they are one root.
func (s *Session) Together(g *graph.Graph, roots []Root) map[graph.ID]graph.ID {
	as := map[graph.ID]graph.ID{}
	for _, r := range roots {
		if r.Group == "" {
			continue
		}
		ids := s.Nodes(g, r, nil)
		for _, id := range ids {
			if _, taken := as[id]; !taken {
				as[id] = ids[0]
			}
		}
	}
	return as
}

// Nodes returns the nodes that a root names.
func (s *Session) Nodes(g *graph.Graph, r Root, selector labels.Selector) []graph.ID {
	if r.Group != "" {
		one := r
		one.Group = ""
		return append(s.grouped(g, r), s.Nodes(g, one, selector)...)
	}
	if r.Kind.Kind == "" {
		return nil
	}
	in := s.NamespaceOf(r)
	if r.Name != "" && (in != "" || !r.Kind.Namespaced) {
		ref := object.Ref{Group: r.Kind.Group, Kind: r.Kind.Kind, Name: r.Name}
		if r.Kind.Namespaced {
			ref.Namespace = in
		}
		id, ok := g.Find(ref)
		if !ok || !r.matches(g, id) {
			return nil
		}
		return []graph.ID{id}
	}
	var out []graph.ID
	for id := range g.OfKind(r.Kind.GroupKind()) {
		ref := g.Ref(id)
		switch {
		case !r.matches(g, id), r.Name != "" && ref.Name != r.Name:
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
func (s *Session) grouped(g *graph.Graph, r Root) []graph.ID {
	if r.Group == graph.BySystem {
		return s.inSystem(g, r)
	}
	var further []graph.ID
	if r.Group == graph.ByHelm {
		for _, ref := range s.releases[r.Name] {
			if id, ok := g.Find(ref); ok && g.State(id) == graph.Present {
				further = append(further, id)
			}
		}
	}
	return g.InGroup(r.Group, s.NamespaceOf(r), r.Name, further...)
}

// ReadReleases reads from Helm's records what the releases among the roots installed.
func (s *Session) ReadReleases(ctx context.Context, roots []Root) error {
	if !slices.ContainsFunc(roots, func(r Root) bool { return r.Group == "helm" }) {
		return fmt.Errorf("--helm-manifest needs a root helm/RELEASE")
	}
	s.releases = map[string][]object.Ref{}
	for _, r := range roots {
		if r.Group != "helm" {
			continue
		}
		cluster, ok := s.Source.(*source.Cluster)
		if !ok {
			return hint.With(fmt.Errorf("--helm-manifest: a snapshot has no data of Secrets"), "without the flag, the annotations of the objects are used")
		}
		namespace := s.NamespaceOf(r)
		if namespace == "" {
			return fmt.Errorf("--helm-manifest: name the namespace of the release with -n")
		}
		refs, err := cluster.HelmRelease(ctx, namespace, r.Name)
		if err != nil {
			return hint.With(fmt.Errorf("read the Helm release %q in namespace %s: %w", r.Name, namespace, err), "without --helm-manifest, the annotations of the objects are used")
		}
		s.releases[r.Name] = refs
	}
	return nil
}

// Missing returns why a root was not found.
func (s *Session) Missing(g *graph.Graph, roots []Root, selector labels.Selector) error {
	for _, r := range roots {
		found := s.Nodes(g, r, selector)
		if r.Name == "" {
			if gap, ok := s.GapOf(g, r.Kind, s.NamespaceOf(r)); ok && len(found) == 0 {
				return fmt.Errorf("read %s: %s", r.Text, gap.Message)
			}
			continue
		}
		if len(found) > 1 && r.Group == "" && s.Snapshot {
			var places []string
			for _, id := range found {
				places = append(places, g.Ref(id).Namespace)
			}
			return hint.With(fmt.Errorf("%s is in several namespaces: %s", r.Text, strings.Join(places, ", ")), "name one with -n, or all of them with -A")
		}
		if len(found) > 0 {
			continue
		}
		return s.notFound(g, r)
	}
	return nil
}

// GapOf returns why a kind could not be read where the roots are.
func (s *Session) GapOf(g *graph.Graph, kind object.Resource, in string) (object.Gap, bool) {
	for _, gap := range g.Gaps() {
		if gap.Resource == kind.String() && (gap.Namespace == "" || gap.Namespace == in) {
			return gap, true
		}
	}
	return object.Gap{}, false
}

func (s *Session) notFound(g *graph.Graph, r Root) error {
	place, in := "", s.NamespaceOf(r)
	if in != "" && (r.Group != "" || r.Kind.Namespaced) {
		place = " in namespace " + in
	}
	if r.Group == graph.BySystem {
		return s.noSystem(g, r, place)
	}
	if r.Group != "" {
		group := map[string]string{"helm": "Helm release", "app": "application (label " + graph.InstanceLabel + ")"}[r.Group]
		return fmt.Errorf("no object of the %s %q%s", group, r.Name, place)
	}
	if gap, ok := s.GapOf(g, r.Kind, in); ok {
		return fmt.Errorf("read %s%s: %s", r.Text, place, gap.Message)
	}
	err := fmt.Errorf("%s %q not found%s", r.Kind, r.Name, place)
	var existing []string
	for id := range g.OfKind(r.Kind.GroupKind()) {
		if ref := g.Ref(id); g.State(id) == graph.Present && (in == "" || ref.Namespace == in || ref.Namespace == "") {
			existing = append(existing, ref.Name)
		}
	}
	switch none := len(existing) == 0; {
	case none && !s.Inventory.Covered(r.Kind.GroupKind(), in):
		return err // It was named: the other objects of its kind are unknown.
	case none && place != "":
		return hint.With(err, "there are no "+r.Kind.String()+" in it; -n names another namespace, -A searches all")
	case none:
		return hint.With(err, "there are no "+r.Kind.String())
	}
	const maxShown = 8
	more := ""
	if len(existing) > maxShown {
		existing, more = existing[:maxShown], ", ..."
	}
	return hint.With(err, "there are "+strings.Join(existing, ", ")+more)
}

// CommonNamespace is the namespace that output omits: that of the user, or the one that all roots share.
func (s *Session) CommonNamespace(g *graph.Graph, roots []graph.ID) string {
	if s.Namespace != "" || len(roots) == 0 {
		return s.Namespace
	}
	ns := g.Ref(roots[0]).Namespace
	for _, id := range roots {
		if g.Ref(id).Namespace != ns {
			return ""
		}
	}
	return ns
}

// Survey reads the namespace of the user, or everything, without what it references elsewhere.
func (s *Session) Survey(ctx context.Context) (*graph.Graph, error) {
	ask := source.Query{Namespaces: []string{s.Namespace}, Kinds: s.Rules.Crossing()}
	if s.Namespace == "" {
		ask = source.Query{All: true}
	}
	return s.Read(ctx, ask, func(*graph.Graph) []graph.ID { return nil }, graph.StackOptions{})
}
