package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Session reads a source into a graph.
type Session struct {
	Input     *Input
	Source    source.Source
	Snapshot  bool
	Kinds     *object.Kinds
	Rules     *relation.Set
	Inventory *inventory.Inventory
	builder   *graph.Builder
	Namespace string // of the user; empty for all
	Findings  []annotations.Finding
	// releases are the objects of Helm releases, by name, where Helm's records were read.
	releases map[string][]object.Ref
	// systems are the adopted Systems among the roots: their managers name the namespaces of the
	// members.
	systems []Root
	// Declared are the declarations in the annotations of the CRDs.
	Declared []annotations.Declaration
	schemas  *schemas     // of the kinds without declarations
	Gaps     []object.Gap // of the discovery
	// files are the user's rules; learned is the state of the definitions that the rules came from,
	// and learnedOf the kinds.
	files     []rulesFile
	learned   string
	learnedOf *object.Kinds
}

// Open connects to the source, and reads its kinds and its rules.
func (c *Input) Open(ctx context.Context) (*Session, error) {
	defer c.Clock.Stage("discover")()
	s := &Session{Input: c, Snapshot: c.From != ""}
	early := &EarlyGaps{}
	files, err := c.readRules(ctx)
	if err != nil {
		return nil, err
	}
	if s.Source, s.Namespace, err = c.Source(ctx); err != nil {
		return nil, err
	}
	if c.over != nil {
		s.Source = c.over(s.Source, s.Namespace)
	}
	if s.Kinds, err = s.Source.Kinds(ctx, early); err != nil {
		return nil, err
	}
	definitions, err := s.Source.Definitions(ctx, early)
	if err != nil {
		return nil, err
	}
	if learned, ok := s.Source.(interface{ Current() *object.Kinds }); ok {
		s.Kinds = learned.Current()
	}
	if err := checkRules(files, s.Kinds); err != nil {
		return nil, err
	}
	if err := s.checkPaths(ctx, files); err != nil {
		return nil, err
	}
	s.learn(definitions, files)
	s.Gaps = early.Gaps
	if err := c.healthRules.learn(ctx, s.Source); err != nil {
		return nil, err
	}
	s.empty()
	return s, nil
}

// ClusterOf returns the cluster that a source reads; false for a snapshot.
func ClusterOf(from source.Source) (*source.Cluster, bool) {
	switch from := from.(type) {
	case *source.Cluster:
		return from, true
	case *source.Live:
		return from.Cluster(), true
	case *source.Overlay:
		return ClusterOf(from.Base())
	}
	return nil, false
}

// empty resets what a read fills.
func (s *Session) empty() {
	s.builder = graph.NewBuilder(s.Rules, s.Kinds)
	s.Inventory = inventory.New(append(append(s.Rules.Annotations(), graph.HelmName, graph.HelmNamespace), s.Input.Notes...), s.extractors()...)
	s.Inventory.ExtractUnread(s.builder.Extract)
	for _, g := range s.Gaps {
		s.Inventory.Gap(g)
	}
}

// extractors take what the question needs from the objects that are read.
func (s *Session) extractors() []inventory.Extractor {
	all := []inventory.Extractor{s.builder.Extract}
	for _, extractor := range s.Input.Extract {
		all = append(all, extractor(s))
	}
	if collect := s.Input.Collect; collect != nil {
		all = append(all, func(o object.Object) func(*inventory.Inventory, inventory.ID) {
			collect(o)
			return nil
		})
	}
	return all
}

// Source returns the snapshot or the cluster, and the selected namespace.
func (c *Input) Source(ctx context.Context) (source.Source, string, error) {
	if c.From != "" {
		snap, err := c.OpenSnapshot(ctx)
		if err != nil {
			return nil, "", err
		}
		return snap.Reading(c.detail()), c.asked(), nil
	}
	config, err := c.Config.ToRESTConfig()
	if err != nil {
		return nil, "", hint.With(fmt.Errorf("read the kubeconfig: %w", err), "check --kubeconfig and --context, or try it without a cluster: --from demo")
	}
	disco, err := c.Config.ToDiscoveryClient()
	if err != nil {
		return nil, "", fmt.Errorf("set up discovery: %w", err)
	}
	ns, _, err := c.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("read the namespace of the kubeconfig: %w", err)
	}
	if c.AllNamespaces {
		ns = ""
	}
	cluster, err := source.NewCluster(source.ClusterOptions{Config: config, Discovery: disco, Detail: c.detail(), Also: c.includes, Known: catalog.Kinds()})
	return cluster, ns, err
}

// asked is the namespace of -n; empty without it.
func (c *Input) asked() string {
	if Given(c.Config.Namespace) {
		return *c.Config.Namespace
	}
	return ""
}

// OpenSnapshot reads a snapshot.
func (c *Input) OpenSnapshot(ctx context.Context) (*source.Snapshot, error) {
	return userfile.Await(ctx, func() (*source.Snapshot, error) {
		known := source.SnapshotOptions{Namespace: c.asked(), Known: catalog.Kinds()}
		return known.Open(c.From, c.Stdin, c.Demo)
	})
}

// maxDeclared bounds the rules of files and CRDs, and leaves room for the others.
// A pod template alone makes some twenty.
const maxDeclared = relation.MaxRules / 2

// learn collects the rules: the built-in ones, those of the user's files, of the CRDs, and of the
// catalog.
func (s *Session) learn(definitions []metav1.Object, files []rulesFile) {
	s.files, s.learned, s.learnedOf = files, stateOfAll(definitions), s.Kinds
	rules := relation.BuiltIn()
	for _, f := range files {
		rules = append(rules, declare.Rules(f.specs, filepath.Base(f.name), "file "+f.name, s.Kinds)...)
	}
	for _, crd := range definitions {
		d, findings := annotations.Parse(crd, s.Kinds)
		if len(rules)+len(d.Rules) > maxDeclared {
			findings = append(findings, annotations.Finding{CRD: d.CRD, Message: fmt.Sprintf("its %d rules are ignored: there are more than %d", len(d.Rules), maxDeclared)})
			d.Rules, d.Specs = nil, nil
		}
		rules = append(rules, d.Rules...)
		s.Declared = append(s.Declared, d)
		s.Findings = append(s.Findings, findings...)
	}
	// Declarations of the cluster go before those of the catalog, and these before inferred ones:
	// of two rules that read one field the first is shown.
	rules = append(rules, catalog.Rules(s.Kinds)...)
	rules = append(rules, s.guesses(rules, definitions)...)
	s.Rules = relation.NewSet(rules...)
	if s.Input.rules == nil {
		s.Input.rules = &atomic.Pointer[relation.Set]{}
	}
	s.Input.rules.Store(s.Rules)
}

// detail returns how much of a kind is read: the fields that a rule uses. The rules of the CRDs are
// known only after the CRDs were read. CRDs are huge: on a cluster only their metadata is read,
// unless the question is about one.
func (c *Input) detail() func(object.Resource) (source.Detail, string) {
	typed := map[schema.GroupKind]string{}
	for _, gvk := range relation.Typed() {
		typed[gvk.GroupKind()] = gvk.Version
	}
	return func(r object.Resource) (source.Detail, string) {
		gk := r.GroupKind()
		if version, ok := typed[gk]; ok {
			return source.Typed, version
		}
		if c.Collect != nil && slices.Contains(measuredKinds, gk.Kind) && gk.Group == "" {
			return source.Typed, "v1"
		}
		if i := slices.IndexFunc(c.wholly, func(k schema.GroupVersionKind) bool { return k.GroupKind() == gk }); i >= 0 {
			return source.Typed, c.wholly[i].Version
		}
		if c.wholly != nil && r.Custom {
			return source.Fields, ""
		}
		if detail, version, ok := c.healthDetail(r); ok {
			return detail, version
		}
		if rules := c.learnedRules(); rules != nil && rules.Reads(gk) && (gk != DefinitionKind || c.Definitions || c.From != "") {
			return source.Fields, ""
		}
		return source.Metadata, ""
	}
}

// measuredKinds are the kinds of the core group that hold requests and capacity.
var measuredKinds = []string{"Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "Service"}

// DefinitionKind is the kind of CustomResourceDefinitions.
var DefinitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// learnedRules are the rules of the session; nil before they are learned.
func (c *Input) learnedRules() *relation.Set {
	if c.rules == nil {
		return nil
	}
	return c.rules.Load()
}

// includes reports that a rule reads objects of a kind that is excluded by default.
func (c *Input) includes(r object.Resource) bool {
	rules := c.learnedRules()
	return rules != nil && rules.Reads(r.GroupKind()) && !rules.OnDemand(r.GroupKind())
}

// Read reads a first query and the stack of the roots, and returns the graph of both.
func (s *Session) Read(ctx context.Context, first source.Query, roots func(*graph.Graph) []graph.ID, o graph.StackOptions) (*graph.Graph, error) {
	var g *graph.Graph
	first.Include = s.Input.Include
	reading := s.Input.Clock.Stage("read")
	err := source.Follow(ctx, s.Source, first, s.schemas.before(ctx, s.Inventory), func() source.Query {
		reading()
		build := s.Input.Clock.Stage("build")
		s.relearn()
		g = s.builder.Build(s.Inventory)
		ids := roots(g)
		var kinds []schema.GroupKind
		if s.Input.MoreRoots != nil {
			var more []graph.ID
			more, kinds = s.Input.MoreRoots(g, ids)
			ids = slices.Concat(ids, more)
		}
		stack := g.Stack(slices.Concat(ids, s.Keepers(g)), o)
		build()
		reading = s.Input.Clock.Stage("read")
		return source.Query{Objects: stack.Wanted(), Namespaces: stack.Namespaces(), Kinds: append(kinds, stack.WantedKinds()...)}
	})
	reading()
	if err != nil {
		return nil, err
	}
	return g, nil
}

// ReportGaps prints what could not be read or understood.
func (s *Session) ReportGaps(g *graph.Graph) {
	s.Input.Report.Gaps(g.Gaps())
	for _, f := range s.Findings {
		s.Input.Report.Warn(f.String())
	}
}

// PrintTimings prints the timings, if the user enabled them.
func (s *Session) PrintTimings(g *graph.Graph) {
	if s.Input.ShowTimings {
		s.Input.Report.Timings(s.Input.Clock.Text(s.Inventory.Objects(), g.Edges()))
	}
}

// fewDefinitions are read one by one; of more, the list is one request.
const fewDefinitions = 16

// readDefinitions passes on CustomResourceDefinitions, whole. It reports one that cannot be read on
// stderr, and continues with the next.
func (s *Session) readDefinitions(ctx context.Context, refs []object.Ref, each func(map[string]any)) error {
	if len(refs) == 0 {
		return nil
	}
	sink := &wholeSink{each: each, want: map[object.Ref]bool{}}
	for _, r := range refs {
		sink.want[r] = true
	}
	ask := source.Query{Objects: refs}
	if len(refs) > fewDefinitions {
		ask = source.Query{Kinds: []schema.GroupKind{DefinitionKind}}
	}
	err := s.wholly().Read(ctx, ask, sink)
	s.Input.Report.Gaps(sink.Gaps)
	return err
}

// wholly is the same source with whole objects.
func (s *Session) wholly() source.Source {
	switch from := s.Source.(type) {
	case *source.Cluster:
		return from.Whole()
	case *source.Live:
		return from.Cluster().Whole()
	case *source.Snapshot:
		return from.Whole()
	case *source.Overlay:
		return from.Whole()
	}
	return nil
}

// Cluster is the cluster that the session reads; nil for a snapshot.
func (s *Session) Cluster() *source.Cluster {
	if live, ok := s.Source.(*source.Live); ok {
		return live.Cluster()
	}
	cluster, _ := s.Source.(*source.Cluster)
	return cluster
}

// wholeSink passes on the content of the wanted objects, one at a time.
type wholeSink struct {
	EarlyGaps
	mu   sync.Mutex
	each func(map[string]any)
	want map[object.Ref]bool
}

// Add takes the objects that are wanted.
func (w *wholeSink) Add(o object.Object) {
	if fields := o.Fields(); fields != nil && w.want[o.Ref] {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.each(fields)
	}
}

// Gap keeps a gap.
func (w *wholeSink) Gap(g object.Gap) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.EarlyGaps.Gap(g)
}

// EarlyGaps keeps only gaps, before there is an inventory.
type EarlyGaps struct{ Gaps []object.Gap }

// Add drops the object.
func (e *EarlyGaps) Add(object.Object) {}

// Absent drops what is known to be missing.
func (e *EarlyGaps) Absent(object.Ref) {}

// Cover drops what was covered.
func (e *EarlyGaps) Cover(schema.GroupKind, string) {}

// Reset drops nothing: there is nothing to read again.
func (e *EarlyGaps) Reset(schema.GroupKind, string) {}

// Gap keeps a gap.
func (e *EarlyGaps) Gap(g object.Gap) { e.Gaps = append(e.Gaps, g) }

// Everything returns each object of the namespace, or of the cluster.
func (s *Session) Everything(g *graph.Graph) []graph.ID {
	var out []graph.ID
	for id := range graph.ID(g.Len()) {
		if g.WasRead(id) && (s.Namespace == "" || g.Ref(id).Namespace == s.Namespace) {
			out = append(out, id)
		}
	}
	return out
}

// WholeSource returns a source of whole objects, except Secrets and ConfigMaps, with the detail Fields or
// Whole.
func (c *Input) WholeSource(ctx context.Context, s *Session, detail source.Detail) (source.Source, error) {
	if snap, ok := s.Source.(*source.Snapshot); ok {
		return snap.Whole(), nil
	}
	config, err := c.Config.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	disco, err := c.Config.ToDiscoveryClient()
	if err != nil {
		return nil, err
	}
	cluster, err := source.NewCluster(source.ClusterOptions{Config: config, Discovery: disco, Detail: func(object.Resource) (source.Detail, string) { return detail, "" }})
	if err != nil {
		return nil, err
	}
	_, err = cluster.Kinds(ctx, &EarlyGaps{})
	return cluster, err
}
