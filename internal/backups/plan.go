// Package backups plans backups of the apps in a cluster or a snapshot, and reads the backups of a
// cluster: their records, the state of their parts, and what their file needs. Package backup
// computes; package installer writes.
package backups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Request says what is saved: the apps of a System, or the stacks of roots.
type Request struct {
	// System is the FILE of a manifest or the NAME of an adopted System; empty for Roots.
	System string
	Roots  []string
	// Name is that of the backup, and has its time: a run that was killed is continued by its
	// name. Empty makes one of the current time.
	Name        string
	Consistency backup.Consistency
	Velero      bool // Velero saves it
	Strict      bool // what cannot be saved is an error
	// Catalogue and Versions are those of system export, for the manifests in the record.
	Catalogue *catalog.Catalogue
	Versions  func(context.Context) (map[string]string, error)
}

// Make plans a backup.
func Make(ctx context.Context, in *app.Input, r Request) (*backup.Plan, error) {
	q := systems.Query{Name: r.System}
	roots, err := q.Read(ctx, in, r.Roots)
	if err != nil {
		return nil, err
	}
	if len(roots) == 0 {
		return nil, hint.With(errors.New("name what is backed up: a ROOT, or a System with --system NAME"), "kubectl sysop stacks lists the roots")
	}
	plan := &backup.Plan{Head: document.Head{APIVersion: document.APIVersion, Kind: "Backup"}, Consistency: r.Consistency, Parts: []backup.Part{}, Source: sourceOf(&q, roots)}
	if err := setName(plan, r.Name, in.Now()); err != nil {
		return nil, err
	}
	session, state, err := read(ctx, in, roots)
	if err != nil {
		return nil, err
	}
	if plan.Namespace, err = namespaceOf(session, &q, state); err != nil {
		return nil, err
	}
	if plan.Roots, err = rootsOf(session, &q, plan.Namespace, roots); err != nil {
		return nil, err
	}
	if r.Velero {
		if err := backup.ComputeVelero(*state, plan); err != nil {
			return nil, err
		}
	} else {
		backup.Compute(*state, plan)
	}
	if err := export(ctx, in, r, roots, plan, q.System, session.Kinds); err != nil {
		return nil, err
	}
	if r.Name != "" && in.From == "" {
		if err := resume(ctx, in, plan); err != nil {
			return nil, err
		}
	}
	session.PrintTimings(state.Graph)
	return plan, check(plan, r.Strict)
}

// sourceOf names what is saved, as a DNS label.
func sourceOf(q *systems.Query, roots []string) string {
	if q.System != nil {
		return q.System.Name
	}
	name := roots[0][strings.LastIndex(roots[0], "/")+1:]
	return strings.Trim(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(name)), "-")
}

// rootsOf are what is saved: the System, or the roots. A group has its prefix as the kind, as on the
// command line: helm/shop/db.
func rootsOf(s *app.Session, q *systems.Query, namespace string, args []string) ([]object.Ref, error) {
	if q.System != nil {
		return []object.Ref{{Kind: graph.BySystem, Namespace: namespace, Name: q.System.Name}}, nil
	}
	roots, err := app.ParseRoots(args, s.Kinds)
	if err != nil {
		return nil, err
	}
	var out []object.Ref
	for _, r := range roots {
		ref := object.Ref{Group: r.Kind.Group, Kind: r.Kind.Kind, Name: cmp.Or(r.Name, "*")}
		if r.Group != "" {
			ref.Group, ref.Kind = "", r.Group
		}
		if r.Group != "" || r.Kind.Namespaced {
			ref.Namespace = s.NamespaceOf(r)
		}
		out = append(out, ref)
	}
	return out, nil
}

// setName sets the name and the time of the backup: the time is in the name.
func setName(p *backup.Plan, given string, now time.Time) error {
	const longest = 32
	if given == "" {
		p.Time = now.UTC().Truncate(time.Second)
		p.Name = strings.TrimRight(p.Source[:min(len(p.Source), longest)], "-") + "-backup-" + p.Time.Format(backup.StampFormat)
		return nil
	}
	at, ok := backup.TimeOf(given)
	if !ok {
		return fmt.Errorf("--name %s: expected a name that ends with a time, as shop-backup-20260901-120000", given)
	}
	p.Name, p.Time = given, at
	return nil
}

// namespaceOf is the namespace that the backup is in: that of the System, or of the roots.
func namespaceOf(s *app.Session, q *systems.Query, state *backup.State) (string, error) {
	switch {
	case q.System != nil && q.System.Namespace != "":
		return q.System.Namespace, nil
	case s.Namespace != "":
		return s.Namespace, nil
	}
	for _, id := range state.Members {
		if ns := state.Graph.Ref(id).Namespace; ns != "" {
			return ns, nil
		}
	}
	return "", errors.New("-A: name a namespace with -n, which the backup is kept in")
}

// read reads the stacks of the roots, and whole what a plan needs of them.
func read(ctx context.Context, given *app.Input, args []string) (*app.Session, *backup.State, error) {
	in := *given
	s, err := in.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	roots, err := app.ParseRoots(args, s.Kinds)
	if err != nil {
		return nil, nil, err
	}
	resolve := func(g *graph.Graph) []graph.ID { return s.Resolve(g, roots, nil) }
	query := s.Query(roots)
	g, err := s.Read(ctx, query, resolve, in.StackOptions())
	if err != nil {
		return nil, nil, err
	}
	if err := s.Missing(g, roots, nil); err != nil {
		return nil, nil, err
	}
	state := &backup.State{Graph: g, Members: g.Stack(resolve(g), in.StackOptions()).Members(), Kinds: s.Kinds, Namespaces: query.Namespaces}
	for _, id := range state.Members {
		if query.All { // each namespace was read
			state.Namespaces = append(state.Namespaces, g.Ref(id).Namespace)
		}
	}
	ask := source.Query{Objects: wanted(state)}
	for _, gk := range append(likes(state), backup.StorageClassKind, backup.SnapshotClassKind, backup.GroupSnapshotClassKind, backup.VeleroLocationKind) {
		if _, served := s.Kinds.Kind(gk); served {
			ask.Kinds = append(ask.Kinds, gk)
		}
	}
	whole, err := in.WholeSource(ctx, s, source.Whole)
	if err != nil {
		return nil, nil, err
	}
	sink := &wholeSink{all: map[object.Ref]map[string]any{}}
	if err := whole.Read(ctx, ask, sink); err != nil {
		return nil, nil, err
	}
	state.Whole = sink.all
	for _, gap := range append(slices.Clone(g.Gaps()), sink.Gaps...) {
		if isState(gap) && !slices.Contains(state.Gaps, gap) {
			state.Gaps = append(state.Gaps, gap)
		}
	}
	return s, state, nil
}

// isState says whether a gap may hide a part that holds state.
func isState(gap object.Gap) bool {
	name, _, _ := strings.Cut(gap.Resource, ".")
	return slices.Contains([]string{"persistentvolumeclaims", "persistentvolumes", "storageclasses", "volumesnapshotclasses", "statefulsets"}, name)
}

// wanted are the objects that are read whole: claims with their volumes, and custom resources that
// an operator backs up.
func wanted(state *backup.State) []object.Ref {
	var out []object.Ref
	for _, id := range state.Members {
		ref := state.Graph.Ref(id)
		switch {
		case ref.GroupKind() == backup.ClaimKind:
			for e := range state.Graph.Out(id) {
				if to := state.Graph.Ref(e.To); to.GroupKind() == backup.VolumeKind {
					out = append(out, to)
				}
			}
		case len(catalog.Backups(ref.GroupKind())) == 0:
			continue
		}
		out = append(out, ref)
	}
	slices.SortFunc(out, object.Compare)
	return slices.Compact(out)
}

// likes are the kinds of objects by which users back up members: they name the store.
func likes(state *backup.State) []schema.GroupKind {
	var out []schema.GroupKind
	for _, id := range state.Members {
		for _, way := range catalog.Backups(state.Graph.Ref(id).GroupKind()) {
			if way.Like != nil && !slices.Contains(out, declare.GroupKind(way.Like.Kind)) {
				out = append(out, declare.GroupKind(way.Like.Kind))
			}
		}
	}
	return out
}

// wholeSink keeps the content of objects.
type wholeSink struct {
	app.EarlyGaps
	mu  sync.Mutex
	all map[object.Ref]map[string]any
}

// Add keeps an object.
func (w *wholeSink) Add(o object.Object) {
	if fields := o.Fields(); fields != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all[o.Ref] = fields
	}
}

// Gap keeps a gap.
func (w *wholeSink) Gap(g object.Gap) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.EarlyGaps.Gap(g)
}

// export takes the manifests of the apps, and the Secrets and ConfigMaps that they need.
func export(ctx context.Context, given *app.Input, r Request, roots []string, p *backup.Plan, saved *system.System, kinds *object.Kinds) error {
	in := *given
	for _, ref := range p.Owners {
		if owner := ref.String(); !slices.Contains(roots, owner) {
			roots = append(slices.Clone(roots), owner)
		}
	}
	out, err := systems.Export(ctx, systems.ExportRequest{
		DraftRequest: systems.DraftRequest{Input: &in, Roots: roots, Name: p.Source}, Catalogue: r.Catalogue, Versions: r.Versions,
	})
	if err != nil {
		return fmt.Errorf("export the manifests: %w", err)
	}
	sys, problems := system.Parse(out.Name, out.Text)
	if len(problems) > 0 {
		return &hint.Lines{Lines: hint.Placed(out.Name, problems)}
	}
	omitBackups(sys)
	if saved != nil {
		sys.Backup = saved.Backup
		p.Notes = append(p.Notes, keepDependencies(sys, saved, kinds)...)
	}
	text, err := sys.YAML()
	if err != nil {
		return err
	}
	p.Specs, p.Apps = string(text), len(sys.Apps)
	for _, input := range sys.Inputs {
		ref := object.Ref{Kind: "Secret", Namespace: input.Namespace, Name: input.Secret}
		if input.ConfigMap != "" {
			ref.Kind, ref.Name = app.ConfigMapKind.Kind, input.ConfigMap
		}
		if ref.Namespace == "" {
			ref.Namespace = sys.Namespace
		}
		p.Inputs = append(p.Inputs, ref)
	}
	return nil
}

// keepDependencies adds the dependencies that a manifest declares, so that a restore waits for what the
// graph does not show. They are between apps with workloads or custom resources: Services and ConfigMaps
// wait for nothing. It returns which it leaves out, and why.
func keepDependencies(sys, declared *system.System, kinds *object.Kinds) (notes []string) {
	in := recordedApps(sys, declared, kinds)
	for _, d := range declared.Dependencies {
		for _, from := range in(d.From) {
			for _, to := range in(d.To) {
				switch {
				case needs(sys, from, to):
				case needs(sys, to, from):
					notes = append(notes, fmt.Sprintf("a restore does not wait for the dependency %s -> %s of the manifest: %s needs %s", d.From, d.To, to, from))
				default:
					sys.Dependencies = append(sys.Dependencies, system.Dependency{From: from, To: to, Reason: d.Reason})
				}
			}
		}
	}
	return notes
}

// recordedApps returns a function from an app of a manifest to the apps of a record with its workloads
// and custom resources.
func recordedApps(sys, declared *system.System, kinds *object.Kinds) func(name string) []string {
	apps := map[object.Ref]string{}
	for i := range sys.Apps {
		for _, o := range sys.Apps[i].Resources {
			ref := object.RefOf(o)
			ref.Namespace = cmp.Or(ref.Namespace, sys.Namespace)
			apps[ref] = sys.Apps[i].Name
		}
	}
	return func(name string) (out []string) {
		i := slices.IndexFunc(declared.Apps, func(a system.App) bool { return a.Name == name })
		if i < 0 {
			return nil
		}
		for _, root := range declared.Apps[i].Roots {
			kind, err := kinds.Find(root.Type)
			if err != nil || kind.Group == "" {
				continue
			}
			ref := object.Ref{Group: kind.Group, Kind: kind.Kind, Namespace: cmp.Or(root.Namespace, declared.Namespace), Name: root.Name}
			if app := apps[ref]; app != "" && !slices.Contains(out, app) {
				out = append(out, app)
			}
		}
		return out
	}
}

// needs says whether an app is another one, or depends on it, directly or by others.
func needs(sys *system.System, from, to string) bool {
	seen := map[string]bool{from: true}
	for next := []string{from}; len(next) > 0; next = next[1:] {
		if next[0] == to {
			return true
		}
		for _, d := range sys.Dependencies {
			if d.From == next[0] && !seen[d.To] {
				seen[d.To], next = true, append(next, d.To)
			}
		}
	}
	return false
}

// omitBackups removes backups and snapshots from the manifests: installing them would make new ones.
// What has a schedule stays: it names the store.
func omitBackups(sys *system.System) {
	kinds := map[schema.GroupKind]bool{{Group: backup.SnapshotGroup, Kind: "VolumeSnapshot"}: true}
	for _, e := range catalog.All() {
		for _, k := range e.Kinds {
			for _, way := range k.Backup {
				if way.Manual == "" {
					kinds[declare.GroupKind(way.Object.Kind)] = true
				}
			}
		}
	}
	gone := map[string]bool{}
	for i := range sys.Apps {
		a := &sys.Apps[i]
		a.Resources = slices.DeleteFunc(a.Resources, func(o *unstructured.Unstructured) bool {
			if _, scheduled, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "schedule"); scheduled || !kinds[o.GroupVersionKind().GroupKind()] {
				return false
			}
			a.Roots = slices.DeleteFunc(a.Roots, func(r system.Root) bool {
				return r.Name == o.GetName() && strings.EqualFold(r.Type, o.GroupVersionKind().GroupKind().String())
			})
			return true
		})
		gone[a.Name] = len(a.Resources) == 0
	}
	sys.Apps = slices.DeleteFunc(sys.Apps, func(a system.App) bool { return gone[a.Name] })
	sys.Dependencies = slices.DeleteFunc(sys.Dependencies, func(d system.Dependency) bool { return gone[d.From] || gone[d.To] })
}

// check is the error of a strict plan that leaves something out.
func check(p *backup.Plan, strict bool) error {
	if !strict || len(p.Unsaved) == 0 {
		return nil
	}
	lines := &hint.Lines{}
	for _, u := range p.Unsaved {
		lines.Lines = append(lines.Lines, fmt.Sprintf("%s is not saved: %s", u.Object, u.Reason))
	}
	return hint.With(lines, p.Unsaved[0].Hint)
}
