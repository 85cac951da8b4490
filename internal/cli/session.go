package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

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

// session is one reading of a source into a graph.
type session struct {
	c         *input
	source    source.Source
	snapshot  bool
	kinds     *object.Kinds
	rules     *relation.Set
	inv       *inventory.Inventory
	builder   *graph.Builder
	namespace string // of the user; empty where all are meant
	findings  []annotations.Finding
	// releases are the objects of Helm releases, by name, where Helm was asked.
	releases map[string][]object.Ref
	// systems are the adopted Systems among the roots: who keeps one names the namespaces
	// that its members are in.
	systems []rootArg
	// declared is what the CRDs say in annotations.
	declared []annotations.Declaration
	schemas  *schemas     // of the kinds for which nothing is declared
	gaps     []object.Gap // of the discovery
	// files are the user's rules; learned are the definitions that the rules were learned of, and
	// learnedOf the kinds.
	files     []rulesFile
	learned   string
	learnedOf *object.Kinds
}

// open connects to the source, and learns its kinds and its rules.
func (c *input) open(ctx context.Context) (*session, error) {
	defer c.clock.stage("discover")()
	s := &session{c: c, snapshot: c.from != ""}
	early := &earlyGaps{}
	files, err := c.readRules(ctx)
	if err != nil {
		return nil, err
	}
	if s.source, s.namespace, err = c.source(ctx); err != nil {
		return nil, err
	}
	if c.over != nil {
		s.source = c.over(s.source, s.namespace)
	}
	if s.kinds, err = s.source.Kinds(ctx, early); err != nil {
		return nil, err
	}
	definitions, err := s.source.Definitions(ctx, early)
	if err != nil {
		return nil, err
	}
	if learned, ok := s.source.(interface{ Current() *object.Kinds }); ok {
		s.kinds = learned.Current()
	}
	if err := checkRules(files, s.kinds); err != nil {
		return nil, err
	}
	if err := s.checkPaths(ctx, files); err != nil {
		return nil, err
	}
	s.learn(definitions, files)
	s.gaps = early.gaps
	if err := c.healthRules.learn(ctx, s.source); err != nil {
		return nil, err
	}
	s.empty()
	return s, nil
}

// clusterOf returns the cluster that a source reads; false for a snapshot.
func clusterOf(from source.Source) (*source.Cluster, bool) {
	switch from := from.(type) {
	case *source.Cluster:
		return from, true
	case *source.Live:
		return from.Cluster(), true
	case *source.Overlay:
		return clusterOf(from.Base())
	}
	return nil, false
}

// empty makes room for a reading.
func (s *session) empty() {
	s.builder = graph.NewBuilder(s.rules, s.kinds)
	s.inv = inventory.New(append(append(s.rules.Annotations(), graph.HelmName, graph.HelmNamespace), s.c.notes...), s.extractors()...)
	s.inv.ExtractUnread(s.builder.Extract)
	for _, g := range s.gaps {
		s.inv.Gap(g)
	}
}

// extractors take what is wanted of objects while they pass.
func (s *session) extractors() []inventory.Extractor {
	all := []inventory.Extractor{s.builder.Extract}
	for _, extractor := range s.c.extract {
		all = append(all, extractor(s))
	}
	if collect := s.c.collect; collect != nil {
		all = append(all, func(o object.Object) func(*inventory.Inventory, inventory.ID) {
			collect(o)
			return nil
		})
	}
	return all
}

// source returns the snapshot or the cluster, and the namespace that is meant.
func (c *input) source(ctx context.Context) (source.Source, string, error) {
	if c.from != "" {
		snap, err := c.openSnapshot(ctx)
		if err != nil {
			return nil, "", err
		}
		return snap.Reading(c.detail()), c.asked(), nil
	}
	config, err := c.config.ToRESTConfig()
	if err != nil {
		return nil, "", hint.With(fmt.Errorf("read the kubeconfig: %w", err), "check --kubeconfig and --context, or try it without a cluster: --from demo")
	}
	disco, err := c.config.ToDiscoveryClient()
	if err != nil {
		return nil, "", fmt.Errorf("set up discovery: %w", err)
	}
	ns, _, err := c.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("read the namespace of the kubeconfig: %w", err)
	}
	if c.allNamespaces {
		ns = ""
	}
	cluster, err := source.NewCluster(source.ClusterOptions{Config: config, Discovery: disco, Detail: c.detail(), Also: c.includes, Known: catalog.Kinds()})
	return cluster, ns, err
}

// asked is the namespace that -n names; empty without it.
func (c *input) asked() string {
	if given(c.config.Namespace) {
		return *c.config.Namespace
	}
	return ""
}

// openSnapshot reads a snapshot. Standard input may never end: an interrupt ends
// the waiting, not the reading.
func (c *input) openSnapshot(ctx context.Context) (*source.Snapshot, error) {
	type opened struct {
		snap *source.Snapshot
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		known := source.SnapshotOptions{Namespace: c.asked(), Known: catalog.Kinds()}
		snap, err := known.Open(c.from, c.stdin, c.demo)
		done <- opened{snap, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case o := <-done:
		return o.snap, o.err
	}
}

// maxDeclared bounds the rules of files and CRDs, and leaves room for the others.
// A pod template alone makes some twenty.
const maxDeclared = relation.MaxRules / 2

// learn collects the rules: the built-in ones, what the user's files say, what the
// CRDs declare, those of the catalogue.
func (s *session) learn(definitions []metav1.Object, files []rulesFile) {
	s.files, s.learned, s.learnedOf = files, stateOfAll(definitions), s.kinds
	rules := relation.BuiltIn()
	for _, f := range files {
		rules = append(rules, declare.Rules(f.specs, filepath.Base(f.name), "file "+f.name, s.kinds)...)
	}
	for _, crd := range definitions {
		d, findings := annotations.Parse(crd, s.kinds)
		if len(rules)+len(d.Rules) > maxDeclared {
			findings = append(findings, annotations.Finding{CRD: d.CRD, Message: fmt.Sprintf("its %d rules are ignored: there are more than %d", len(d.Rules), maxDeclared)})
			d.Rules, d.Specs = nil, nil
		}
		rules = append(rules, d.Rules...)
		s.declared = append(s.declared, d)
		s.findings = append(s.findings, findings...)
	}
	// What the cluster itself says goes before what the project knows of it, and that
	// before guesses: of two rules that read one field the first is shown.
	rules = append(rules, catalog.Rules(s.kinds)...)
	rules = append(rules, s.guesses(rules, definitions)...)
	s.rules = relation.NewSet(rules...)
	if s.c.rules == nil {
		s.c.rules = &atomic.Pointer[relation.Set]{}
	}
	s.c.rules.Store(s.rules)
}

// detail returns how much is read of a kind: what a rule looks at. The rules of
// the CRDs are known only after the source has been asked for these. The CRDs
// themselves are huge: of a cluster's nothing but the metadata is read, where
// nobody asks about one.
func (c *input) detail() func(object.Resource) (source.Detail, string) {
	typed := map[schema.GroupKind]string{}
	for _, gvk := range relation.Typed() {
		typed[gvk.GroupKind()] = gvk.Version
	}
	return func(r object.Resource) (source.Detail, string) {
		gk := r.GroupKind()
		if version, ok := typed[gk]; ok {
			return source.Typed, version
		}
		if c.collect != nil && slices.Contains(measuredKinds, gk.Kind) && gk.Group == "" {
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
		if rules := c.learnedRules(); rules != nil && rules.Reads(gk) && (gk != definitionKind || c.definitions || c.from != "") {
			return source.Fields, ""
		}
		return source.Metadata, ""
	}
}

// measuredKinds are those of the core group that say what is reserved, and what there
// is of it.
var measuredKinds = []string{"Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "Service"}

var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// learnedRules are the rules of the session; nil before they are learned.
func (c *input) learnedRules() *relation.Set {
	if c.rules == nil {
		return nil
	}
	return c.rules.Load()
}

// includes says that a rule looks into objects of a kind that is otherwise left out.
func (c *input) includes(r object.Resource) bool {
	rules := c.learnedRules()
	return rules != nil && rules.Reads(r.GroupKind()) && !rules.OnDemand(r.GroupKind())
}

// read reads the first ask and what the stack of the roots leads to, and returns
// the graph of it all.
func (s *session) read(ctx context.Context, first source.Query, roots func(*graph.Graph) []graph.ID, o graph.StackOptions) (*graph.Graph, error) {
	var g *graph.Graph
	first.Include = s.c.include
	reading := s.c.clock.stage("read")
	err := source.Follow(ctx, s.source, first, s.schemas.before(ctx, s.inv), func() source.Query {
		reading()
		build := s.c.clock.stage("build")
		s.relearn()
		g = s.builder.Build(s.inv)
		of := roots(g)
		var kinds []schema.GroupKind
		if s.c.moreRoots != nil {
			var more []graph.ID
			more, kinds = s.c.moreRoots(g, of)
			of = slices.Concat(of, more)
		}
		stack := g.Stack(slices.Concat(of, s.keepers(g)), o)
		build()
		reading = s.c.clock.stage("read")
		return source.Query{Objects: stack.Wanted(), Namespaces: stack.Namespaces(), Kinds: append(kinds, stack.WantedKinds()...)}
	})
	reading()
	if err != nil {
		return nil, err
	}
	return g, nil
}

// tell says on stderr what could not be read or understood.
func (s *session) tell(g *graph.Graph) {
	s.c.report.Gaps(g.Gaps())
	for _, f := range s.findings {
		s.c.report.Warn(f.String())
	}
}

// printTimings prints the timings, where they are asked for.
func (s *session) printTimings(g *graph.Graph) {
	if s.c.timings {
		s.c.report.Timings(s.c.clock.text(s.inv.Objects(), g.Edges()))
	}
}

// fewDefinitions are read one by one; of more, the list is one request.
const fewDefinitions = 16

// readDefinitions hands on CustomResourceDefinitions, whole. One that cannot be read
// is told on stderr, and passed over.
func (s *session) readDefinitions(ctx context.Context, refs []object.Ref, each func(map[string]any)) error {
	if len(refs) == 0 {
		return nil
	}
	sink := &wholeSink{each: each, want: map[object.Ref]bool{}}
	for _, r := range refs {
		sink.want[r] = true
	}
	ask := source.Query{Objects: refs}
	if len(refs) > fewDefinitions {
		ask = source.Query{Kinds: []schema.GroupKind{definitionKind}}
	}
	err := s.wholly().Read(ctx, ask, sink)
	s.c.report.Gaps(sink.gaps)
	return err
}

// wholly is the same source, of whole objects.
func (s *session) wholly() source.Source {
	switch from := s.source.(type) {
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

// wholeSink hands on the content of the objects that are wanted, one at a time.
type wholeSink struct {
	earlyGaps
	mu   sync.Mutex
	each func(map[string]any)
	want map[object.Ref]bool
}

func (w *wholeSink) Add(o object.Object) {
	if fields := o.Fields(); fields != nil && w.want[o.Ref] {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.each(fields)
	}
}

func (w *wholeSink) Gap(g object.Gap) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.earlyGaps.Gap(g)
}

// earlyGaps keeps the gaps that are met before there is an inventory, and nothing
// else.
type earlyGaps struct{ gaps []object.Gap }

func (e *earlyGaps) Add(object.Object)              {}
func (e *earlyGaps) Absent(object.Ref)              {}
func (e *earlyGaps) Cover(schema.GroupKind, string) {}
func (e *earlyGaps) Reset(schema.GroupKind, string) {}
func (e *earlyGaps) Gap(g object.Gap)               { e.gaps = append(e.gaps, g) }

// everything is each object of the namespace, or of the cluster.
func (s *session) everything(g *graph.Graph) []graph.ID {
	var out []graph.ID
	for id := range graph.ID(g.Len()) {
		if g.WasRead(id) && (s.namespace == "" || g.Ref(id).Namespace == s.namespace) {
			out = append(out, id)
		}
	}
	return out
}

// whole returns a source of whole objects, Secrets and ConfigMaps aside, with the
// detail Fields or Whole.
func (c *input) whole(ctx context.Context, s *session, detail source.Detail) (source.Source, error) {
	if snap, ok := s.source.(*source.Snapshot); ok {
		return snap.Whole(), nil
	}
	config, err := c.config.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	disco, err := c.config.ToDiscoveryClient()
	if err != nil {
		return nil, err
	}
	cluster, err := source.NewCluster(source.ClusterOptions{Config: config, Discovery: disco, Detail: func(object.Resource) (source.Detail, string) { return detail, "" }})
	if err != nil {
		return nil, err
	}
	_, err = cluster.Kinds(ctx, &earlyGaps{})
	return cluster, err
}
