package app

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/level"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/all"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// CheckRun is one answer of the check command, before it is shown.
type CheckRun struct {
	in      *Input
	q       *CheckRequest
	Session *Session
	facts   *check.Collector
	copies  *HealthCollector
	Graph   *graph.Graph
	world   *check.ClusterState

	Targets     checkTargets
	operators   []*check.Operator // the selected ones
	definitions []object.Ref
	stacks      []metrics.Stack
	found       []*check.Subject
	Home        string
}

// surroundings are the cluster-scoped kinds that affect how the pods of a namespace run, in
// addition to the kinds that check itself reads.
var surroundings = []schema.GroupKind{{Kind: "Node"}, {Kind: "Namespace"}}

// Check reads what the request selects. It evaluates no rule yet.
func Check(ctx context.Context, input *Input, q *CheckRequest) (*CheckRun, error) {
	in := *input
	in.Extract = slices.Clone(in.Extract)
	c := &CheckRun{in: &in, q: q}
	return c, c.read(ctx)
}

// NewReport evaluates the rules.
func (c *CheckRun) NewReport(ctx context.Context) (*check.Report, error) {
	if err := c.subjects(ctx); err != nil {
		return nil, err
	}
	return check.NewReport(c.found, all.Rules(), c.q.Waivers, c.world, c.Session.AsOf()), nil
}

// Level is the level of the System that was checked; nil without one, and where rules of the levels
// were left out.
func (c *CheckRun) Level(report *check.Report, source level.Source) *level.Report {
	out, _ := level.Of(c.world.System, report, source)
	return out
}

// read reads what the targets need.
func (c *CheckRun) read(ctx context.Context) error {
	c.facts, c.copies = c.in.CollectFacts(), c.in.CollectCopies()
	var err error
	if c.Session, err = c.in.Open(ctx); err != nil {
		return err
	}
	s := c.Session
	if c.Targets, err = c.parseTargets(); err != nil {
		return err
	}
	t := &c.Targets
	roots := func(g *graph.Graph) []graph.ID { return s.Resolve(g, t.Roots, c.q.Selector) }
	var ask source.Query
	switch {
	case t.Everything:
		// An operator may run in any namespace, and may have permissions in any.
		ask, roots = source.Query{All: true}, s.Everything
		if !c.in.AllNamespaces && s.Namespace != "" {
			ask.Namespaces = []string{s.Namespace} // of what may not be listed in all
		}
	case len(t.operators)+len(t.kinds) > 0:
		ask = source.Query{All: true}
	default:
		ask = s.Query(t.Roots)
		if !ask.All {
			ask.Kinds = append(append(ask.Kinds, surroundings...), check.WantedEverywhere(s.Kinds)...)
			if c.q.Colocation {
				ask.Kinds = append(ask.Kinds, schema.GroupKind{Kind: "PersistentVolume"})
			}
		}
	}
	if c.Graph, err = s.Read(ctx, ask, roots, c.stackOptions()); err != nil {
		return err
	}
	if err := s.Missing(c.Graph, t.Roots, c.q.Selector); err != nil {
		return err
	}
	defer c.in.Clock.Stage("check")()
	c.world = s.CheckWorld(c.Graph, c.facts, s.Kinds, s.Inventory)
	c.world.Copies, c.world.Now = c.copies.Copies(c.Graph), s.AsOf()
	c.world.System = c.q.Rows.declared(t.Roots, func(r Root) []graph.ID { return s.Nodes(c.Graph, r, c.q.Selector) }, c.Graph)
	return c.choose()
}

func (c *CheckRun) stackOptions() graph.StackOptions {
	return graph.StackOptions{NoInferred: c.in.NoInferred}
}

// choose finds the operators, definitions and stacks of the request.
func (c *CheckRun) choose() error {
	t := &c.Targets
	opts := c.stackOptions()
	if t.Everything {
		c.operators = c.world.Operators()
		for _, o := range c.operators {
			c.definitions = append(c.definitions, o.Definitions...)
		}
		c.stacks = c.Session.find(c.Graph, opts)
		if !c.in.AllNamespaces && c.Session.Namespace != "" {
			c.stacks = slices.DeleteFunc(c.stacks, func(s metrics.Stack) bool { return s.Ref.Namespace != c.Session.Namespace })
		}
		c.Home = c.Session.Namespace
		return nil
	}
	for _, name := range t.operators {
		found := operator.Named(c.world, name)
		if len(found) == 0 {
			return c.noSuch(name)
		}
		for _, o := range found {
			c.operators = append(c.operators, o)
			c.definitions = append(c.definitions, o.Definitions...)
			for _, w := range o.Workloads {
				if id, ok := c.Graph.Find(w.Ref); ok {
					c.stacks = append(c.stacks, metrics.Stack{Ref: w.Ref, Roots: []graph.ID{id}})
				}
			}
		}
	}
	for _, k := range t.kinds {
		c.definitions = append(c.definitions, object.Ref{Group: DefinitionKind.Group, Kind: DefinitionKind.Kind, Name: k.String()})
	}
	named := c.q.Rows.stacks(t.Roots, func(r Root) []metrics.Stack {
		return c.Session.StacksOf(c.Graph, r, c.Session.Nodes(c.Graph, r, c.q.Selector))
	})
	c.stacks = append(c.stacks, named...)
	c.Home = c.Session.CommonNamespace(c.Graph, c.Session.Resolve(c.Graph, t.Roots, c.q.Selector))
	return nil
}

func (c *CheckRun) noSuch(name string) error {
	var names []string
	for _, o := range c.world.Operators() {
		names = append(names, o.Name)
	}
	err := fmt.Errorf("%q is neither a kind nor an operator", name)
	if near := operator.Near(c.world, name); len(near) > 0 {
		return fmt.Errorf("%w%s", err, object.DidYouMean(near))
	}
	const maxShown = 8
	switch {
	case len(names) == 0:
		return hint.With(err, "no operators found; a stack is written TYPE/NAME")
	case len(names) > maxShown:
		names = append(names[:maxShown:maxShown], "...")
	}
	return hint.With(err, "operators are "+strings.Join(names, ", ")+"; a stack is written TYPE/NAME")
}

// subjects checks all subjects of the request.
func (c *CheckRun) subjects(ctx context.Context) error {
	defer c.in.Clock.Stage("check")()
	for _, o := range c.operators {
		c.found = append(c.found, o.Check(c.q.Rules))
	}
	if err := c.define(ctx); err != nil {
		return err
	}
	for stack := range c.eachStack() {
		c.found = append(c.found, stack.Check(c.q.Rules))
	}
	return nil
}

// eachStack yields each stack of the request once.
func (c *CheckRun) eachStack() iter.Seq[*check.Stack] {
	return func(yield func(*check.Stack) bool) {
		seen := map[object.Ref]bool{}
		for _, s := range c.stacks {
			if seen[s.Ref] {
				continue
			}
			seen[s.Ref] = true
			opts := c.stackOptions()
			opts.SameRoot = map[graph.ID]graph.ID{}
			for _, id := range s.Roots {
				opts.SameRoot[id] = s.Roots[0]
			}
			if !yield(&check.Stack{World: c.world, Ref: s.Ref, Stack: c.Graph.Stack(s.Roots, opts)}) {
				return
			}
		}
	}
}

// define checks the definitions. They are huge: it reads each one whole, and keeps none.
func (c *CheckRun) define(ctx context.Context) error {
	refs := slices.Compact(slices.SortedFunc(slices.Values(c.definitions), object.Compare))
	if len(refs) == 0 || !slices.ContainsFunc(c.q.Rules, func(r check.Rule) bool { return r.Definition != nil }) {
		return nil
	}
	declaredBy := map[string][]string{}
	for _, f := range c.Session.Findings {
		declaredBy[f.CRD] = append(declaredBy[f.CRD], f.String())
	}
	declared := map[string]annotations.Declaration{}
	for _, d := range c.Session.Declared {
		declared[d.CRD] = d
	}
	var failed error
	creators, err := c.Session.Creators(ctx, refs)
	if err != nil {
		return err
	}
	subjects := map[object.Ref]*check.Subject{}
	err = c.Session.readDefinitions(ctx, refs, func(fields map[string]any) {
		d, err := check.NewDefinition(c.world, fields)
		if err != nil {
			// A malformed definition does not affect the others, unless it was named.
			gap := gapOfDefinition(fields, err)
			if failed = cmp.Or(failed, fmt.Errorf("%s: %w", gap.Resource, err)); len(c.Targets.kinds) == 0 {
				c.in.Report.Gaps([]object.Gap{gap})
			}
			return
		}
		names := declared[d.CRD.Name]
		d.Relationships, d.Composition, d.Annotations = len(names.Rules), names.Composition, declaredBy[d.CRD.Name]
		d.Operator, d.Creator = c.world.OperatorOf(d.Kind), creators[d.Ref]
		if err := c.usage(ctx, d, names.Usage); err != nil {
			failed = err
			return
		}
		subjects[d.Ref] = d.Check(c.q.Rules)
	})
	for _, ref := range refs {
		if s := subjects[ref]; s != nil {
			c.found = append(c.found, s)
		}
	}
	if err == nil && len(c.Targets.kinds) > 0 {
		err = failed
	}
	return err
}

// gapOfDefinition describes a definition that could not be read.
func gapOfDefinition(fields map[string]any, err error) object.Gap {
	u := unstructured.Unstructured{Object: fields}
	return object.Gap{Resource: "CustomResourceDefinition/" + u.GetName(), Reason: "Malformed", Message: err.Error()}
}

// CheckRequest holds the flags and arguments of check.
type CheckRequest struct {
	Args       []string // kinds, operators or roots; none for all
	Colocation bool
	Rows       SystemRows
	Rules      []check.Rule
	Waivers    []check.Waiver
	Selector   labels.Selector
}
