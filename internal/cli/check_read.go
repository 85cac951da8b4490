package cli

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// checkRun is one answer of the check command, before it is shown.
type checkRun struct {
	o       *checkOptions
	q       *checkQuestion
	session *session
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

// facting has the session that opens next keep what rules look at.
func (c *common) facting() *check.Collector {
	facts := check.NewCollector()
	c.wholly = check.Whole()
	c.extract = append(c.extract, func(*session) inventory.Extractor { return keep(facts) })
	return facts
}

// surroundings are the kinds of the whole cluster that say how pods of one namespace are
// run, beside those that check itself wants.
var surroundings = []schema.GroupKind{{Kind: "Node"}, {Kind: "Namespace"}}

// read reads what the targets need.
func (c *checkRun) read(ctx context.Context) error {
	c.facts = c.o.facting()
	var err error
	if c.session, err = c.o.open(ctx); err != nil {
		return err
	}
	s := c.session
	if c.targets, err = c.parseTargets(); err != nil {
		return err
	}
	t := &c.targets
	roots := func(g *graph.Graph) []graph.ID { return s.resolve(g, t.roots, c.q.selector) }
	var ask source.Query
	switch {
	case t.everything:
		// An operator may run in any namespace, and may be allowed things in any.
		ask, roots = source.Query{All: true}, s.everything
	case len(t.operators)+len(t.kinds) > 0:
		ask = source.Query{All: true}
	default:
		ask = s.ask(t.roots)
		if !ask.All {
			ask.Kinds = append(append(ask.Kinds, surroundings...), check.WantedEverywhere(s.kinds)...)
			if c.o.colocation {
				ask.Kinds = append(ask.Kinds, schema.GroupKind{Kind: "PersistentVolume"})
			}
		}
	}
	if c.graph, err = s.read(ctx, ask, roots, c.stackOptions()); err != nil {
		return err
	}
	if err := s.missing(c.graph, t.roots, c.q.selector); err != nil {
		return err
	}
	defer c.o.clock.stage("check")()
	c.world = s.checkWorld(c.graph, c.facts, s.kinds, s.inv)
	return c.choose()
}

func (c *checkRun) stackOptions() graph.StackOptions {
	return graph.StackOptions{NoInferred: c.o.noInferred}
}

// catalogued names the operator that the catalogue knows of a kind.
func (s *session) catalogued(gk schema.GroupKind) (string, bool) {
	r, ok := s.kinds.Kind(gk)
	if !ok {
		return "", false
	}
	entry, _, ok := catalog.KindOf(r)
	return entry.Name, ok
}

// composes says what the catalogue knows that an operator makes for one of a kind.
func (s *session) composes(gk schema.GroupKind) ([]string, bool) {
	r, ok := s.kinds.Kind(gk)
	if !ok {
		return nil, false
	}
	_, kind, ok := catalog.KindOf(r)
	return kind.Composes, ok && kind.Composes != nil
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
		c.stacks = c.session.find(c.graph, opts)
		if !c.o.allNamespaces && c.session.namespace != "" {
			c.stacks = slices.DeleteFunc(c.stacks, func(s metrics.Stack) bool { return s.Ref.Namespace != c.session.namespace })
		}
		c.home = c.session.namespace
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
				if id, ok := c.graph.Find(w.Ref); ok {
					c.stacks = append(c.stacks, metrics.Stack{Ref: w.Ref, Roots: []graph.ID{id}})
				}
			}
		}
	}
	for _, k := range t.kinds {
		c.definitions = append(c.definitions, object.Ref{Group: definitionKind.Group, Kind: definitionKind.Kind, Name: k.String()})
	}
	named := c.o.of.stacks(t.roots, func(r rootArg) []metrics.Stack {
		return c.session.stacksOf(c.graph, r, c.session.nodes(c.graph, r, c.q.selector))
	})
	c.stacks = append(c.stacks, named...)
	c.home = c.session.home(c.graph, c.session.resolve(c.graph, t.roots, c.q.selector))
	return nil
}

func (c *checkRun) noSuch(name string) error {
	var names []string
	for _, o := range c.world.Operators() {
		names = append(names, o.Name)
	}
	err := fmt.Errorf("%q is neither a kind nor an operator", name)
	if near := operator.Near(c.world, name); len(near) > 0 {
		return fmt.Errorf("%w%s", err, object.DidYouMean(near))
	}
	const few = 8
	switch {
	case len(names) == 0:
		return withHint(err, "no operators found; a stack is written TYPE/NAME")
	case len(names) > few:
		names = append(names[:few:few], "...")
	}
	return withHint(err, "operators are "+strings.Join(names, ", ")+"; a stack is written TYPE/NAME")
}

// subjects checks everything that is asked about.
func (c *checkRun) subjects(ctx context.Context) error {
	defer c.o.clock.stage("check")()
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
	for _, f := range c.session.findings {
		said[f.CRD] = append(said[f.CRD], f.String())
	}
	declared := map[string]annotations.Declaration{}
	for _, d := range c.session.declared {
		declared[d.CRD] = d
	}
	var failed error
	made, err := c.session.creators(ctx, refs)
	if err != nil {
		return err
	}
	subjects := map[object.Ref]*check.Subject{}
	err = c.session.readDefinitions(ctx, refs, func(fields map[string]any) {
		d, err := check.NewDefinition(c.world, fields)
		if err != nil {
			// One that has not the shape of a definition says nothing of the others, unless it
			// was asked about.
			gap := gapOfDefinition(fields, err)
			if failed = cmp.Or(failed, fmt.Errorf("%s: %w", gap.Resource, err)); len(c.targets.kinds) == 0 {
				c.o.tellGaps([]object.Gap{gap})
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
