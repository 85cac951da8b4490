package install

import (
	"context"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// Holder is who holds the lock of an installation, as its Lease says.
type Holder struct {
	// By is who it is, Since when it took the lock and Renewed when it renewed it last, both
	// by its own clock.
	By             string
	Since, Renewed time.Time
	// Lease is how long the lock outlives a holder that died.
	Lease time.Duration
	// Version changes with each renewal.
	Version string
}

// RenewedAt says whether the lock of the holder is still valid at a time. Its clock may be
// another one: what must be sure watches whether Version changes.
func (h Holder) RenewedAt(now time.Time) bool { return now.Sub(h.Renewed) < h.Lease }

// ReadHolder reads who holds the lock of an installation; false where nobody does.
func ReadHolder(ctx context.Context, config *rest.Config, of Installation) (Holder, bool, error) {
	client, err := dynamic.NewForConfig(journal.Quiet(config))
	if err != nil {
		return Holder{}, false, fmt.Errorf("reach the lock of %s: %w", of.Name, err)
	}
	leases := client.Resource(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}).Namespace(of.Namespace)
	u, err := leases.Get(ctx, JournalName(of.Name), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Holder{}, false, nil
	}
	if err != nil {
		return Holder{}, false, fmt.Errorf("read the lock of %s in %s: %w", of.Name, of.Namespace, err)
	}
	l := new(coordinationv1.Lease)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, l); err != nil {
		return Holder{}, false, fmt.Errorf("read the lock of %s in %s: %w", of.Name, of.Namespace, err)
	}
	h, held := holderOf(l)
	return h, held, nil
}

func holderOf(l *coordinationv1.Lease) (Holder, bool) {
	s := l.Spec
	if s.HolderIdentity == nil || *s.HolderIdentity == "" {
		return Holder{}, false
	}
	h := Holder{By: *s.HolderIdentity, Lease: journal.DefaultLease, Version: l.ResourceVersion}
	if i := strings.LastIndex(h.By, " #"); i > 0 { // the mark of its turn
		h.By = h.By[:i]
	}
	if s.LeaseDurationSeconds != nil && *s.LeaseDurationSeconds > 0 {
		h.Lease = time.Duration(*s.LeaseDurationSeconds) * time.Second
	}
	if s.AcquireTime != nil {
		h.Since = s.AcquireTime.Time
	}
	if s.RenewTime != nil {
		h.Renewed = s.RenewTime.Time
	}
	return h, true
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
