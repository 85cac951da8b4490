package install

import (
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// Labels of the journal, and of what is kept beside it.
const (
	managedLabel = "app.kubernetes.io/managed-by"
	managedBy    = "kubectl-sysop"
	// InstallLabel has the name of the installation; on a namespace, as an annotation, it says
	// for which installation the namespace was made.
	InstallLabel = "sysop.dev/install"
)

// keptPrefix begins the names of all that is kept of an installation.
const keptPrefix = "sysop-install-"

// JournalName is what the ConfigMap with the journal of an installation is called, and the
// Lease of who acts on it.
func JournalName(name string) string { return keptPrefix + name }

// ClusterStore keeps the journal of an installation in a ConfigMap of its namespace, and
// objects as they were in further ones beside it.
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

// NewLock returns what gives a Runner the lock of an installation: the Lease of the name of
// the journal. It is not left lying about.
func NewLock(config *rest.Config, target Installation) func(waiting func(string, time.Time)) (journal.Lock, error) {
	return func(waiting func(string, time.Time)) (journal.Lock, error) {
		return journal.NewLease(config, placeOf(target), journal.LeaseOptions{Waiting: waiting, Limit: journal.DefaultLimit, Ephemeral: true})
	}
}
