package install

import (
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// Labels of the journal, and of before-images.
const (
	managedLabel = "app.kubernetes.io/managed-by"
	managedBy    = "kubectl-sysop"
	// InstallLabel has the name of the installation. As an annotation of a namespace it names the
	// installation that the namespace was created for.
	InstallLabel = "sysop.dev/install"
)

// keptPrefix is the prefix of the names of all stored objects of an installation.
const keptPrefix = "sysop-install-"

// JournalName returns the name of the ConfigMap with the journal of an installation, and of its
// Lease.
func JournalName(name string) string { return keptPrefix + name }

// ClusterStore stores the journal of an installation in a ConfigMap of its namespace, and
// before-images in objects beside it.
type ClusterStore struct {
	*journal.Store[Journal]
	*journal.Images
}

// NewStore returns the store of an installation.
func NewStore(config *rest.Config, target Installation) (*ClusterStore, error) {
	client, err := journal.Connect(config, "the journal of "+target.Name)
	if err != nil {
		return nil, err
	}
	return newStore(client, target), nil
}

func newStore(client dynamic.Interface, target Installation) *ClusterStore {
	return &ClusterStore{Store: journal.NewStore(client, placeOf(target), formatOf(target)), Images: journal.NewImages(client, placeOf(target))}
}

func placeOf(target Installation) journal.Place {
	labels := map[string]string{managedLabel: managedBy, InstallLabel: target.Name}
	return journal.Place{Namespace: target.Namespace, Name: JournalName(target.Name), Labels: labels, FieldManager: FieldManager}
}

// NewLock returns the Lock function of a Runner: it takes the Lease with the name of the journal,
// which is deleted at the end.
func NewLock(config *rest.Config, target Installation) func(waiting func(string, time.Time)) (journal.Lock, error) {
	return func(waiting func(string, time.Time)) (journal.Lock, error) {
		return journal.NewLease(config, placeOf(target), journal.LeaseOptions{Waiting: waiting, Limit: journal.DefaultLimit, Ephemeral: true})
	}
}

// NewRecord returns the Record function of a Runner: its Events are about the journal.
func NewRecord(config *rest.Config, target Installation) func(func(journal.Event)) (func(journal.Event), func()) {
	about := &journal.EventObject{APIVersion: "v1", Kind: "ConfigMap", Namespace: target.Namespace, Name: JournalName(target.Name)}
	return func(emit func(journal.Event)) (func(journal.Event), func()) {
		return journal.Record(config, journal.RecorderOptions{Controller: FieldManager, Instance: journal.Holder(), About: about}, emit)
	}
}
