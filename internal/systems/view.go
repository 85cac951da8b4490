package systems

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// View reads the state of the apps of a System.
type View struct {
	In        *app.Input
	System    *system.System
	Namespace string // of the system
	Session   *app.Session
	verdicts  *app.HealthCollector
	facts     *regulate.Collector
	signals   signals.Finder
	signalled *object.Kinds // that the signals are of
	Graph     *graph.Graph
	State     *regulate.SystemState
	// Drift are the labels of spec.labels that objects have lost.
	Drift []system.LabelDrift
	// everywhere are further kinds that are read in all namespaces; nil for none.
	everywhere func(*object.Kinds) []schema.GroupKind
	// definitions are the CRDs that were read; nil for one that cannot be read.
	definitions map[schema.GroupKind]*unstructured.Unstructured
}

// Open opens the source of a System, and reads nothing of its apps. The command keeps to this
// System from then on.
func Open(ctx context.Context, in *app.Input, s *system.System) (*View, error) {
	l := &View{In: in, System: s}
	if err := Enter(in, s); err != nil {
		return nil, err
	}
	l.verdicts = in.CollectHealth(nil)
	in.Extract = append(in.Extract, func(session *app.Session) inventory.Extractor {
		facts := regulate.NewCollector(s, l.SignalsOf(session.Kinds)) // What is gone is not seen again.
		l.facts = facts
		return collecting(facts)
	})
	var err error
	if l.Session, err = in.Open(ctx); err != nil {
		return nil, err
	}
	l.Namespace = l.Session.Namespace
	return l, nil
}

// collecting has a collector see all that passes.
func collecting(facts *regulate.Collector) inventory.Extractor {
	return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		facts.Add(o)
		return nil
	}
}

// Observe reads the stacks of all apps of a System, and their state. It can be called for another
// System afterwards.
func Observe(ctx context.Context, in *app.Input, s *system.System) (*View, error) {
	namespace, extract := in.Config.Namespace, in.Extract
	defer func() { in.Config.Namespace, in.Extract = namespace, extract }()
	l, err := Open(ctx, in, s)
	if err != nil {
		return nil, err
	}
	return l, l.Observe(ctx)
}

// Observe reads how the apps are. It can be called again.
func (l *View) Observe(ctx context.Context) error {
	s, err := l.Session.Renewed(ctx) // definitions come and go while it is followed
	if err != nil {
		return err
	}
	l.Session = s
	roots := l.roots()
	ask := s.Query(roots)
	for _, gk := range regulate.ManagerKinds() {
		// Who keeps an app as it is may be in any namespace.
		if _, served := s.Kinds.Kind(gk); served && !ask.All {
			ask.Kinds = append(ask.Kinds, gk)
		}
	}
	if l.everywhere != nil && !ask.All {
		ask.Kinds = append(ask.Kinds, l.everywhere(s.Kinds)...)
	}
	g, err := s.Read(ctx, ask, func(g *graph.Graph) []graph.ID { return s.Resolve(g, roots, nil) }, l.In.StackOptions())
	if err != nil {
		return err
	}
	l.Graph = g
	defer l.In.Clock.Stage("observe")()
	l.State = regulate.Observe(regulate.Observation{
		System: l.System, Graph: g, Health: l.verdicts.Assess(g), Kinds: s.Kinds, Namespace: l.Namespace,
		Facts: l.facts, Signals: l.SignalsOf(s.Kinds), NoInferred: l.In.NoInferred,
	})
	return nil
}

// SignalsOf are the signals of the kinds that are served.
func (l *View) SignalsOf(kinds *object.Kinds) signals.Finder {
	if l.signals == nil || l.signalled != kinds {
		l.signals, l.signalled = servedSignals(kinds), kinds
	}
	return l.signals
}

// servedSignals are those of the catalogue. What is served with a scale can be scaled.
func servedSignals(kinds *object.Kinds) signals.Finder {
	return signals.NewSet(catalog.Signals(kinds), func(gk schema.GroupKind) bool {
		kind, ok := kinds.Kind(gk)
		return ok && kind.Scalable
	})
}

// Enter makes the namespace of a System that of the command.
func Enter(in *app.Input, s *system.System) error {
	switch {
	case s.Namespace == "":
	case app.Given(in.Config.Namespace) && *in.Config.Namespace != s.Namespace:
		return fmt.Errorf("-n %s: the System %s is of the namespace %s, as %s says", *in.Config.Namespace, s.Name, s.Namespace, s.Origin)
	default:
		namespace := s.Namespace
		in.Config.Namespace = &namespace
	}
	return nil
}

// OfflineHint names the way out where no cluster answers.
func OfflineHint(err error) error {
	if _, ok := errors.AsType[*source.ConnectError](err); ok {
		return hint.With(err, "--offline reads only the manifest, and --from a snapshot")
	}
	return err
}

// roots are those of all apps whose kinds are served, to be read.
func (l *View) roots() []app.Root {
	var out []app.Root
	for i := range l.System.Apps {
		for _, r := range l.System.Apps[i].Roots {
			if arg, err := l.root(r); err == nil && !slices.ContainsFunc(out, func(o app.Root) bool { return o.Text == arg.Text }) {
				out = append(out, arg)
			}
		}
	}
	return out
}

// root finds the kind of a root. The error says that there is none, or that it cannot be in
// a namespace.
func (l *View) root(r system.Root) (app.Root, error) {
	kind, err := l.Session.Kinds.Find(r.Type)
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
