package install

import (
	"context"

	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// ReadHolder reads the holder of the lease of an installation; false if it is free.
func ReadHolder(ctx context.Context, config *rest.Config, target Installation) (journal.LeaseStatus, bool, error) {
	return journal.ReadLease(ctx, config, placeOf(target))
}

// Liveness is whether the process of an open run is alive.
type Liveness string

// The values of Liveness.
const (
	// Running means that the process renews its lease.
	Running Liveness = "running"
	// Interrupted means that the lease is free, or was not renewed in time.
	Interrupted Liveness = "interrupted"
	// LivenessUnknown means that the lease cannot be read.
	LivenessUnknown Liveness = "unknown"
)
