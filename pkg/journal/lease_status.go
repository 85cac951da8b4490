package journal

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// LeaseStatus is the holder of a lease and its times, as the object lists them.
type LeaseStatus struct {
	Holder string
	// Acquired and Renewed (the latest renewal) are times of the holder's clock.
	Acquired, Renewed time.Time
	// Duration is how long the lease is valid after a renewal.
	Duration time.Duration
	// Version changes with each renewal.
	Version string
}

// ValidAt reports whether the lease is valid at a time. The clock of the holder may differ: to
// be certain, watch whether Version changes.
func (s LeaseStatus) ValidAt(now time.Time) bool { return now.Sub(s.Renewed) < s.Duration }

// ReadLease reads the status of the lease in a place; false without a holder.
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
