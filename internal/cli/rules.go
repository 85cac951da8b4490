package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/infer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

func newRules(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Show, explain, check and export relationship rules",
		Long: `Rules say how objects are related. They come from four places: built in, from the
operator catalog, from annotations of the CRDs in the cluster, and from your own files
(--rules FILE). docs/rules-file.md has the grammar of the files and of the annotation
sysop.dev/relationships; KubePlus's resource/* annotations are read as well.`,
	}
	holds(cmd)
	cmd.AddCommand(newRulesList(env), newRulesExplain(env), newRulesLint(env), newRulesExport(env))
	return cmd
}

type rulesListOptions struct {
	*common
	args   []string
	origin []string
	used   bool
}

func newRulesList(env Env) *cobra.Command {
	o := &rulesListOptions{common: newCommon(env, "table", "wide", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:   "list [KIND]",
		Short: "List the rules, and how many edges each makes",
		Long: `List the relationship rules for this cluster: the kinds that a rule reads, the relation,
the field, where the rule comes from, and how many edges it makes in the namespace (in
all of them with -A). Catalog rules of operators that are not installed are left out.`,
		Example: `  # every rule
  kubectl sysop rules list --from demo

  # those that read a kind or point to it
  kubectl sysop rules list deployment --from demo

  # those of the CRDs' annotations that say anything here
  kubectl sysop rules list --origin crd --used -A --from demo`,
		Args:              between(0, 1, "one KIND, or none"),
		ValidArgsFunction: o.completeOneKind,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	o.writing(cmd)
	cmd.Flags().StringSliceVar(&o.origin, "origin", nil, "only rules of these origins: "+strings.Join(origins, ", "))
	cmd.Flags().BoolVar(&o.used, "used", false, "only rules that make an edge here")
	must(cmd.RegisterFlagCompletionFunc("origin", cobra.FixedCompletions(origins, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// origins are the first words of Rule.Origin; BuiltIn is the empty one.
var origins = []string{view.BuiltIn, "catalog", "crd", "file", infer.Origin}

// originWord is the first word of an origin.
func originWord(origin string) string {
	word, _, _ := strings.Cut(origin, " ")
	if word == "" {
		return view.BuiltIn
	}
	return strings.ToLower(word)
}

func (o *rulesListOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	for i, w := range o.origin {
		if w == "catalogue" { // The former spelling.
			w, o.origin[i] = "catalog", "catalog"
		}
		if !slices.Contains(origins, w) {
			return hint.With(fmt.Errorf("unknown origin %q", w), "write some of "+strings.Join(origins, ", "))
		}
	}
	s, err := o.Open(ctx)
	if err != nil {
		return err
	}
	want := func(relation.Rule) bool { return true }
	if len(o.args) == 1 {
		k, err := s.Kinds.Find(o.args[0])
		if err != nil {
			return err
		}
		want = func(r relation.Rule) bool { return reads(r, k.GroupKind()) || pointsAt(r, k.GroupKind()) }
	}
	g, err := s.Survey(ctx)
	if err != nil {
		return err
	}
	s.ReportGaps(g)
	rules := slices.DeleteFunc(counted(s.Rules, g), func(r view.CountedRule) bool {
		return !want(r.Rule) || o.used && r.Edges == 0 || len(o.origin) > 0 && !slices.Contains(o.origin, originWord(r.Origin))
	})
	if err := o.write(view.Rules(rules, g.Gaps())); err != nil {
		return err
	}
	if len(rules) == 0 {
		fmt.Fprintln(o.env.ErrOut, "no rules")
	}
	s.PrintTimings(g)
	return nil
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

type rulesExplainOptions struct {
	*common
	args []string
}

func newRulesExplain(env Env) *cobra.Command {
	o := &rulesExplainOptions{common: newCommon(env, "tree", "json", "yaml", "name")}
	cmd := &cobra.Command{
		Use:   "explain KIND | A B",
		Short: "Explain why two objects are related, or which rules apply to a kind",
		Long: `Explain an edge: which rules relate two objects, on what evidence, what that means, and
where each rule comes from. With one KIND: the rules that read its objects, and the
rules of other kinds that point to them.`,
		Example: `  # why are these two related?
  kubectl sysop rules explain deployment/moodle-1 secret/moodle-1-admin --from demo

  # what is known of a kind?
  kubectl sysop rules explain moodle --from demo`,
		Args:              between(1, 3, "a KIND, or two objects, each TYPE/NAME"),
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.args = args
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	o.writing(cmd)
	return cmd
}

func (o *rulesExplainOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	args, err := edgeArgs(o.args)
	switch {
	case err != nil:
		return err
	case len(args) == 1 && !strings.Contains(args[0], "/"):
		return o.explainKind(ctx, args[0])
	case len(args) == 2:
		return o.explainEdge(ctx, args)
	}
	return hint.With(fmt.Errorf("expected a KIND, or two objects, each TYPE/NAME"), "kubectl sysop rules explain --help has examples")
}

// edgeArgs takes an edge as fixtures and names write it: A --needs--> B.
func edgeArgs(args []string) ([]string, error) {
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

func (o *rulesExplainOptions) explainEdge(ctx context.Context, args []string) error {
	s, g, ids, err := o.Objects(ctx, args, graph.StackOptions{})
	if err != nil {
		return err
	}
	var edges []graph.Edge
	for _, pair := range [][2]graph.ID{{ids[0], ids[1]}, {ids[1], ids[0]}} {
		for e := range g.Between(pair[0], pair[1]) {
			edges = append(edges, e)
		}
	}
	source := func(e graph.Edge) string {
		for _, r := range s.Rules.Rules() {
			if r.Name == e.Rule && r.Origin == e.Origin {
				return r.Source
			}
		}
		return ""
	}
	subject := g.Ref(ids[0]).String() + " " + g.Ref(ids[1]).String()
	if err := o.write(view.ExplainEdges(g, subject, edges, source)); err != nil {
		return err
	}
	if len(edges) == 0 {
		fmt.Fprintf(o.env.ErrOut, "no rule relates %s and %s directly\nhint: kubectl sysop path %s %s shows a chain, if there is one\n",
			safe(g.Ref(ids[0]).String()), safe(g.Ref(ids[1]).String()), safe(args[0]), safe(args[1]))
	}
	s.PrintTimings(g)
	return nil
}

func (o *rulesExplainOptions) explainKind(ctx context.Context, name string) error {
	s, err := o.Open(ctx)
	if err != nil {
		return err
	}
	k, err := s.Kinds.Find(name)
	if err != nil {
		return err
	}
	g, err := s.Survey(ctx)
	if err != nil {
		return err
	}
	s.ReportGaps(g)
	var outgoing, incoming []view.CountedRule
	pods, ofPods := podRules(), 0
	for _, r := range counted(s.Rules, g) {
		switch {
		case pods[r.Name] && r.Origin != "" && r.Edges == 0:
			if reads(r.Rule, k.GroupKind()) {
				ofPods++
			}
		case reads(r.Rule, k.GroupKind()):
			outgoing = append(outgoing, r)
		case pointsAt(r.Rule, k.GroupKind()):
			incoming = append(incoming, r)
		}
	}
	if err := o.write(view.ExplainKind(k.GroupKind().String(), outgoing, incoming, g.Gaps())); err != nil {
		return err
	}
	if ofPods > 0 {
		fmt.Fprintf(o.env.ErrOut, "and %d rules of pods, for the pod templates in it, which make no edge here (rules list %s)\n", ofPods, safe(name))
	}
	if e, _, ok := catalog.KindOf(k); ok && len(outgoing)+len(incoming) == 0 {
		fmt.Fprintf(o.env.ErrOut, "%s knows no relationship of %s\n", e.Origin(), k.GroupKind())
	} else if len(outgoing)+len(incoming) == 0 {
		fmt.Fprintf(o.env.ErrOut, "no rule applies to %s; owner references hold for every kind\n", k.GroupKind())
	}
	s.PrintTimings(g)
	return nil
}
