// Package backup computes how the parts of an application that hold state are saved, and how they
// are restored: by the backup of their operator, or by a VolumeSnapshot of a claim. It also packs
// the file of a backup. It reads no cluster; package backups does.
package backup

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Method is how a part is saved.
type Method string

// The methods.
const (
	ByOperator Method = "operator" // the operator of the object copies its data
	BySnapshot Method = "snapshot" // the CSI driver takes a snapshot of the volume
)

// Consistency says which copies fit together.
type Consistency string

// The levels of consistency.
const (
	// Application uses the backups of the operators, and snapshots for other claims.
	Application Consistency = "app"
	// Crash takes snapshots of all claims in one go, as a power cut would leave them.
	Crash Consistency = "crash"
	// Quiesced is Application while the apps that write to the parts are stopped.
	Quiesced Consistency = "quiesced"
)

// Part is a part that holds state.
type Part struct {
	// Object is a custom resource, or a claim.
	Object object.Ref `json:"object"`
	Method Method     `json:"method"`
	// Provider is the way of the operator, or the VolumeSnapshotClass.
	Provider string `json:"provider"`
	// Backup is the object that is created to save the part. The part is saved when it is Healthy.
	Backup object.Ref `json:"backup"`
	// Snapshot is the VolumeSnapshot of the claim where Backup is one of a group; nil until it was read.
	Snapshot *object.Ref `json:"snapshot,omitempty"`
	// Size is the capacity of its claims: an upper bound of what its copy takes.
	Size string `json:"size,omitempty"`
	// Price is what its snapshot costs a month at most, in the Currency of the plan; empty where that
	// is unknown.
	Price string `json:"price,omitempty"`
	// Reason says why it is saved in this way.
	Reason string `json:"reason"`
	// Driver is that of the volume of a claim; Claim is its spec, for a restore. Set is the
	// StatefulSet that made it from a template, and Owner the topmost owner; zero for none.
	Driver string         `json:"driver,omitempty"`
	Claim  map[string]any `json:"claim,omitempty"`
	Set    *object.Ref    `json:"statefulSet,omitempty"`
	Owner  *object.Ref    `json:"owner,omitempty"`
	// These are of a backup that was made: whether the part is saved (Healthy), where the data lies,
	// and the spec and status of the object that saved it.
	Status  health.Status `json:"status,omitempty"`
	Message string        `json:"message,omitempty"`
	Handle  string        `json:"handle,omitempty"`
	Taken   time.Time     `json:"taken,omitzero"` // the moment of a snapshot, by the clock of its driver
	// DeletionPolicy says whether the data of a snapshot is deleted with it: Delete or Retain.
	DeletionPolicy string                     `json:"deletionPolicy,omitempty"`
	Result         map[string]any             `json:"result,omitempty"`
	Create         *unstructured.Unstructured `json:"-"` // the object that saves the part; nil once it was made
}

// Unsaved is a part that cannot be saved.
type Unsaved struct {
	Object object.Ref `json:"object"`
	Reason string     `json:"reason"`
	Hint   string     `json:"hint,omitempty"`
}

// Plan is how an application is saved, or was saved (docs/schema/backup.json).
type Plan struct {
	document.Head `json:",inline"`
	// Name is that of the backup, and of the System that its objects are.
	Name   string `json:"name"`
	Source string `json:"source"` // what is saved, as a name: that of a System, or of the first root
	// Roots are what is saved: the System, or the roots, with kinds and namespaces ("*" is all of a
	// kind). Records of earlier versions have none.
	Roots []object.Ref `json:"roots,omitempty"`
	// Namespace is that of the record, and Cluster the UID of the namespace kube-system of its cluster;
	// empty where that may not be read.
	Namespace   string      `json:"namespace"`
	Cluster     string      `json:"cluster,omitempty"`
	Time        time.Time   `json:"time"`
	Consistency Consistency `json:"consistency"`
	Parts       []Part      `json:"parts"`
	Unsaved     []Unsaved   `json:"unsaved,omitempty"`
	// Size is the sum of the sizes of the parts, and Price that of the snapshots for a month.
	Size     string `json:"size,omitempty"`
	Price    string `json:"price,omitempty"`
	Currency string `json:"currency,omitempty"`
	// Spread is the time between the first and the last snapshot, and Pause is how long apps were
	// stopped meanwhile.
	Spread string `json:"spread,omitempty"`
	Pause  *Pause `json:"pause,omitempty"`
	// NotQuiesced is why a backup that was to be quiesced is none.
	NotQuiesced string `json:"-"`
	// Apps is how many apps have their manifests in the record. Inputs are the Secrets and
	// ConfigMaps that they need and that are not in it; the Secrets can be in a file, encrypted.
	Apps   int          `json:"apps"`
	Inputs []object.Ref `json:"inputs,omitempty"`
	Notes  []string     `json:"notes,omitempty"`
	// Verified is the result of the last rehearsal; nil for a backup that was never rehearsed.
	Verified *Verification `json:"verified,omitempty"`
	// Specs is the manifest of the apps, as system export writes it.
	Specs string `json:"-"`
	// Record is the text of the record in the cluster; empty for a new one.
	Record string `json:"-"`
	// Owners are the topmost owners of the parts, whose manifests are taken as well.
	Owners []object.Ref `json:"-"`
	// Live says that it was read from the cluster that it was made in.
	Live bool `json:"-"`
}

// Kinds that a backup reads or creates.
var (
	ClaimKind         = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	VolumeKind        = schema.GroupKind{Kind: "PersistentVolume"}
	secretKind        = schema.GroupKind{Kind: "Secret"}
	setKind           = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	StorageClassKind  = schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}
	SnapshotGroup     = "snapshot.storage.k8s.io"
	snapshotKind      = schema.GroupKind{Group: SnapshotGroup, Kind: "VolumeSnapshot"}
	SnapshotClassKind = schema.GroupKind{Group: SnapshotGroup, Kind: "VolumeSnapshotClass"}
	ContentKind       = schema.GroupKind{Group: SnapshotGroup, Kind: "VolumeSnapshotContent"}
)

// Labels of the objects of a backup.
const (
	SourceLabel = "sysop.dev/backup-of" // what was saved
	NameLabel   = "sysop.dev/backup"    // the name of the backup
)

// StampFormat is the time of a backup in names.
const StampFormat = "20060102-150405"

// newObject is an object with a spec.
func newObject(gvk schema.GroupVersionKind, namespace, name string, labels map[string]string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(namespace)
	o.SetName(name)
	if len(labels) > 0 {
		o.SetLabels(labels)
	}
	return o
}
