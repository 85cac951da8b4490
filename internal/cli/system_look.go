package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// systemView reads the state of the apps of a System.
type systemView struct {
	c         *common
	system    *system.System
	namespace string // of the system
	session   *app.Session
	verdicts  *app.HealthCollector
	facts     *regulate.Collector
	signals   regulate.Signals
	signalled *object.Kinds // that the signals are of
	graph     *graph.Graph
	world     *regulate.SystemState
}

// lookAt opens the source of a System, and reads nothing of its apps. The command keeps to this
// System from then on.
func (c *common) lookAt(ctx context.Context, s *system.System) (*systemView, error) {
	l := &systemView{c: c, system: s}
	if err := c.enter(s); err != nil {
		return nil, err
	}
	l.verdicts = c.CollectHealth(nil)
	c.Extract = append(c.Extract, func(name *app.Session) inventory.Extractor {
		facts := regulate.NewCollector(s, l.signalsOf(name.Kinds)) // What is gone is not seen again.
		l.facts = facts
		return collecting(facts)
	})
	var err error
	if l.session, err = c.Open(ctx); err != nil {
		return nil, err
	}
	l.namespace = l.session.Namespace
	return l, nil
}

// collecting has a collector see all that passes.
func collecting(facts *regulate.Collector) inventory.Extractor {
	return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		facts.Add(o)
		return nil
	}
}

// lookOnce reads the stacks of all apps of a System, and their state. It can be called for another
// System afterwards.
func (c *common) lookOnce(ctx context.Context, s *system.System) (*systemView, error) {
	namespace, extract := c.Config.Namespace, c.Extract
	defer func() { c.Config.Namespace, c.Extract = namespace, extract }()
	l, err := c.lookAt(ctx, s)
	if err != nil {
		return nil, err
	}
	return l, l.look(ctx)
}

// look reads how the apps are. It can be called again.
func (l *systemView) look(ctx context.Context) error {
	s, err := l.session.Renewed(ctx) // definitions come and go while it is followed
	if err != nil {
		return err
	}
	l.session = s
	roots := l.roots()
	ask := s.Query(roots)
	for _, gk := range regulate.ManagerKinds() {
		// Who keeps an app as it is may be in any namespace.
		if _, served := s.Kinds.Kind(gk); served && !ask.All {
			ask.Kinds = append(ask.Kinds, gk)
		}
	}
	g, err := s.Read(ctx, ask, func(g *graph.Graph) []graph.ID { return s.Resolve(g, roots, nil) }, l.c.StackOptions())
	if err != nil {
		return err
	}
	l.graph = g
	defer l.c.Clock.Stage("observe")()
	l.world = regulate.Observe(regulate.Observation{
		System: l.system, Graph: g, Health: l.verdicts.Assess(g), Kinds: s.Kinds, Namespace: l.namespace,
		Facts: l.facts, Signals: l.signalsOf(s.Kinds), NoInferred: l.c.NoInferred,
	})
	return nil
}

// signalsOf are the signals of the kinds that are served.
func (l *systemView) signalsOf(kinds *object.Kinds) regulate.Signals {
	if l.signals == nil || l.signalled != kinds {
		l.signals, l.signalled = servedSignals(kinds), kinds
	}
	return l.signals
}

// servedSignals are those of the catalogue. What is served with a scale can be scaled.
func servedSignals(kinds *object.Kinds) regulate.Signals {
	return regulate.NewSignals(catalog.Signals(kinds), func(gk schema.GroupKind) bool {
		kind, ok := kinds.Kind(gk)
		return ok && kind.Scalable
	})
}

// enter makes the namespace of a System that of the command.
func (c *common) enter(s *system.System) error {
	switch {
	case s.Namespace == "":
	case app.Given(c.Config.Namespace) && *c.Config.Namespace != s.Namespace:
		return fmt.Errorf("-n %s: the System %s is of the namespace %s, as %s says", *c.Config.Namespace, s.Name, s.Namespace, s.Origin)
	default:
		namespace := s.Namespace
		c.Config.Namespace = &namespace
	}
	return nil
}

// offlineHint names the way out where no cluster answers.
func offlineHint(err error) error {
	if _, ok := errors.AsType[*source.ConnectError](err); ok {
		return hint.With(err, "--offline reads only the manifest, and --from a snapshot")
	}
	return err
}

// roots are those of all apps whose kinds are served, to be read.
func (l *systemView) roots() []app.Root {
	var out []app.Root
	for i := range l.system.Apps {
		for _, r := range l.system.Apps[i].Roots {
			if arg, err := l.root(r); err == nil && !slices.ContainsFunc(out, func(o app.Root) bool { return o.Text == arg.Text }) {
				out = append(out, arg)
			}
		}
	}
	return out
}

// root finds the kind of a root. The error says that there is none, or that it cannot be in
// a namespace.
func (l *systemView) root(r system.Root) (app.Root, error) {
	kind, err := l.session.Kinds.Find(r.Type)
	switch {
	case err != nil && (r.Type == graph.ByHelm || r.Type == graph.ByApp):
		return app.Root{}, fmt.Errorf("%s is a group of objects: name its top objects", r)
	case err != nil:
		return app.Root{}, fmt.Errorf("%s: %w", r, err)
	case !kind.Namespaced && r.Namespace != "":
		return app.Root{}, fmt.Errorf("%s: %s are not namespaced: write %s/%s", r, kind, r.Type, r.Name)
	}
	return app.Root{Text: r.String(), Kind: kind, Name: r.Name, Namespace: r.Namespace}, nil
}
