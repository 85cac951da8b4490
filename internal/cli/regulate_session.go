package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

// regulating is what every command about a System takes.
type regulating struct {
	*common
	file string // of the manifest
	// lease is how long a run that has died keeps others out.
	lease time.Duration
}

func newRegulating(env Env, formats ...string) *regulating {
	return &regulating{common: newCommon(env, formats...)}
}

// naming adds the flags of which System is meant, and of how it is read.
func (o *regulating) naming(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.file, "filename", "f", "", `the manifest of the System: FILE, "-" or "demo", instead of the NAME of one that was adopted`)
	f.BoolVar(&o.noInferred, "no-inferred", false, "leave out what is a guess")
	o.connecting(cmd)
	f.StringArrayVar(&o.rulesFiles, "rules", nil, "relationship rules of your own, from a YAML FILE; may be repeated")
	f.BoolVar(&o.timings, "timings", false, "tell on stderr how long each stage took, and how much was read")
}

// regulated is a System and how its apps are.
type regulated struct {
	o         *regulating
	session   *session
	system    *system.System
	namespace string // of the system and its journal
	verdicts  *verdicts
	facts     *regulate.Collector
	signals   regulate.Signals
	// store is nil for a snapshot, which has no journal.
	store   regulate.Store
	config  *rest.Config
	graph   *graph.Graph
	world   *regulate.World
	journal *regulate.Journal
}

// errNoSystem is that neither a name nor a manifest says which System is meant.
var errNoSystem = errors.New("which System? name one that was adopted, or its manifest with -f FILE")

// find finds the System that is meant, by its name or its manifest.
func (o *regulating) find(ctx context.Context, name string) (*system.System, error) {
	switch {
	case name != "" && o.file != "":
		return nil, fmt.Errorf("%q and -f %s: the System is named, or its manifest is", name, o.file)
	case name == "" && o.file == "":
		return nil, withHint(errNoSystem, "kubectl sysop system list -A lists those that were adopted; kubectl sysop system init writes a manifest")
	case name != "" && o.from != "":
		return nil, withHint(fmt.Errorf("the System %q: a snapshot holds no manifests", name), "name its file with -f")
	case name != "":
		return o.readAdopted(ctx, name)
	}
	return o.readSystem(ctx, o.file)
}

// begin finds the System, and opens the source. Nothing has been read of its apps yet.
func (o *regulating) begin(ctx context.Context, name string) (*regulated, error) {
	b := &regulated{o: o}
	var err error
	if b.system, err = o.find(ctx, name); err != nil {
		return nil, err
	}
	if err := o.settle(b.system); err != nil {
		return nil, err
	}
	b.verdicts = o.judging(nil)
	o.extract = append(o.extract, func(s *session) inventory.Extractor {
		facts := regulate.NewCollector(b.system, b.signalsOf(s.kinds)) // What is gone is not seen again.
		b.facts = facts
		return func(obj object.Object) func(*inventory.Inventory, inventory.ID) {
			facts.Add(obj)
			return nil
		}
	})
	if b.session, err = o.open(ctx); err != nil {
		return nil, err
	}
	b.namespace = b.session.namespace
	return b, b.connect()
}

// signalsOf are the signals of the kinds that are served.
func (b *regulated) signalsOf(kinds *object.Kinds) regulate.Signals {
	if b.signals == nil {
		b.signals = regulate.NewSignals(catalog.Signals(kinds), func(gk schema.GroupKind) bool {
			kind, ok := kinds.Kind(gk)
			return ok && kind.Scalable
		})
	}
	return b.signals
}

// beginJournal finds the System and reads its journal, and nothing of its apps.
func (o *regulating) beginJournal(ctx context.Context, name string) (*regulated, error) {
	b := &regulated{o: o}
	var err error
	if b.system, err = o.find(ctx, name); err != nil {
		return nil, err
	}
	if err := o.settle(b.system); err != nil {
		return nil, err
	}
	if _, b.namespace, err = o.source(ctx); err != nil {
		return nil, err
	}
	if err := b.connect(); err != nil {
		return nil, err
	}
	return b, b.remember(ctx)
}

// settle makes the System's namespace that of the command.
func (o *regulating) settle(s *system.System) error {
	switch {
	case s.Namespace == "":
	case given(o.config.Namespace) && *o.config.Namespace != s.Namespace:
		return fmt.Errorf("-n %s: the System %s is of the namespace %s (metadata.namespace of %s)", *o.config.Namespace, s.Name, s.Namespace, s.Origin)
	default:
		namespace := s.Namespace
		o.config.Namespace = &namespace
	}
	return nil
}

// connect prepares what keeps the journal, where there is a cluster.
func (b *regulated) connect() error {
	if b.o.from != "" {
		return nil
	}
	config, err := b.o.config.ToRESTConfig()
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	config = rest.CopyConfig(config)
	config.QPS = -1
	b.config = config
	b.store, err = regulate.NewStore(config, b.system.Name, b.namespace)
	return err
}

// readAdopted reads the manifest that the cluster keeps of a System.
func (o *regulating) readAdopted(ctx context.Context, name string) (*system.System, error) {
	from, namespace, err := o.source(ctx)
	if err != nil {
		return nil, err
	}
	cluster, ok := clusterOf(from)
	if !ok {
		return nil, withHint(fmt.Errorf("the System %q: a snapshot holds no manifests", name), "name its file with -f")
	}
	if text, rest, found := strings.Cut(name, "/"); found && text == "system" {
		name = rest
	}
	if !object.MayBeName(name) {
		return nil, fmt.Errorf("%q is no name of a System", name)
	}
	path := "/api/v1/namespaces/" + url.PathEscape(namespace) + "/configmaps/" + url.PathEscape(system.ParentName(name))
	text, err := cluster.Get(ctx, path, nil)
	if err != nil {
		return nil, withHint(fmt.Errorf("read the System %q in namespace %s: %w", name, namespace, err), "kubectl sysop system list -A lists those that were adopted; -f FILE names a manifest")
	}
	parent := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &parent.Object); err != nil {
		return nil, fmt.Errorf("read the System %q in namespace %s: %w", name, namespace, err)
	}
	return system.ParseParent(parent)
}

// observe reads how the apps are, and the journal.
func (b *regulated) observe(ctx context.Context) error {
	if err := b.look(ctx); err != nil {
		return err
	}
	return b.remember(ctx)
}

// look reads how the apps are.
func (b *regulated) look(ctx context.Context) error {
	s := b.session.again()
	b.session = s
	roots := b.roots()
	opts := b.o.stackOptions()
	ask := s.ask(roots)
	for _, gk := range regulate.ManagerKinds() {
		// Who keeps an app as it is may be in any namespace.
		if _, served := s.kinds.Kind(gk); served && !ask.All {
			ask.Kinds = append(ask.Kinds, gk)
		}
	}
	g, err := s.read(ctx, ask, func(g *graph.Graph) []graph.ID { return s.resolve(g, roots, nil) }, opts)
	if err != nil {
		return err
	}
	b.graph = g
	defer b.o.clock.stage("observe")()
	b.world = regulate.Observe(regulate.Observation{
		System: b.system, Graph: g, Health: b.verdicts.of(g), Kinds: s.kinds, Namespace: b.namespace,
		Facts: b.facts, Signals: b.signalsOf(s.kinds), NoInferred: b.o.noInferred,
	})
	return nil
}

// stackOptions are those by which the stacks of apps are followed.
func (o *regulating) stackOptions() graph.StackOptions {
	return graph.StackOptions{NoInferred: o.noInferred}
}

// remember reads the journal. There is none of a snapshot.
func (b *regulated) remember(ctx context.Context) error {
	if b.store == nil {
		b.journal = &regulate.Journal{System: b.system.Name, Namespace: b.namespace}
		return nil
	}
	var err error
	b.journal, err = b.store.Load(ctx)
	return err
}

// roots are those of all apps whose kinds are served, to be read.
func (b *regulated) roots() []rootArg {
	var out []rootArg
	for i := range b.system.Apps {
		for _, r := range b.system.Apps[i].Roots {
			kind, err := b.session.kinds.Find(r.Type)
			if err != nil {
				continue // Observe says so.
			}
			arg := rootArg{text: r.Type + "/" + r.Name, kind: kind, name: r.Name}
			if kind.Namespaced {
				arg.namespace = r.Namespace
			}
			if !slices.ContainsFunc(out, func(a rootArg) bool { return a.text == arg.text && a.namespace == arg.namespace }) {
				out = append(out, arg)
			}
		}
	}
	return out
}

// options are how what is known of the System is shown.
func (b *regulated) options() view.RegulationOptions {
	return view.RegulationOptions{System: b.system.Name, Namespace: b.namespace, Gaps: b.graph.Gaps()}
}
