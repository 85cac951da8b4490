package systems

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// DraftRequest says which stacks a manifest is written from: the roots, or all stacks of the
// namespace. Selector chooses among the roots of a type, and Name is that of the System; without one
// it is the namespace's.
type DraftRequest struct {
	*app.Input
	Roots    []string
	Selector labels.Selector
	Name     string
	// Monitoring reads how the apps of a System are monitored.
	Monitoring func(context.Context, *app.Input, *system.System) (*system.DraftMonitoring, error)
}

// Manifest is the text of a manifest. Name is that of its System, and Apps and Inputs are how many
// it has.
type Manifest struct {
	Text         []byte
	Name         string
	Apps, Inputs int
	session      *app.Session
	graph        *graph.Graph
}

// PrintTimings prints the timings, if the user enabled them.
func (w *Manifest) PrintTimings() { w.session.PrintTimings(w.graph) }

// Draft writes the manifest of a System from running stacks.
func Draft(ctx context.Context, r DraftRequest) (*Manifest, error) {
	d := &draft{DraftRequest: r}
	if err := d.read(ctx); err != nil {
		return nil, err
	}
	draft, err := d.draft()
	if err != nil {
		return nil, err
	}
	sys, err := parsed(draft.YAML())
	if err != nil {
		return nil, err
	}
	d.monitored(ctx, draft, sys)
	text := draft.YAML()
	if _, err := parsed(text); err != nil {
		return nil, err
	}
	d.session.ReportGaps(d.graph)
	return &Manifest{Text: text, Name: draft.Name, Apps: len(draft.Apps), session: d.session, graph: d.graph}, nil
}

// parsed holds a written manifest to be one that Parse reads.
func parsed(text []byte) (*system.System, error) {
	sys, problems := system.Parse("what was found", text)
	if len(problems) > 0 {
		return nil, &hint.Lines{Lines: hint.Placed("what was found", problems)}
	}
	return sys, nil
}

// draft finds the apps of a manifest that is to be written.
type draft struct {
	DraftRequest
	session  *app.Session
	graph    *graph.Graph
	facts    *regulate.Collector
	signals  signals.Finder
	verdicts *app.HealthCollector
	stacks   []foundApp
	// scalers are the autoscalers that were read. Reading is concurrent.
	mu      sync.Mutex
	scalers []foundScaler
}

// foundApp is what becomes an app.
type foundApp struct {
	name  string // that it should have
	found string
	roots []object.Ref
	// all are its roots, and what else says that it belongs to them.
	all []object.Ref
}

// read reads the graph, and finds the stacks.
func (d *draft) read(ctx context.Context) error {
	in := d.Input
	d.verdicts = in.CollectHealth(nil)
	in.Extract = append(in.Extract, func(s *app.Session) inventory.Extractor {
		d.signals = servedSignals(s.Kinds)
		d.facts = regulate.NewCollector(&system.System{}, d.signals)
		return collecting(d.facts)
	}, func(*app.Session) inventory.Extractor { return d.keepScaler })
	var err error
	if d.session, err = in.Open(ctx); err != nil {
		return err
	}
	s := d.session
	if len(d.Roots) == 0 {
		ask := source.Query{All: true}
		if !in.AllNamespaces && s.Namespace != "" {
			ask = source.Query{Namespaces: []string{s.Namespace}, Kinds: s.Rules.Crossing()}
		}
		if d.graph, err = s.Read(ctx, ask, s.Everything, in.StackOptions()); err != nil {
			return err
		}
		d.foundStacks()
		return nil
	}
	roots, err := app.SelectedRoots(d.Roots, d.Selector, s.Kinds)
	if err != nil {
		return err
	}
	if d.graph, err = s.Read(ctx, s.Query(roots), func(g *graph.Graph) []graph.ID { return s.Resolve(g, roots, d.Selector) }, in.StackOptions()); err != nil {
		return err
	}
	if err := s.Missing(d.graph, roots, d.Selector); err != nil {
		return err
	}
	d.namedStacks(roots)
	return nil
}

// draft makes the manifest, and what its comments say.
func (d *draft) draft() (*system.Draft, error) {
	if len(d.stacks) == 0 {
		return nil, d.noStack()
	}
	namespace := d.namespace()
	draft := &system.Draft{Namespace: namespace, Found: d.sourceText()}
	sys := &system.System{Namespace: namespace}
	taken := map[string]bool{}
	for _, stack := range d.stacks {
		app := system.App{Name: labelOf(stack.name, stack.roots[0].Kind, taken)}
		for _, ref := range stack.roots {
			app.Roots = append(app.Roots, d.rootOf(ref, namespace))
		}
		sys.Apps = append(sys.Apps, app)
		draft.Apps = append(draft.Apps, system.DraftApp{Name: app.Name, Roots: app.Roots, Found: stack.found, Operator: d.operator(stack.roots)})
		d.scale(&draft.Apps[len(draft.Apps)-1], stack.roots)
	}
	shareTargets(draft)
	if draft.Name = d.Name; draft.Name == "" {
		if draft.Name = namespace; draft.Name == "" {
			draft.Name = draft.Apps[0].Name
		}
	}
	w := regulate.Observe(regulate.Observation{
		System: sys, Graph: d.graph, Health: d.verdicts.Assess(d.graph), Kinds: d.session.Kinds, Namespace: namespace,
		Facts: d.facts, Signals: d.signals, NoInferred: d.NoInferred,
	})
	for i := range w.Apps {
		d.explain(&draft.Apps[i], &w.Apps[i])
	}
	return draft, nil
}

func (d *draft) noStack() error {
	text := "no stack found"
	if ns := d.session.Namespace; ns != "" {
		text += " in namespace " + ns
	}
	return hint.With(errors.New(text), "name the roots, or search elsewhere: -n, -A")
}

// sourceText says where the stacks were read.
func (d *draft) sourceText() string {
	text := "the cluster"
	if d.session.Snapshot {
		text = "the snapshot " + d.From
	}
	if ns := d.namespace(); ns != "" {
		text = "namespace " + ns + " of " + text
	}
	return text
}

// namespace is that of the System: the one that is asked about, or that all roots are in.
func (d *draft) namespace() string {
	if d.session.Namespace != "" {
		return d.session.Namespace
	}
	single := ""
	for _, s := range d.stacks {
		for _, r := range s.roots {
			if single != "" && r.Namespace != "" && r.Namespace != single {
				return ""
			}
			if r.Namespace != "" {
				single = r.Namespace
			}
		}
	}
	return single
}

// rootOf writes an object as a root: with its group where that is not one of Kubernetes
// itself, with its namespace where that is not the System's.
func (d *draft) rootOf(ref object.Ref, namespace string) system.Root {
	kind, _ := d.session.Kinds.Kind(ref.GroupKind())
	root := system.Root{Type: strings.ToLower(ref.Kind), Name: ref.Name}
	if found, err := d.session.Kinds.Find(root.Type); kind.Custom && ref.Group != "" || err != nil || found.GroupKind() != ref.GroupKind() {
		root.Type += "." + ref.Group
	}
	if ref.Namespace != namespace {
		root.Namespace = ref.Namespace
	}
	return root
}

// operator names the entry of the catalogue that runs the roots; empty for none, or several.
func (d *draft) operator(roots []object.Ref) string {
	name := ""
	for _, r := range roots {
		owner, known := d.session.Catalogued(r.GroupKind())
		if known && name != "" && owner != name {
			return ""
		}
		if known {
			name = owner
		}
	}
	return name
}

// labelOf makes the name of an app: a DNS label that none has yet.
func labelOf(name, kind string, taken map[string]bool) string {
	const longest = 50 // and some room for what tells it from others
	clean := func(text string) string {
		text = strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
				return c
			}
			return '-'
		}, strings.ToLower(text))
		return strings.Trim(text[:min(len(text), longest)], "-")
	}
	label := clean(name)
	if label == "" || taken[label] {
		label = strings.Trim(clean(label+"-"+kind), "-")
	}
	for base, n := label, 2; label == "" || taken[label]; n++ {
		label = strings.Trim(fmt.Sprintf("%s-%d", base, n), "-")
	}
	taken[label] = true
	return label
}

// explain writes what was found of an app.
func (d *draft) explain(a *system.DraftApp, state *regulate.AppState) {
	for _, n := range state.Needs {
		a.Needs = append(a.Needs, fmt.Sprintf("%s: %s needs %s (%s)", n.App, n.From, n.To, n.Edge.Why()))
	}
	for _, act := range state.Actions[system.Stop] {
		if act.Refused != "" {
			a.Stop = append(a.Stop, "nothing by itself: "+act.Refused)
			continue
		}
		for _, ref := range act.Targets {
			a.Stop = append(a.Stop, fmt.Sprintf("preset %s of %s: %s", act.Signals[ref].Preset, ref, act.Signals[ref].Effect))
		}
		a.Stop = append(a.Stop, act.Notes...)
	}
	seen := map[string]bool{}
	for _, ref := range state.Roots {
		for _, m := range state.Managers[ref] {
			text := fmt.Sprintf("%s manages it, and is suspended first.", m.Ref)
			if !m.Reverts {
				text = fmt.Sprintf("%s installed it; it reverts nothing until an upgrade.", m.Ref)
			}
			if a.Suspend = true; !seen[text] {
				seen[text] = true
				a.Managed = append(a.Managed, text)
			}
		}
	}
}
