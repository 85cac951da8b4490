package backup

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Target is what a restore needs to know of the cluster that it writes to.
type Target struct {
	Kinds *object.Kinds
	// Serves says whether a kind is served in a version.
	Serves func(schema.GroupVersionKind) (bool, error)
	// Classes are its storage classes; nil if they could not be read.
	Classes []unstructured.Unstructured
}

// Check returns an error if a cluster cannot take the restore, before anything is written: it has
// another version of a kind, no snapshots, or another CSI driver.
func (r *Restore) Check(t Target) error {
	c := restoreCheck{Target: t, operators: r.System.Operators, served: map[schema.GroupVersionKind]bool{}, hints: map[string]bool{}}
	for i := range r.System.Apps {
		for _, o := range r.System.Apps[i].Resources {
			ref := placed(o, r.System)
			if err := c.version(ref, o.GroupVersionKind()); err != nil {
				return err
			}
			if driver := r.drivers[ref]; driver != "" {
				c.claim(ref, driver, Text(o.Object, "spec", "storageClassName"))
			}
		}
	}
	if len(c.lines.Lines) == 0 {
		return nil
	}
	out := error(&c.lines)
	for _, text := range slices.Sorted(maps.Keys(c.hints)) {
		out = hint.With(out, text)
	}
	return out
}

type restoreCheck struct {
	Target
	operators []system.Operator // that are installed first
	served    map[schema.GroupVersionKind]bool
	lines     hint.Lines
	hints     map[string]bool
}

// installs says whether an operator that is installed first defines a kind.
func (c *restoreCheck) installs(gk schema.GroupKind) bool {
	entry, _, known := catalog.KindOf(object.Resource{Group: gk.Group, Kind: gk.Kind})
	return known && slices.ContainsFunc(c.operators, func(o system.Operator) bool { return o.Name == entry.Name })
}

func (c *restoreCheck) refuse(way, format string, args ...any) {
	c.lines.Lines = append(c.lines.Lines, fmt.Sprintf(format, args...))
	c.hints[way] = true
}

// version refuses an object of a version that the cluster no longer serves. A kind that it does not
// serve at all may come with an operator.
func (c *restoreCheck) version(ref object.Ref, gvk schema.GroupVersionKind) error {
	kind, known := c.Kinds.Kind(ref.GroupKind())
	if !known || kind.Version == gvk.Version || c.installs(ref.GroupKind()) && version.CompareKubeAwareVersionStrings(gvk.Version, kind.Version) > 0 {
		return nil
	}
	if _, asked := c.served[gvk]; !asked {
		serves, err := c.Serves(gvk)
		if err != nil {
			return fmt.Errorf("read which kinds of %s the cluster serves: %w", gvk.GroupVersion(), err)
		}
		c.served[gvk] = serves
	}
	if !c.served[gvk] {
		c.refuse("install the version of the operator that made the backup, restore, and upgrade it then",
			"%s is of the version %s in the backup, and the cluster serves %s", ref, gvk.Version, kind.Version)
	}
	return nil
}

// defaultStorageClass marks the storage class of claims that name none.
const defaultStorageClass = "storageclass.kubernetes.io/is-default-class"

// claim refuses a claim from a snapshot that its storage class cannot make.
func (c *restoreCheck) claim(ref object.Ref, driver, class string) {
	if c.Kinds.NotServed(snapshotKind) && !c.installs(snapshotKind) {
		c.refuse("kubectl sysop install volume-snapshot; the CSI driver "+driver+" has to support snapshots", "%s is made from a snapshot, and the cluster serves no VolumeSnapshots", ref)
		return
	}
	if c.Classes == nil {
		return
	}
	const way = "--storage-class-map FROM=TO takes a storage class of the driver of the snapshot"
	i := slices.IndexFunc(c.Classes, func(o unstructured.Unstructured) bool {
		return o.GetName() == class || class == "" && o.GetAnnotations()[defaultStorageClass] == "true"
	})
	if i < 0 {
		c.refuse(way, "%s has the storage class %s, which the cluster does not have", ref, cmp.Or(class, "that is the default"))
		return
	}
	if provisioner := Text(c.Classes[i].Object, "provisioner"); provisioner != driver {
		c.refuse(way, "%s is made from a snapshot of the CSI driver %s, and its storage class %s is of %s", ref, driver, c.Classes[i].GetName(), provisioner)
	}
}

// Lost says why the data of a part is gone, or may be, in the cluster that it was saved in; exists says
// whether an object exists. Both are empty where nothing speaks against it.
func (p *Part) Lost(exists func(object.Ref) bool) (gone, doubt string) {
	at := p.Backup
	if p.Method == BySnapshot {
		at = p.snapshot()
	}
	content := object.Ref{Group: SnapshotGroup, Kind: ContentKind.Kind, Name: Text(p.Result, "status", "boundVolumeSnapshotContentName")}
	switch {
	case at == (object.Ref{}) || exists(at) || content.Name != "" && exists(content):
	case p.DeletionPolicy == "Delete":
		gone = fmt.Sprintf("%s cannot be restored: %s was deleted, and the storage deleted its data with it", p.Object, at)
	default:
		doubt = fmt.Sprintf("%s was deleted: whether the data of %s is still at %s shows when it is restored", at, p.Object, p.Handle)
	}
	return gone, doubt
}
