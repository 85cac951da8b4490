package backup

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// RestoreOptions say where a backup is restored, and how.
type RestoreOptions struct {
	// Namespaces and StorageClasses map names of the backup to those of the restore.
	Namespaces, StorageClasses map[string]string
	// Secrets are those of the file of the backup; for a rehearsal, the inputs that exist.
	Secrets []*unstructured.Unstructured
	// NoOperators leaves out the operators that the apps need: they exist.
	NoOperators bool
	// Time is when the restore began. What a restored object writes to a store of backups has it in
	// its name, since such a name must not be in use; a restore that continues has that of its first run.
	Time time.Time
	// Rehearsal says that it runs beside the original and is deleted again: it must not use the
	// original, nor take its traffic.
	Rehearsal bool
	// KeepSchedules leaves a copy what writes to the stores of backups of its original, which is gone.
	KeepSchedules bool
	// Replace says that the original is deleted first: what is restored in its place is no copy.
	Replace bool
}

// Restore is how a backup is restored (docs/schema/restore.json).
type Restore struct {
	document.Head `json:",inline"`
	Backup        string `json:"backup"`
	Name          string `json:"name"` // of the System that is installed
	Namespace     string `json:"namespace"`
	// Parts are those that hold state, in the order in which they are restored.
	Parts []RestoredPart `json:"parts"`
	// Unrestored are parts whose data is not restored.
	Unrestored []Unsaved `json:"unrestored,omitempty"`
	// Apps is how many apps are installed, Secrets are those of the file, and Inputs are Secrets
	// and ConfigMaps that have to exist before.
	Apps    int          `json:"apps"`
	Secrets []object.Ref `json:"secrets,omitempty"`
	Inputs  []object.Ref `json:"inputs,omitempty"`
	// Replaced are the objects that exist, and are deleted first, with their data.
	Replaced []ReplacedObject `json:"replaced,omitempty"`
	Notes    []string         `json:"notes,omitempty"`
	// Installed says that a run of install made what is replaced.
	Installed bool `json:"-"`
	// System is what is installed, Manifest its text, and SecretObjects come before its apps.
	System        *system.System               `json:"-"`
	Manifest      string                       `json:"-"`
	SecretObjects []*unstructured.Unstructured `json:"-"`

	stamp string // the time of the backup, in names
	// drivers are those of the snapshots that claims are made from.
	drivers map[object.Ref]string
}

// Unstamped is the digest of the manifest without the time of the restore in its names.
func (r *Restore) Unstamped(stamp time.Time) string {
	sum := sha256.Sum256([]byte(strings.ReplaceAll(r.Manifest, stamp.UTC().Format(StampFormat), "")))
	return hex.EncodeToString(sum[:])
}

// ReplacedObject is an object that exists and is deleted before a restore.
type ReplacedObject struct {
	object.Ref
	UID types.UID
}

// RestoredPart is a part whose data is restored.
type RestoredPart struct {
	Object object.Ref `json:"object"`
	App    string     `json:"app"`
	// Source is where its data is read from, and Method how.
	Source string `json:"source"`
	Method string `json:"method"`
}

// Restored computes the System that restores a complete backup: its apps, with their claims made
// from snapshots and their custom resources made from the backups of their operators.
func Restored(p *Plan, o RestoreOptions) (*Restore, error) {
	if !p.Complete() {
		return nil, incomplete(p)
	}
	sys, problems := system.Parse("the manifest of the backup "+p.Name, []byte(p.Specs))
	if len(problems) > 0 {
		return nil, &hint.Lines{Lines: hint.Placed(p.Name, problems)}
	}
	r := &restorer{plan: p, options: o, sys: sys, mapped: map[string]bool{}, patches: map[object.Ref]map[string]any{}, Restore: &Restore{
		stamp: p.Time.UTC().Format(StampFormat), drivers: map[object.Ref]string{},
		Head: document.Head{APIVersion: document.APIVersion, Kind: "Restore"}, Backup: p.Name, Name: sys.Name, Parts: []RestoredPart{},
	}}
	if err := r.refuseMaps(); err != nil {
		return nil, err
	}
	if len(p.Parts) > 0 && p.Parts[0].Method == ByVelero {
		return r.Restore, r.restoreVelero()
	}
	if err := r.relocate(); err != nil {
		return nil, err
	}
	for i := range p.Parts {
		r.part(&p.Parts[i])
	}
	for _, u := range p.Unsaved {
		u.Reason = "it is not in the backup: " + u.Reason
		r.Unrestored = append(r.Unrestored, u)
	}
	for _, from := range slices.Sorted(maps.Keys(o.StorageClasses)) {
		if !r.mapped[from] {
			r.Notes = append(r.Notes, fmt.Sprintf("--storage-class-map %s=%s: nothing in the backup has that storage class", from, o.StorageClasses[from]))
		}
	}
	r.separate()
	r.snapshotApp()
	r.Apps = len(sys.Apps)
	return r.Restore, r.finish()
}

// incomplete says which part of a backup is not saved.
func incomplete(p *Plan) error {
	lines := &hint.Lines{}
	for i := range p.Parts {
		if part := &p.Parts[i]; part.Status != health.Healthy {
			lines.Lines = append(lines.Lines, fmt.Sprintf("%s is not saved: %s is %s %s", part.Object, part.Backup, part.Status, part.Message))
		}
	}
	return hint.With(lines, "kubectl sysop backup list lists the complete backups")
}

type restorer struct {
	*Restore
	plan    *Plan
	options RestoreOptions
	sys     *system.System
	// snapshots are the VolumeSnapshots and contents to create, and users the apps that need them.
	snapshots []*unstructured.Unstructured
	users     []string
	mapped    map[string]bool // the storage classes that are mapped
	// patches are what custom resources are restored with.
	patches map[object.Ref]map[string]any
}

// namespace maps the namespace of an object; empty stays empty.
func (r *restorer) namespace(ns string) string {
	if to, ok := r.options.Namespaces[ns]; ok {
		return to
	}
	return ns
}

// class maps a storage class.
func (r *restorer) class(name string) string {
	if to, ok := r.options.StorageClasses[name]; ok {
		r.mapped[name] = true
		return to
	}
	return name
}

// relocate moves the apps to the namespaces and storage classes of the restore.
func (r *restorer) relocate() error {
	former := r.sys.Namespace
	w := walker{restorer: r, hosts: hostsOf(r.sys, r.options.Namespaces), moved: map[string]bool{}}
	r.sys.Namespace = r.namespace(former)
	r.Namespace = r.sys.Namespace
	if r.options.NoOperators {
		r.sys.Operators = nil
	}
	for i := range r.sys.Apps {
		a := &r.sys.Apps[i]
		if r.options.NoOperators {
			a.Operator = ""
		}
		for j := range a.Roots {
			a.Roots[j].Namespace = r.namespace(a.Roots[j].Namespace)
		}
		for _, o := range a.Resources {
			ns := o.GetNamespace()
			w.at = object.RefOf(o)
			w.walk(o.Object)
			if ns != "" {
				o.SetNamespace(r.namespace(ns))
			}
			r.noteRoute(o, cmp.Or(ns, former))
		}
	}
	for i := range r.sys.Inputs {
		r.sys.Inputs[i].Namespace = r.namespace(r.sys.Inputs[i].Namespace)
	}
	for _, text := range slices.Sorted(maps.Keys(w.moved)) {
		r.Notes = append(r.Notes, text+" names a Service of a namespace that is mapped: it is changed to the new namespace")
	}
	return errors.Join(r.refuseTwice(), r.links(w.hosts))
}

// refuseMaps refuses a namespace that the backup does not have: its objects would stay where the
// original is.
func (r *restorer) refuseMaps() error {
	known := namespacesOf(r.plan, r.sys)
	for _, from := range slices.Sorted(maps.Keys(r.options.Namespaces)) {
		if !slices.Contains(known, from) {
			return hint.With(fmt.Errorf("--namespace-map %s=%s: the backup %s has nothing in the namespace %s", from, r.options.Namespaces[from], r.plan.Name, from), "its namespaces are "+strings.Join(known, ", "))
		}
	}
	return nil
}

// refuseTwice refuses maps that move two objects to one place.
func (r *restorer) refuseTwice() error {
	seen := map[object.Ref]bool{}
	lines := &hint.Lines{}
	add := func(ref object.Ref) {
		if seen[ref] {
			lines.Lines = append(lines.Lines, fmt.Sprintf("--namespace-map: two objects of the backup would be %s", ref))
		}
		seen[ref] = true
	}
	for i := range r.sys.Apps {
		for _, o := range r.sys.Apps[i].Resources {
			add(placed(o, r.sys))
		}
	}
	for _, o := range r.options.Secrets {
		ref := object.RefOf(o)
		ref.Namespace = r.namespace(ref.Namespace)
		add(ref)
	}
	if len(lines.Lines) == 0 {
		return nil
	}
	return hint.With(lines, "map each namespace to another one")
}

// links says which Secrets and ConfigMaps name a Service of the original. Their values stay as they
// are, and are not part of the text.
func (r *restorer) links(h *hosts) error {
	for _, o := range r.options.Secrets {
		ns := h.named(o)
		switch {
		case ns == "":
		case r.options.Rehearsal:
			return hint.With(fmt.Errorf("%s names a Service of the namespace %s: the copy would use what runs there", object.RefOf(o), ns),
				"name the Service without its namespace in the "+o.GetKind()+", so that a copy finds its own")
		default:
			r.Notes = append(r.Notes, fmt.Sprintf("%s names a Service of the namespace %s, and its values stay as they are: what uses it uses that Service", object.RefOf(o), ns))
		}
	}
	return nil
}

// noteRoute says that an object takes host names of the one that it is a copy of.
func (r *restorer) noteRoute(o *unstructured.Unstructured, from string) {
	names := routedHosts(o)
	if r.options.Rehearsal || len(names) == 0 || r.namespace(from) == from || !isRoute(o.GroupVersionKind().GroupKind()) {
		return
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%s has the hosts of the one in %s (%s): in the same cluster, both take their traffic", placed(o, r.sys), from, object.ShortList(names)))
}

// walker maps the storage classes, the namespaces of references and the host names of Services in an
// object.
type walker struct {
	*restorer
	at    object.Ref
	hosts *hosts
	moved map[string]bool // what named a Service, for people
}

func (w walker) walk(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			text, isText := item.(string)
			switch {
			case !isText:
				w.walk(item)
			case key == "storageClassName" || key == "storageClass":
				v[key] = w.class(text)
			case key == "namespace":
				v[key] = w.namespace(text)
			default:
				v[key] = w.rewired(text)
			}
		}
	case []any:
		for i, item := range v {
			if text, ok := item.(string); ok {
				v[i] = w.rewired(text)
			}
			w.walk(item)
		}
	}
}

// rewired is a text with the host names of Services in their new namespaces.
func (w walker) rewired(text string) string {
	out := w.hosts.rewired(text)
	if out != text {
		w.moved[w.at.String()] = true
	}
	return out
}

// find returns an object of the apps by its kind and name in the backup.
func (r *restorer) find(ref object.Ref) (app int, found *unstructured.Unstructured) {
	ns := r.namespace(ref.Namespace)
	for i := range r.sys.Apps {
		for _, o := range r.sys.Apps[i].Resources {
			if o.GroupVersionKind().GroupKind() == ref.GroupKind() && o.GetName() == ref.Name && (o.GetNamespace() == ns || o.GetNamespace() == "" && r.sys.Namespace == ns) {
				return i, o
			}
		}
	}
	return -1, nil
}

func (r *restorer) unrestored(ref object.Ref, hint, format string, args ...any) {
	r.Unrestored = append(r.Unrestored, Unsaved{ref, fmt.Sprintf(format, args...), hint})
}

func (r *restorer) restored(p *Part, app, from, way string) {
	ref := p.Object
	ref.Namespace = r.namespace(ref.Namespace)
	r.Parts = append(r.Parts, RestoredPart{ref, app, from, way})
}

func (r *restorer) part(p *Part) {
	if p.Method == ByOperator {
		r.byOperator(p)
		return
	}
	app, claim := r.find(p.Object)
	if claim == nil {
		// A StatefulSet takes up claims with the names that it would give them.
		for _, owner := range []*object.Ref{p.Set, p.Owner} {
			if owner != nil && p.Set != nil && app < 0 {
				app, _ = r.find(*owner)
			}
		}
		if app < 0 {
			owner := "its owner"
			if p.Owner != nil {
				owner = p.Owner.String()
			}
			r.unrestored(p.Object, "create a claim with dataSource "+p.snapshot().Name+" and copy its data by hand", "%s creates its own claims, and takes up none of this name", owner)
			return
		}
		claim = newObject(ClaimKind.WithVersion("v1"), r.namespace(p.Object.Namespace), p.Object.Name, nil, r.claimSpec(p))
		r.sys.Apps[app].Resources = append(r.sys.Apps[app].Resources, claim)
	} else {
		claim.Object["spec"] = r.claimSpec(p)
	}
	r.use(p, r.sys.Apps[app].Name)
}

// claimSpec is the spec of a claim that is made from a snapshot.
func (r *restorer) claimSpec(p *Part) map[string]any {
	spec := (&unstructured.Unstructured{Object: p.Claim}).DeepCopy().Object
	if name := Text(spec, "storageClassName"); name != "" {
		spec["storageClassName"] = r.class(name)
	}
	wanted, _ := resource.ParseQuantity(Text(spec, "resources", "requests", "storage"))
	if saved, err := resource.ParseQuantity(p.Size); err == nil && saved.Cmp(wanted) > 0 {
		spec["resources"] = map[string]any{"requests": map[string]any{"storage": saved.String()}}
	}
	spec["dataSource"] = map[string]any{"apiGroup": SnapshotGroup, "kind": snapshotKind.Kind, "name": r.snapshotName(p)}
	return spec
}

// use has an app wait for a snapshot. In another namespace, and from a file, the snapshot is one of
// its own, on a content with the same handle; deleting it keeps the data.
func (r *restorer) use(p *Part, app string) {
	r.restored(p, app, cmp.Or(p.snapshot(), p.Backup).String(), "a claim from the snapshot")
	r.drivers[r.Parts[len(r.Parts)-1].Object] = p.Driver
	to := r.namespace(p.Backup.Namespace)
	if r.inPlace(p) {
		return
	}
	if p.Handle == "" {
		r.unrestored(p.Object, "restore it in its own namespace", "the handle of its snapshot is unknown")
		return
	}
	if !slices.Contains(r.users, app) {
		r.users = append(r.users, app)
	}
	name := r.snapshotName(p) + "-" + to
	labels := map[string]string{NameLabel: r.plan.Name}
	content := newObject(contentKindOf(), "", name, labels, map[string]any{
		"driver": p.Driver, "deletionPolicy": "Retain", "source": map[string]any{"snapshotHandle": p.Handle},
		"volumeSnapshotRef": map[string]any{"name": r.snapshotName(p), "namespace": to},
	})
	if mode := Text(p.Claim, "volumeMode"); mode != "" {
		content.Object["spec"].(map[string]any)["sourceVolumeMode"] = mode
	}
	snapshot := newObject(snapshotKind.WithVersion("v1"), to, r.snapshotName(p), labels, map[string]any{"source": map[string]any{"volumeSnapshotContentName": name}})
	r.snapshots = append(r.snapshots, content, snapshot)
}

// inPlace says whether a claim is made from the snapshot that exists in its namespace.
func (r *restorer) inPlace(p *Part) bool {
	return r.plan.Live && r.namespace(p.Backup.Namespace) == p.Backup.Namespace
}

// snapshotName is the name of the VolumeSnapshot that a claim is made from. A copy of one of a group is
// named after the claim: the snapshot controller gives those of a group names of 73 characters.
func (r *restorer) snapshotName(p *Part) string {
	if p.IsGroup() && !r.inPlace(p) {
		return p.Object.Name + "-" + r.stamp
	}
	return p.snapshot().Name
}

func contentKindOf() schema.GroupVersionKind { return ContentKind.WithVersion("v1") }

// byOperator restores a custom resource from the backup of its operator.
func (r *restorer) byOperator(p *Part) {
	way, known := wayOf(p)
	app, o := r.find(p.Object)
	switch {
	case o == nil:
		r.unrestored(p.Object, "apply it, and restore it from "+p.Handle, "its manifest is not in the backup")
		return
	case known && way.Local && (!r.plan.Live || o.GetNamespace() != p.Backup.Namespace):
		r.unrestored(p.Object, "restore it there, or from its store as its operator documents", "its backup by %s can only be restored in the namespace %s of the backup", p.Provider, p.Backup.Namespace)
		return
	case !known || way.Patch == nil && way.Restore == nil:
		r.unrestored(p.Object, "restore it from "+p.Handle+" as its operator documents", "the catalog knows no restore of %s", p.Provider)
		return
	}
	values := catalog.BackupValues{Name: p.Object.Name, Backup: p.Backup.Name, Stamp: r.archiveStamp(), Object: o.DeepCopy().Object, BackupOf: p.Result}
	name := r.sys.Apps[app].Name
	if way.Patch != nil {
		patch, _ := values.Fill(way.Patch).(map[string]any)
		catalog.MergePatch(o.Object, patch, "")
		r.patches[placed(o, r.sys)] = patch
	}
	if way.Restore != nil {
		gvk, spec := way.Restore.Fill(values)
		restore := newObject(gvk, o.GetNamespace(), p.Backup.Name, map[string]string{NameLabel: r.plan.Name}, spec)
		r.after(name, system.App{Name: r.free("restore-" + p.Object.Name), Resources: []*unstructured.Unstructured{restore}})
	}
	r.restored(p, name, p.Handle, way.Method)
}

// after adds an app that is installed after another one, and before those that need that one.
func (r *restorer) after(name string, added system.App) {
	for _, d := range slices.Clone(r.sys.Dependencies) {
		if d.To == name {
			r.sys.Dependencies = append(r.sys.Dependencies, system.Dependency{From: d.From, To: added.Name, Reason: "its data is restored first"})
		}
	}
	r.sys.Apps = append(r.sys.Apps, added)
	r.sys.Dependencies = append(r.sys.Dependencies, system.Dependency{From: added.Name, To: name, Reason: "it restores its data"})
}

// free is a name that no app has.
func (r *restorer) free(name string) string {
	name = strings.Trim(strings.ReplaceAll(name, ".", "-")[:min(len(name), 60)], "-")
	for {
		if _, taken := r.sys.App(name); !taken {
			return name
		}
		name += "-2"
	}
}

// snapshotApp adds the app of the snapshots, which those with claims need.
func (r *restorer) snapshotApp() {
	if len(r.snapshots) == 0 {
		return
	}
	name := r.free("volume-snapshots")
	r.sys.Apps = append(r.sys.Apps, system.App{Name: name, Resources: r.snapshots})
	for _, user := range r.users {
		r.sys.Dependencies = append(r.sys.Dependencies, system.Dependency{From: user, To: name, Reason: "its claims are made from snapshots"})
	}
}

// finish checks the System, and sets its manifest and what has to exist before.
func (r *restorer) finish() error {
	for _, in := range r.sys.Inputs {
		ref := object.Ref{Kind: secretKind.Kind, Namespace: in.Namespace, Name: in.Secret}
		if in.ConfigMap != "" {
			ref.Kind, ref.Name = "ConfigMap", in.ConfigMap
		}
		if ref.Namespace == "" {
			ref.Namespace = r.sys.Namespace
		}
		r.Inputs = append(r.Inputs, ref)
	}
	text, err := r.sys.YAML()
	if err != nil {
		return err
	}
	sys, problems := system.Parse(r.Name, text)
	if len(problems) > 0 {
		return &hint.Lines{Lines: hint.Placed(r.Name, problems)}
	}
	r.System, r.Manifest = sys, string(text)
	r.secrets()
	return nil
}

// keepPolicy keeps an object when its release is deleted.
const keepPolicy = "helm.sh/resource-policy"

// secrets moves the Secrets of the file: they are no inputs that have to exist before.
func (r *restorer) secrets() {
	for _, o := range r.options.Secrets {
		secret := o.DeepCopy()
		secret.SetNamespace(r.namespace(o.GetNamespace()))
		// A later upgrade by the manifest has none of them: they stay.
		secret.SetAnnotations(map[string]string{keepPolicy: "keep"})
		ref := object.RefOf(secret)
		r.Secrets = append(r.Secrets, ref)
		r.Inputs = slices.DeleteFunc(r.Inputs, func(in object.Ref) bool { return in == ref })
		r.System.Inputs = slices.DeleteFunc(r.System.Inputs, func(in system.Input) bool {
			name := in.Secret
			if ref.Kind != secretKind.Kind {
				name = in.ConfigMap
			}
			return name == ref.Name && (in.Namespace == ref.Namespace || in.Namespace == "" && r.System.Namespace == ref.Namespace)
		})
		r.SecretObjects = append(r.SecretObjects, secret)
	}
}

// archiveStamp is the end of names in a store of backups that a restored object writes to. Such a
// name must not be in use: each restore has its own, also two that begin in one second.
func (r *restorer) archiveStamp() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.Namespace)) // which never fails
	return fmt.Sprintf("%s-%08x", r.options.Time.UTC().Format(StampFormat), h.Sum32())
}
