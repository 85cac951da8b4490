package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// systemLook is a look at the apps of a System, where they are.
type systemLook struct {
	c       *common
	sys     *system.System
	session *session
	graph   *graph.Graph
	world   *regulate.World
}

// look reads the stacks of all apps of a System, and says how they are.
func (c *common) look(ctx context.Context, sys *system.System) (*systemLook, error) {
	l := &systemLook{c: c, sys: sys}
	back, err := c.inNamespaceOf(sys)
	if err != nil {
		return nil, err
	}
	defer back()
	extract := c.extract
	defer func() { c.extract = extract }() // Another System is looked at by itself.
	verdicts := c.judging(nil)
	var facts *regulate.Collector
	c.extract = append(c.extract, func(*session) inventory.Extractor {
		facts = regulate.NewCollector(sys, nil)
		collector := facts
		return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
			collector.Add(o)
			return nil
		}
	})
	if l.session, err = c.open(ctx); err != nil {
		return nil, err
	}
	roots, opts := l.roots(), graph.StackOptions{}
	s := l.session
	l.graph, err = s.read(ctx, s.ask(roots), func(g *graph.Graph) []graph.ID { return s.resolve(g, roots, nil) }, opts)
	if err != nil {
		return nil, err
	}
	defer c.clock.stage("observe")()
	l.world = regulate.Observe(regulate.Observation{
		System: sys, Graph: l.graph, Health: verdicts.of(l.graph), Kinds: s.kinds, Namespace: s.namespace, Facts: facts, Signals: noSignals{},
	})
	return l, nil
}

// offlineHint names the way out where no cluster answers.
func offlineHint(err error) error {
	if _, ok := errors.AsType[*source.ConnectError](err); ok {
		return withHint(err, "--offline looks at the manifest alone, and --from at a snapshot")
	}
	return err
}

// noSignals knows none: who only looks sends none.
type noSignals struct{}

func (noSignals) Of(schema.GroupVersionKind, string) (regulate.Signal, bool) {
	return regulate.Signal{}, false
}

// inNamespaceOf makes the namespace of a System the one that is meant, until back is called.
func (c *common) inNamespaceOf(sys *system.System) (back func(), err error) {
	asked := c.config.Namespace
	switch {
	case sys.Namespace == "":
	case given(asked) && *asked != sys.Namespace:
		return nil, fmt.Errorf("-n %s: the System %s is of the namespace %s, as %s says", *asked, sys.Name, sys.Namespace, sys.Origin)
	default:
		namespace := sys.Namespace
		c.config.Namespace = &namespace
	}
	return func() { c.config.Namespace = asked }, nil
}

// roots are those of all apps whose kinds are served, to be read.
func (l *systemLook) roots() []rootArg {
	var out []rootArg
	for i := range l.sys.Apps {
		for _, r := range l.sys.Apps[i].Roots {
			if arg, err := l.root(r); err == nil && !slices.ContainsFunc(out, func(o rootArg) bool { return o.text == arg.text }) {
				out = append(out, arg)
			}
		}
	}
	return out
}

// root finds the kind of a root. The error says that there is none, or that it cannot be in
// a namespace.
func (l *systemLook) root(r system.Root) (rootArg, error) {
	kind, err := l.session.kinds.Find(r.Type)
	switch {
	case err != nil && (r.Type == graph.ByHelm || r.Type == graph.ByApp):
		return rootArg{}, fmt.Errorf("%s is a group of objects: name those on top of it", r)
	case err != nil:
		return rootArg{}, fmt.Errorf("%s: %w", r, err)
	case !kind.Namespaced && r.Namespace != "":
		return rootArg{}, fmt.Errorf("%s: %s are not namespaced: write %s/%s", r, kind, r.Type, r.Name)
	}
	return rootArg{text: r.String(), kind: kind, name: r.Name, namespace: r.Namespace}, nil
}
