package backups

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// maxRecord is what a ConfigMap holds, and maxParts what its annotations hold, with room for others.
const (
	maxRecord = 900 << 10
	maxParts  = 200 << 10
)

// System returns the System that the objects of a plan are, and its manifest.
func System(p *backup.Plan) (*system.System, string, error) {
	if len(p.Parts) == 0 {
		return nil, "", hint.With(errors.New("there is no part to save"), "kubectl sysop backup plan shows what was found; system export writes the manifests")
	}
	var objects []*unstructured.Unstructured
	for i := range p.Parts {
		if o := p.Parts[i].Create; o != nil { // One object may save several parts.
			objects = append(objects, o)
		}
	}
	record, err := recordOf(p)
	if err != nil {
		return nil, "", err
	}
	description := fmt.Sprintf("the backup of %s at %s", p.Source, p.Time.Format(time.RFC3339))
	return installer.Generated(p.Name, p.Namespace, description, "backup", append([]*unstructured.Unstructured{record}, objects...))
}

// recordOf is the ConfigMap that says what the backup is of. It has no value of a Secret.
func recordOf(p *backup.Plan) (*unstructured.Unstructured, error) {
	text, recorded := []byte(p.Record), p
	var err error
	if p.Record == "" {
		text, err = json.Marshal(p)
	} else {
		recorded, err = backup.ParseRecord(p.Name, text, nil)
	}
	if err != nil {
		return nil, err
	}
	parts, err := recorded.PartsText()
	if err != nil {
		return nil, err
	}
	if size := len(text) + len(p.Specs); size > maxRecord || len(parts) > maxParts {
		return nil, hint.With(fmt.Errorf("the record of the backup has %d bytes, %d of them in an annotation: the limits are %d and %d", size, len(parts), maxRecord, maxParts), "back up fewer ROOTs at a time")
	}
	o := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{backup.RecordKey: string(text), backup.SpecsKey: p.Specs}}}
	o.SetGroupVersionKind(app.ConfigMapKind.WithVersion("v1"))
	o.SetName(p.Name)
	o.SetNamespace(p.Namespace)
	o.SetLabels(map[string]string{backup.SourceLabel: p.Source, backup.NameLabel: p.Name})
	o.SetAnnotations(map[string]string{backup.PartsKey: parts})
	return o, nil
}

// List returns the backups of a namespace, or of all, the newest first, with the state of their
// parts.
func List(ctx context.Context, in *app.Input) ([]*backup.Plan, error) {
	c, err := systems.Connect(ctx, in)
	if err != nil {
		return nil, err
	}
	return cluster{c}.list(ctx, in)
}

func (c cluster) list(ctx context.Context, in *app.Input) ([]*backup.Plan, error) {
	list, err := c.Objects.Resource(configMaps).Namespace(c.Namespace).List(ctx, metav1.ListOptions{LabelSelector: backup.SourceLabel})
	if err != nil {
		return nil, fmt.Errorf("list the records of backups: %w", err)
	}
	var out []*backup.Plan
	for i := range list.Items {
		p, err := planOf(&list.Items[i])
		if err != nil { // A user who may write a ConfigMap must not hide the backups of others.
			in.Report.Warn("left out: " + err.Error())
			continue
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *backup.Plan) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out, c.fill(ctx, in, out)
}

// Read returns a backup by its name.
func Read(ctx context.Context, in *app.Input, name string) (*backup.Plan, error) {
	c, err := systems.Connect(ctx, in)
	if err != nil {
		return nil, err
	}
	if c.Namespace == "" {
		return nil, errors.New("-A: name the namespace of the backup with -n")
	}
	o, err := c.Objects.Resource(configMaps).Namespace(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) || err == nil && o.GetLabels()[backup.NameLabel] == "":
		return nil, hint.With(fmt.Errorf("no backup %q in namespace %s", name, c.Namespace), "kubectl sysop backup list -A lists the backups")
	case err != nil:
		return nil, fmt.Errorf("read the record of the backup %s: %w", name, err)
	}
	p, err := planOf(o)
	if err != nil {
		return nil, err
	}
	p.Live = true
	return p, cluster{c}.fill(ctx, in, []*backup.Plan{p})
}

// SetCluster notes in a backup which cluster it was made in, for its file.
func SetCluster(ctx context.Context, in *app.Input, p *backup.Plan) error {
	c, err := systems.Connect(ctx, in)
	if err == nil {
		p.Cluster = cluster{c}.id(ctx)
	}
	return err
}

// id identifies the cluster; empty where that may not be read.
func (c cluster) id(ctx context.Context) string {
	o, err := c.Objects.Resource(namespaces).Get(ctx, "kube-system", metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return string(o.GetUID())
}

// resume takes the record of a run that is continued: what the first one wrote stays. One that another
// program changed is an error: here if the backup is done, and else by the fingerprint of its run.
func resume(ctx context.Context, in *app.Input, p *backup.Plan) error {
	c, err := systems.Connect(ctx, in)
	if err != nil {
		return err
	}
	o, err := c.Objects.Resource(configMaps).Namespace(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the record of the backup %s: %w", p.Name, err)
	}
	recorded, err := planOf(o)
	if err != nil {
		return err
	}
	if err := (cluster{c}).checkRecord(ctx, recorded, true); err != nil {
		return err
	}
	p.Record, p.Specs = recorded.Record, recorded.Specs
	return nil
}

func planOf(o *unstructured.Unstructured) (*backup.Plan, error) {
	data, _, _ := unstructured.NestedStringMap(o.Object, "data")
	p, err := backup.ParseRecord(object.RefOf(o).String(), []byte(data[backup.RecordKey]), []byte(data[backup.SpecsKey]))
	if err != nil {
		return nil, err
	}
	if p.Name != o.GetName() || p.Namespace != o.GetNamespace() {
		return nil, fmt.Errorf("%s has the record of another backup, %s in the namespace %s", object.RefOf(o), p.Name, p.Namespace)
	}
	if label := o.GetLabels()[backup.SourceLabel]; label != p.Source {
		return nil, fmt.Errorf("%s is a backup of %s by its label, and of %s by its record", object.RefOf(o), label, p.Source)
	}
	if at, _ := backup.TimeOf(p.Name); !at.Equal(p.Time) {
		return nil, fmt.Errorf("%s has another time in its record, %s", object.RefOf(o), p.Time.Format(time.RFC3339))
	}
	p.Record = data[backup.RecordKey]
	if text := o.GetAnnotations()[backup.VerifiedKey]; text != "" {
		p.Verified = &backup.Verification{}
		if err := json.Unmarshal([]byte(text), p.Verified); err != nil {
			return nil, fmt.Errorf("read the annotation %s of the record %s: %w", backup.VerifiedKey, p.Name, err)
		}
	}
	if text := data[backup.PauseKey]; text != "" {
		p.Pause = &backup.Pause{}
		if err := json.Unmarshal([]byte(text), p.Pause); err != nil {
			return nil, fmt.Errorf("read the pause of %s: %w", object.RefOf(o), err)
		}
	}
	return p, nil
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// cluster reads the objects of backups.
type cluster struct{ *systems.Cluster }

// fill adds the state of the parts: whether they are saved, and where.
func (c cluster) fill(ctx context.Context, in *app.Input, plans []*backup.Plan) error {
	var refs []object.Ref
	for _, p := range plans {
		for i := range p.Parts {
			refs = append(refs, p.Parts[i].Backup)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	states, err := healthOf(ctx, in, refs)
	if err != nil {
		return err
	}
	for _, p := range plans {
		for i := range p.Parts {
			part := &p.Parts[i]
			h := states[part.Backup]
			part.Status, part.Message = h.Status, h.Message
			if h.Status != health.Healthy {
				continue
			}
			if err := c.result(ctx, part); err != nil {
				return err
			}
		}
		p.Settle()
	}
	return nil
}

// healthOf returns the health of objects; that of a missing one is Missing.
func healthOf(ctx context.Context, given *app.Input, refs []object.Ref) (map[object.Ref]health.Health, error) {
	in := *given
	verdicts := in.CollectHealth(nil)
	s, err := in.Open(ctx)
	if err != nil {
		return nil, err
	}
	g, err := s.Read(ctx, source.Query{Objects: refs}, func(*graph.Graph) []graph.ID { return nil }, graph.StackOptions{})
	if err != nil {
		return nil, err
	}
	assessed := verdicts.Assess(g)
	out := map[object.Ref]health.Health{}
	for _, ref := range refs {
		out[ref] = health.Health{Status: health.Missing, Message: "it does not exist"}
		if id, ok := g.Find(ref); ok && g.State(id) != graph.Missing {
			out[ref] = assessed.OwnHealth(id)
		}
	}
	return out, nil
}

// result reads where the data of a saved part lies.
func (c cluster) result(ctx context.Context, p *backup.Part) error {
	o, err := c.get(ctx, p.Backup)
	if err != nil {
		return err
	}
	p.Result = map[string]any{"spec": o["spec"], "status": o["status"]}
	switch p.Method {
	case backup.ByOperator:
		p.Handle = backup.HandleOf(p)
		return nil
	case backup.ByVelero:
		p.Handle = p.Provider + "/" + p.Backup.Name
		return nil
	case backup.BySnapshot:
	}
	if p.IsGroup() {
		if o, err = c.ofGroup(ctx, p, types.UID(backup.Text(o, "metadata", "uid"))); err != nil || o == nil {
			return err
		}
	}
	p.Size = cmp.Or(backup.Text(o, "status", "restoreSize"), p.Size)
	p.Taken, _ = time.Parse(time.RFC3339, backup.Text(o, "status", "creationTime"))
	content, err := c.get(ctx, object.Ref{Group: backup.SnapshotGroup, Kind: backup.ContentKind.Kind, Name: backup.Text(o, "status", "boundVolumeSnapshotContentName")})
	if apierrors.IsForbidden(err) { // Contents are cluster-scoped: a restore in the same namespace needs none.
		p.Message = "its VolumeSnapshotContent may not be read: the handle is unknown"
		return nil
	}
	if err != nil {
		return err
	}
	if at, found, _ := unstructured.NestedInt64(content, "status", "creationTime"); found {
		p.Taken = time.Unix(0, at).UTC() // which is more precise
	}
	p.DeletionPolicy = backup.Text(content, "spec", "deletionPolicy")
	p.Handle, p.Driver = backup.Text(content, "status", "snapshotHandle"), cmp.Or(backup.Text(content, "spec", "driver"), p.Driver)
	return nil
}

// ofGroup is the snapshot of a claim in a group; nil while there is none.
func (c cluster) ofGroup(ctx context.Context, p *backup.Part, group types.UID) (map[string]any, error) {
	list, err := c.Objects.Resource(volumeSnapshots).Namespace(p.Backup.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the snapshots of %s: %w", p.Backup, err)
	}
	found := slices.DeleteFunc(list.Items, func(o unstructured.Unstructured) bool { return !p.OfGroup(&o, group) })
	switch len(found) {
	case 0:
		p.Status, p.Message = health.Progressing, "it has no snapshot of "+p.Object.String()+" yet"
		return nil, nil
	case 1:
		ref := object.RefOf(&found[0])
		p.Snapshot = &ref
		return found[0].Object, nil
	}
	return nil, hint.With(fmt.Errorf("%s has %d snapshots of %s: %s, %s", p.Backup, len(found), p.Object, found[0].GetName(), found[1].GetName()),
		"the snapshot controller makes one: delete the others")
}

var volumeSnapshots = schema.GroupVersionResource{Group: backup.SnapshotGroup, Version: "v1", Resource: "volumesnapshots"}

func (c cluster) get(ctx context.Context, ref object.Ref) (map[string]any, error) {
	kind, ok := c.Kinds.Kind(ref.GroupKind())
	if !ok {
		return nil, fmt.Errorf("%s: the cluster does not serve that kind", ref)
	}
	resource := schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: kind.Plural}
	o, err := c.Objects.Resource(resource).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ref, err)
	}
	return o.Object, nil
}

// Secrets reads the Secrets that the apps of a backup need. One that does not exist is left out.
func Secrets(ctx context.Context, in *app.Input, p *backup.Plan) ([]*unstructured.Unstructured, error) {
	c, err := systems.Connect(ctx, in)
	if err != nil {
		return nil, err
	}
	return cluster{c}.existing(ctx, p.Secrets())
}

// existing reads objects. One that does not exist is left out.
func (c cluster) existing(ctx context.Context, refs []object.Ref) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, ref := range refs {
		o, err := c.get(ctx, ref)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, &unstructured.Unstructured{Object: o})
	}
	return out, nil
}

// CheckInstalled refuses a record that is not that of an installed backup: another program may have
// written or changed it, and deleting by it would uninstall what others installed. The journal of an
// installation is signed, a record is not.
func CheckInstalled(ctx context.Context, in *app.Input, p *backup.Plan) error {
	c, err := systems.Connect(ctx, in)
	if err != nil {
		return err
	}
	return cluster{c}.checkInstalled(ctx, p)
}

func (c cluster) checkInstalled(ctx context.Context, p *backup.Plan) error {
	return c.checkRecord(ctx, p, false)
}

// checkRecord is checkInstalled, which may accept a run that has not ended.
func (c cluster) checkRecord(ctx context.Context, p *backup.Plan, unfinished bool) error {
	record := object.Ref{Kind: app.ConfigMapKind.Kind, Namespace: p.Namespace, Name: p.Name}
	found, err := install.Find(ctx, c.Config, p.Name, []string{p.Namespace})
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.Err != nil {
			return f.Err
		}
		if f.Journal.Trust() == journal.Unsigned {
			return hint.With(fmt.Errorf("the journal of %s is not signed: another program may have written it", p.Name), "kubectl sysop history "+p.Name+" -n "+p.Namespace+" shows it; kubectl sysop uninstall "+p.Name+" -n "+p.Namespace+" deletes the backup")
		}
		if f.Journal.Manifest != "" {
			return isRecordOf(p, record, f.Journal.Manifest)
		}
		if f.Journal.Run != nil && unfinished {
			return nil
		}
		if f.Journal.Run != nil {
			return hint.With(fmt.Errorf("the run that makes %s has not ended", p.Name), fmt.Sprintf("if it was killed, kubectl sysop rollback %s --unfinished -n %s undoes it, and backup run --name %[1]s continues it", p.Name, p.Namespace))
		}
	}
	return hint.With(fmt.Errorf("%s says that it is a backup, and no backup of that name is installed: another program wrote it", record), fmt.Sprintf("kubectl delete configmap %s -n %s deletes it", p.Name, p.Namespace))
}

// isRecordOf refuses a record that is not the one in the manifest of an installation.
func isRecordOf(p *backup.Plan, record object.Ref, manifest string) error {
	sys, problems := system.Parse(p.Name, []byte(manifest))
	if len(problems) > 0 {
		return &hint.Lines{Lines: hint.Placed("the journal of "+p.Name, problems)}
	}
	for i := range sys.Apps {
		for _, o := range sys.Apps[i].Resources {
			if o.GetKind() != record.Kind || o.GetName() != p.Name || o.GetLabels()[backup.NameLabel] != p.Name {
				continue
			}
			if data, _, _ := unstructured.NestedStringMap(o.Object, "data"); data[backup.RecordKey] != p.Record || data[backup.SpecsKey] != p.Specs {
				return hint.With(fmt.Errorf("%s was changed after the backup was made", record), "kubectl sysop history "+p.Name+" -n "+p.Namespace+" shows the backup; kubectl sysop uninstall "+p.Name+" -n "+p.Namespace+" deletes it")
			}
			return nil
		}
	}
	return hint.With(fmt.Errorf("%s in the namespace %s is installed, and is no backup: another program wrote its record", p.Name, p.Namespace), "kubectl sysop history "+p.Name+" -n "+p.Namespace+" shows what it is")
}
