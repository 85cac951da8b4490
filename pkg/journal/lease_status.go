package journal

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// LeaseStatus is who holds a lease, as the object says.
type LeaseStatus struct {
	Holder string
	// Acquired is when the holder took it and Renewed when it renewed it last, both by its own clock.
	Acquired, Renewed time.Time
	// Duration is how long the lease outlives a holder that died.
	Duration time.Duration
	// Version changes with each renewal.
	Version string
}

// ValidAt says whether the lease is still valid at a time. The holder may have another clock: what
// must be sure watches whether Version changes.
func (s LeaseStatus) ValidAt(now time.Time) bool { return now.Sub(s.Renewed) < s.Duration }

// ReadLease reads who holds the lease of a place; false where nobody does.
func ReadLease(ctx context.Context, config *rest.Config, place Place) (LeaseStatus, bool, error) {
	client, err := Connect(config, "the lock of "+place.Name)
	if err != nil {
		return LeaseStatus{}, false, err
	}
	l, err := clusterLease{client: client.Resource(leaseResource).Namespace(place.Namespace), place: place}.get(ctx)
	if apierrors.IsNotFound(err) {
		return LeaseStatus{}, false, nil
	}
	if err != nil {
		return LeaseStatus{}, false, fmt.Errorf("read the lease %s/%s: %w", place.Namespace, place.Name, err)
	}
	s := LeaseStatus{Holder: unmarked(holderOf(l)), Acquired: acquiredAt(l), Duration: leaseDuration(l), Version: l.ResourceVersion}
	if l.Spec.RenewTime != nil {
		s.Renewed = l.Spec.RenewTime.Time
	}
	return s, s.Holder != "", nil
}
