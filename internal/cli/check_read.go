package cli

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

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// checkRun is one answer of the check command, before it is shown.
type checkRun struct {
	in      *app.Input
	q       *checkRequest
	session *app.Session
	facts   *check.Collector
	graph   *graph.Graph
	world   *check.ClusterState

	targets     checkTargets
	operators   []*check.Operator // those that are asked about
	definitions []object.Ref
	stacks      []metrics.Stack
	found       []*check.Subject
	home        string
}

// surroundings are the kinds of the whole cluster that say how pods of one namespace are
// run, beside those that check itself wants.
var surroundings = []schema.GroupKind{{Kind: "Node"}, {Kind: "Namespace"}}

// checkOf reads what is asked about. It says nothing yet.
func checkOf(ctx context.Context, input *app.Input, q *checkRequest) (*checkRun, error) {
	in := *input
	in.Extract = slices.Clone(in.Extract)
	c := &checkRun{in: &in, q: q}
	return c, c.read(ctx)
}

// report evaluates the rules.
func (c *checkRun) report(ctx context.Context) (*check.Report, error) {
	if err := c.subjects(ctx); err != nil {
		return nil, err
	}
	return check.NewReport(c.found, c.q.waivers, c.world, c.session.AsOf()), nil
}

// read reads what the targets need.
func (c *checkRun) read(ctx context.Context) error {
	c.facts = c.in.Facting()
	var err error
	if c.session, err = c.in.Open(ctx); err != nil {
		return err
	}
	s := c.session
	if c.targets, err = c.parseTargets(); err != nil {
		return err
	}
	t := &c.targets
	roots := func(g *graph.Graph) []graph.ID { return s.Resolve(g, t.roots, c.q.selector) }
	var ask source.Query
	switch {
	case t.everything:
		// An operator may run in any namespace, and may be allowed things in any.
		ask, roots = source.Query{All: true}, s.Everything
	case len(t.operators)+len(t.kinds) > 0:
		ask = source.Query{All: true}
	default:
		ask = s.Query(t.roots)
		if !ask.All {
			ask.Kinds = append(append(ask.Kinds, surroundings...), check.WantedEverywhere(s.Kinds)...)
			if c.q.colocation {
				ask.Kinds = append(ask.Kinds, schema.GroupKind{Kind: "PersistentVolume"})
			}
		}
	}
	if c.graph, err = s.Read(ctx, ask, roots, c.stackOptions()); err != nil {
		return err
	}
	if err := s.Missing(c.graph, t.roots, c.q.selector); err != nil {
		return err
	}
	defer c.in.Clock.Stage("check")()
	c.world = s.CheckWorld(c.graph, c.facts, s.Kinds, s.Inventory)
	return c.choose()
}

func (c *checkRun) stackOptions() graph.StackOptions {
	return graph.StackOptions{NoInferred: c.in.NoInferred}
}

// choose finds the operators, definitions and stacks that are asked about.
func (c *checkRun) choose() error {
	t := &c.targets
	opts := c.stackOptions()
	if t.everything {
		c.operators = c.world.Operators()
		for _, o := range c.operators {
			c.definitions = append(c.definitions, o.Definitions...)
		}
		c.stacks = c.session.Find(c.graph, opts)
		if !c.in.AllNamespaces && c.session.Namespace != "" {
			c.stacks = slices.DeleteFunc(c.stacks, func(s metrics.Stack) bool { return s.Ref.Namespace != c.session.Namespace })
		}
		c.home = c.session.Namespace
		return nil
	}
	for _, name := range t.operators {
		found := c.world.FindOperator(name)
		if len(found) == 0 {
			return c.noSuch(name)
		}
		for _, o := range found {
			c.operators = append(c.operators, o)
			c.definitions = append(c.definitions, o.Definitions...)
			for _, w := range o.Workloads {
				if id, ok := c.graph.Find(w.Ref); ok {
					c.stacks = append(c.stacks, metrics.Stack{Ref: w.Ref, Roots: []graph.ID{id}})
				}
			}
		}
	}
	for _, k := range t.kinds {
		c.definitions = append(c.definitions, object.Ref{Group: app.DefinitionKind.Group, Kind: app.DefinitionKind.Kind, Name: k.String()})
	}
	named := c.q.rows.Stacks(t.roots, func(r app.Root) []metrics.Stack {
		return c.session.StacksOf(c.graph, r, c.session.Nodes(c.graph, r, c.q.selector))
	})
	c.stacks = append(c.stacks, named...)
	c.home = c.session.Home(c.graph, c.session.Resolve(c.graph, t.roots, c.q.selector))
	return nil
}

func (c *checkRun) noSuch(name string) error {
	var names []string
	for _, o := range c.world.Operators() {
		names = append(names, o.Name)
	}
	err := fmt.Errorf("%q is neither a kind nor an operator", name)
	if near := c.world.NearOperators(name); len(near) > 0 {
		return fmt.Errorf("%w%s", err, object.DidYouMean(near))
	}
	const few = 8
	switch {
	case len(names) == 0:
		return hint.With(err, "no operators found; a stack is written TYPE/NAME")
	case len(names) > few:
		names = append(names[:few:few], "...")
	}
	return hint.With(err, "operators are "+strings.Join(names, ", ")+"; a stack is written TYPE/NAME")
}

// subjects checks everything that is asked about.
func (c *checkRun) subjects(ctx context.Context) error {
	defer c.in.Clock.Stage("check")()
	for _, o := range c.operators {
		c.found = append(c.found, o.Check(c.q.rules))
	}
	if err := c.define(ctx); err != nil {
		return err
	}
	for stack := range c.eachStack() {
		c.found = append(c.found, stack.Check(c.q.rules))
	}
	return nil
}

// eachStack goes through the stacks that are asked about, each once.
func (c *checkRun) eachStack() iter.Seq[*check.Stack] {
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
			if !yield(&check.Stack{World: c.world, Ref: s.Ref, Stack: c.graph.Stack(s.Roots, opts)}) {
				return
			}
		}
	}
}

// define checks the definitions. Each is read whole and let go: they are huge.
func (c *checkRun) define(ctx context.Context) error {
	refs := slices.Compact(slices.SortedFunc(slices.Values(c.definitions), object.Compare))
	if len(refs) == 0 || !slices.ContainsFunc(c.q.rules, func(r check.Rule) bool { return r.Definition != nil }) {
		return nil
	}
	said := map[string][]string{}
	for _, f := range c.session.Findings {
		said[f.CRD] = append(said[f.CRD], f.String())
	}
	declared := map[string]annotations.Declaration{}
	for _, d := range c.session.Declared {
		declared[d.CRD] = d
	}
	var failed error
	made, err := c.session.Creators(ctx, refs)
	if err != nil {
		return err
	}
	subjects := map[object.Ref]*check.Subject{}
	err = c.session.ReadDefinitions(ctx, refs, func(fields map[string]any) {
		d, err := check.NewDefinition(c.world, fields)
		if err != nil {
			// One that has not the shape of a definition says nothing of the others, unless it
			// was asked about.
			gap := gapOfDefinition(fields, err)
			if failed = cmp.Or(failed, fmt.Errorf("%s: %w", gap.Resource, err)); len(c.targets.kinds) == 0 {
				c.in.Report.Gaps([]object.Gap{gap})
			}
			return
		}
		of := declared[d.CRD.Name]
		d.Relationships, d.Composition, d.Annotations = len(of.Rules), of.Composition, said[d.CRD.Name]
		d.Operator, d.Creator = c.world.OperatorOf(d.Kind), made[d.Ref]
		if err := c.usage(ctx, d, of.Usage); err != nil {
			failed = err
			return
		}
		subjects[d.Ref] = d.Check(c.q.rules)
	})
	for _, ref := range refs {
		if s := subjects[ref]; s != nil {
			c.found = append(c.found, s)
		}
	}
	if err == nil && len(c.targets.kinds) > 0 {
		err = failed
	}
	return err
}

// gapOfDefinition tells of a definition that could not be read.
func gapOfDefinition(fields map[string]any, err error) object.Gap {
	u := unstructured.Unstructured{Object: fields}
	return object.Gap{Resource: "CustomResourceDefinition/" + u.GetName(), Reason: "Malformed", Message: err.Error()}
}

// checkRequest is what was asked, as values.
type checkRequest struct {
	args       []string // kinds, operators or roots; none for all
	colocation bool
	rows       app.SystemRows
	rules      []check.Rule
	waivers    []check.Waiver
	selector   labels.Selector
}
