// Package rules answers questions about the relationship rules themselves: which apply (List, OfKind),
// whether they fit the cluster (Lint), and what a CRD can declare of its kind (Export).
package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/infer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Origins are the first words of the origins of rules.
func Origins() []string { return []string{view.BuiltIn, "catalog", "crd", "file", infer.Origin} }

// originWord is the first word of an origin.
func originWord(origin string) string {
	word, _, _ := strings.Cut(origin, " ")
	if word == "" {
		return view.BuiltIn
	}
	return strings.ToLower(word)
}

// ListRequest chooses rules.
type ListRequest struct {
	Kind    string   // only rules that read it or point to it; empty for all
	Origins []string // only rules of these; empty for all
	Used    bool     // only rules that make an edge
}

// Listed are rules, with how many edges each makes.
type Listed struct {
	Rules   []view.CountedRule
	Session *app.Session
	Graph   *graph.Graph
}

// survey reads everything, and counts the edges of each rule.
func survey(ctx context.Context, in *app.Input, kind string) (*Listed, object.Resource, error) {
	var k object.Resource
	s, err := in.Open(ctx)
	if err != nil {
		return nil, k, err
	}
	if kind != "" {
		if k, err = s.Kinds.Find(kind); err != nil {
			return nil, k, err
		}
	}
	g, err := s.Survey(ctx)
	if err != nil {
		return nil, k, err
	}
	s.ReportGaps(g)
	return &Listed{counted(s.Rules, g), s, g}, k, nil
}

// List returns the rules that make edges.
func List(ctx context.Context, in *app.Input, q *ListRequest) (*Listed, error) {
	for _, w := range q.Origins {
		if !slices.Contains(Origins(), w) {
			return nil, hint.With(fmt.Errorf("unknown origin %q", w), "write some of "+strings.Join(Origins(), ", "))
		}
	}
	found, k, err := survey(ctx, in, q.Kind)
	if err != nil {
		return nil, err
	}
	found.Rules = slices.DeleteFunc(found.Rules, func(r view.CountedRule) bool {
		return q.Kind != "" && !reads(r.Rule, k.GroupKind()) && !pointsAt(r.Rule, k.GroupKind()) ||
			q.Used && r.Edges == 0 || len(q.Origins) > 0 && !slices.Contains(q.Origins, originWord(r.Origin))
	})
	return found, nil
}

// KindRules are the rules of a kind.
type KindRules struct {
	*Listed
	Kind               object.Resource
	Outgoing, Incoming []view.CountedRule // that read its objects, and that point to them
	OfPods             int                // rules of the pod templates in it, which make no edge
}

// OfKind returns the rules that read the objects of a kind, and those that point to them.
func OfKind(ctx context.Context, in *app.Input, name string) (*KindRules, error) {
	found, k, err := survey(ctx, in, name)
	if err != nil {
		return nil, err
	}
	out := &KindRules{Listed: found, Kind: k}
	pods := podRules()
	for _, r := range found.Rules {
		switch {
		case pods[r.Name] && r.Origin != "" && r.Edges == 0:
			if reads(r.Rule, k.GroupKind()) {
				out.OfPods++
			}
		case reads(r.Rule, k.GroupKind()):
			out.Outgoing = append(out.Outgoing, r)
		case pointsAt(r.Rule, k.GroupKind()):
			out.Incoming = append(out.Incoming, r)
		}
	}
	return out, nil
}

// Related are the edges between two objects.
type Related struct {
	A, B    object.Ref
	Edges   []graph.Edge
	Session *app.Session
	Graph   *graph.Graph
}

// Between returns the edges between two objects, in both directions.
func Between(ctx context.Context, in *app.Input, pair []string) (*Related, error) {
	s, g, ids, err := in.Objects(ctx, pair, graph.StackOptions{})
	if err != nil {
		return nil, err
	}
	out := &Related{A: g.Ref(ids[0]), B: g.Ref(ids[1]), Session: s, Graph: g}
	for _, pair := range [][2]graph.ID{{ids[0], ids[1]}, {ids[1], ids[0]}} {
		out.Edges = slices.AppendSeq(out.Edges, g.Between(pair[0], pair[1]))
	}
	return out, nil
}

// SourceOf is where the rule of an edge is described.
func (r *Related) SourceOf(e graph.Edge) string {
	all := r.Session.Rules.Rules()
	if i := slices.IndexFunc(all, func(r relation.Rule) bool { return r.Name == e.Rule && r.Origin == e.Origin }); i >= 0 {
		return all[i].Source
	}
	return ""
}

// counted returns the rules that make edges, with how many each of them made.
func counted(set *relation.Set, g *graph.Graph) []view.CountedRule {
	edges := g.EdgesByRule()
	out := make([]view.CountedRule, 0, len(edges))
	for i, r := range set.Rules() {
		if !r.Evidence {
			out = append(out, view.CountedRule{Rule: r, Edges: edges[i]})
		}
	}
	return out
}

func reads(r relation.Rule, gk schema.GroupKind) bool {
	return slices.Contains(r.From, gk)
}

// pointsAt says whether the rule says something of others to this kind. A kind
// without a group is a built-in one, or one that has its name alone.
func pointsAt(r relation.Rule, gk schema.GroupKind) bool {
	for name := range strings.SplitSeq(r.To, ",") {
		name = strings.TrimSpace(name)
		builtIn := declare.CheckKind(name) == ""
		if builtIn && declare.GroupKind(name) == gk || !builtIn && name == gk.Kind {
			return true
		}
	}
	return false
}

// podRules are the names of the rules that hold for every pod template.
func podRules() map[string]bool {
	names := map[string]bool{}
	for _, r := range relation.PodRules(nil, "", "") {
		names[r.Name] = true
	}
	return names
}

// EdgeArgs takes an edge as fixtures and names write it: A --needs--> B.
func EdgeArgs(args []string) ([]string, error) {
	words := strings.Fields(strings.Join(args, " "))
	if len(words) != 3 {
		return words, nil
	}
	if name := strings.Trim(words[1], "-─→>"); name != "" {
		if _, ok := relation.ParseRelation(name); !ok {
			return nil, hint.With(fmt.Errorf("unknown relation %q", words[1]), "write A B, or A owns B, A needs B, A serves B")
		}
	}
	return []string{words[0], words[2]}, nil
}
