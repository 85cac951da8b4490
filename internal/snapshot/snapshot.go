// Package snapshot takes the objects of stacks, of a namespace or of a cluster, to be read later in
// place of the cluster.
package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Request says what is taken.
type Request struct {
	Roots      []string // none for the namespace, or the cluster
	IncludeEnv bool     // keep the values of environment variables
	NoMetrics  bool     // leave out the usage of pods
}

// Taken is a snapshot.
type Taken struct {
	Header  source.SnapshotHeader
	Objects []map[string]any
	Session *app.Session
	Graph   *graph.Graph
}

// Take reads the graph, and then its objects whole.
func Take(ctx context.Context, in *app.Input, q *Request) (*Taken, error) {
	s, err := in.Open(ctx)
	if err != nil {
		return nil, err
	}
	keep, g, err := chosen(ctx, in, s, q)
	if err != nil {
		return nil, err
	}
	keeper, err := read(ctx, in, s, keep)
	if err != nil {
		return nil, err
	}
	out := &Taken{Header: headerOf(s, g, len(q.Roots) == 0), Objects: keeper.Objects(), Session: s, Graph: g}
	if gone := len(keep) - len(out.Objects); gone > 0 {
		in.Report.Warn(fmt.Sprintf("%d objects were deleted or could not be read, and are missing from the file", gone))
	}
	for _, fields := range out.Objects {
		source.Redact(fields, q.IncludeEnv)
	}
	if out.Header.Creators, err = creators(ctx, s, keeper); err != nil {
		return nil, err
	}
	if !q.NoMetrics {
		samples, gaps, err := measured(ctx, s, out.Objects)
		if err != nil {
			return nil, err
		}
		in.Report.Gaps(gaps)
		out.Objects, out.Header.Gaps = append(out.Objects, samples...), append(out.Header.Gaps, gaps...)
	}
	return out, nil
}

// chosen reads the graph and returns which objects belong into the snapshot.
func chosen(ctx context.Context, in *app.Input, s *app.Session, q *Request) (map[object.Ref]bool, *graph.Graph, error) {
	var roots []app.Root
	ask := source.Query{All: true}
	if !in.AllNamespaces && s.Namespace != "" {
		ask = source.Query{Namespaces: []string{s.Namespace}, Kinds: s.Rules.Crossing(), Objects: []object.Ref{{Kind: "Namespace", Name: s.Namespace}}}
	}
	if len(q.Roots) > 0 {
		var err error
		if roots, err = app.ParseRoots(q.Roots, s.Kinds); err != nil {
			return nil, nil, err
		}
		ask = s.Query(roots)
	}
	find := func(g *graph.Graph) []graph.ID {
		if roots != nil {
			return s.Resolve(g, roots, nil)
		}
		return s.Everything(g)
	}
	g, err := s.Read(ctx, ask, find, graph.StackOptions{})
	if err != nil {
		return nil, nil, err
	}
	if err := s.Missing(g, roots, nil); err != nil {
		return nil, nil, err
	}
	s.ReportGaps(g)
	if gaps := g.Gaps(); roots == nil && len(find(g)) == 0 && len(gaps) > 0 {
		location := ""
		if s.Namespace != "" {
			location = " in " + s.Namespace
		}
		return nil, nil, fmt.Errorf("no object could be read%s: %s", location, gaps[0].Message)
	}
	stack := g.Union(find(g), graph.StackOptions{})
	keep := map[object.Ref]bool{}
	for _, id := range slices.Concat(stack, ownersAbove(g, find(g)), s.Keepers(g)) {
		if g.State(id) == graph.Present {
			keep[g.Ref(id)] = true
		}
	}
	if roots == nil && s.Namespace != "" {
		ref := object.Ref{Kind: "Namespace", Name: s.Namespace}
		if id, ok := g.Find(ref); ok && g.State(id) == graph.Present {
			keep[ref] = true
		} else if len(keep) == 0 {
			return nil, nil, fmt.Errorf("namespace %q is empty or does not exist", s.Namespace)
		}
	}
	keepDefinitions(s, keep)
	return keep, g, nil
}

// ownersAbove are the owners above the roots: without them, a part would
// look like a wrong owner reference.
func ownersAbove(g *graph.Graph, roots []graph.ID) []graph.ID {
	return g.Stack(roots, graph.StackOptions{Up: true, Relations: []relation.Relation{relation.Owns}}).Members()
}

// keepDefinitions adds the CustomResourceDefinitions of the kinds that are kept.
func keepDefinitions(s *app.Session, keep map[object.Ref]bool) {
	for ref := range keep {
		if k, ok := s.Kinds.Kind(ref.GroupKind()); ok && k.Custom {
			keep[object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: k.String()}] = true
		}
	}
}

// read reads the chosen objects a second time, whole.
func read(ctx context.Context, in *app.Input, s *app.Session, keep map[object.Ref]bool) (*source.MemorySink, error) {
	keeper := source.NewMemorySink(s.Inventory, func(r object.Ref) bool { return keep[r] })
	refs := make([]object.Ref, 0, len(keep))
	for r := range keep {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, object.Compare)
	whole, err := in.WholeSource(ctx, s, source.Whole)
	if err != nil {
		return nil, err
	}
	return keeper, whole.Read(ctx, source.Query{Objects: refs}, keeper)
}

// creators says who made what has no owner.
func creators(ctx context.Context, s *app.Session, keeper *source.MemorySink) ([]source.Creator, error) {
	created := keeper.Creators()
	if snap, ok := s.Source.(*source.Snapshot); ok {
		var err error
		if created, err = snap.Creators(ctx, keeper.Tops()); err != nil {
			return nil, err
		}
	}
	return source.CreatorsOf(created), nil
}

// headerOf says what the snapshot covers: whole kinds if a namespace or the cluster was taken, and the
// named objects that are missing.
func headerOf(s *app.Session, g *graph.Graph, whole bool) source.SnapshotHeader {
	head := source.SnapshotHeader{Gaps: g.Gaps(), Taken: metav1.NewTime(s.AsOf().UTC().Truncate(time.Second))}
	if whole {
		for gk, ns := range s.Inventory.Coverage() {
			if s.Namespace == "" || ns == s.Namespace {
				head.Covered = append(head.Covered, source.Scope{Group: gk.Group, Kind: gk.Kind, Namespace: ns})
			}
		}
		slices.SortFunc(head.Covered, func(a, b source.Scope) int {
			return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace))
		})
	}
	for id := range graph.ID(g.Len()) {
		if g.State(id) == graph.Missing {
			head.Absent = append(head.Absent, g.Ref(id).String())
		}
	}
	return head
}
