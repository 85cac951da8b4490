package install

import (
	"context"

	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// ReadHolder reads who holds the lock of an installation; false where nobody does.
func ReadHolder(ctx context.Context, config *rest.Config, target Installation) (journal.LeaseStatus, bool, error) {
	return journal.ReadLease(ctx, config, placeOf(target))
}

// Liveness says whether the process of a run that is not ended is there.
type Liveness string

// Whether the process of a run is there.
const (
	// Running says that it renews its lock.
	Running Liveness = "running"
	// Interrupted says that nobody holds the lock, or that it was not renewed in time.
	Interrupted Liveness = "interrupted"
	// LivenessUnknown says that the lock cannot be read.
	LivenessUnknown Liveness = "unknown"
)
