package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var leaseResource = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}

// DefaultLease is how long the lock of a killed holder stays valid.
const DefaultLease = 15 * time.Second

// LostError reports that the lock was lost while the run acted.
type LostError struct {
	Lease string
	Why   error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s: the lock was lost, so nothing more was done: %v; run the command again to resume", e.Lease, e.Why)
}

func (e *LostError) Unwrap() error { return e.Why }

// Lease is a Lock over a coordination.k8s.io Lease.
//
// A lease is taken over when its holder has not renewed it for its duration. The waiting process
// measures that on its monotonic clock, from when it first saw the latest renewal; the times in
// the object are for people. A holder counts from before it sent its last renewal, and stops
// after two thirds of the duration, so it has stopped before another one starts. The journal
// rejects its delayed writes, because each write requires the version that was read last.
//
// client-go's leaderelection is no alternative: it retries for ever when access is denied, and
// it imports all typed clients.
type Lease struct {
	api  leaseAPI
	name string // lease shop/sysop-shop
	LeaseOptions
}

// LeaseOptions are the options of a lease.
type LeaseOptions struct {
	// Holder identifies the holder: alice@host (pid 123); empty for this process. Each Do
	// appends a unique mark, so that another run with the same name is another holder.
	Holder string
	// Duration is how long the lease of a killed holder blocks others: whole seconds, at least
	// 1;
	// 0 for DefaultLease.
	Duration time.Duration
	// Waiting is called with the holder and its acquire time (by the holder's clock) after one
	// second of waiting, and again for each other holder. It may be nil.
	Waiting func(holder string, since time.Time)
	// Limit is how long to retry while the server does not answer; 0 is for ever.
	Limit time.Duration
	// Ephemeral leases are deleted after use when no one waits for them.
	Ephemeral bool
}

// NewLease returns the lock of a place.
func NewLease(config *rest.Config, place Place, o LeaseOptions) (*Lease, error) {
	client, err := Connect(config, "the lock of "+place.Name)
	if err != nil {
		return nil, err
	}
	api := clusterLease{client: client.Resource(leaseResource).Namespace(place.Namespace), place: place}
	return &Lease{api: api, name: "lease " + place.Namespace + "/" + place.Name, LeaseOptions: o.complete()}, nil
}

func (o LeaseOptions) complete() LeaseOptions {
	o.Holder = cmp.Or(o.Holder, Holder())
	o.Duration = max(cmp.Or(o.Duration, DefaultLease).Round(time.Second), time.Second)
	return o
}

// Do acquires the lock and calls act. When the lock is lost, the context of act ends and Do
// returns a *LostError. The lease is always released when act returns.
func (l *Lease) Do(ctx context.Context, act func(context.Context) error) error {
	t := &leaseHolder{lock: l, id: l.Holder + markedBy + rand.Text()[:8]}
	if err := t.take(ctx); err != nil {
		return err
	}
	acting, end := context.WithCancelCause(ctx)
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx)) // renewal continues until act returns
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		if err := t.keep(renewing); err != nil {
			end(&LostError{Lease: l.name, Why: err})
		}
	}()
	defer func() { // also when act panics
		stop()
		<-renewed
		t.release(ctx)
		if l.Ephemeral {
			t.forget(ctx)
		}
		end(nil)
	}()
	err := act(acting)
	if lostErr := new(LostError); errors.As(context.Cause(acting), &lostErr) {
		return errors.Join(lostErr, withoutCancel(err))
	}
	return err
}

// markedBy separates the name of the holder from its mark.
const markedBy = " #"

// Holder identifies this process: alice@host (pid 123). In a container the host is the Pod.
func Holder() string {
	name := fmt.Sprintf("uid %d", os.Getuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s@%s (pid %d)", name, host, os.Getpid())
}

// withoutCancel removes context errors: the cause of the cancellation is reported instead.
func withoutCancel(err error) error {
	if errors.Is(err, context.Canceled) || errors.As(err, new(*LostError)) {
		return nil
	}
	return err
}

// leaseAPI accesses a Lease of an API server. Errors are those of apimachinery/pkg/api/errors.
type leaseAPI interface {
	get(ctx context.Context) (*coordinationv1.Lease, error)
	create(ctx context.Context, spec coordinationv1.LeaseSpec) (*coordinationv1.Lease, error)
	// update writes the lease unless it changed since it was read.
	update(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error)
	// remove deletes the lease unless it changed since it was read.
	remove(ctx context.Context, l *coordinationv1.Lease) error
}

type clusterLease struct {
	client dynamic.ResourceInterface
	place  Place
}

func (c clusterLease) get(ctx context.Context) (*coordinationv1.Lease, error) {
	u, err := c.client.Get(ctx, c.place.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return leaseOf(u.Object)
}

func (c clusterLease) create(ctx context.Context, spec coordinationv1.LeaseSpec) (*coordinationv1.Lease, error) {
	meta := metav1.ObjectMeta{Name: c.place.Name, Namespace: c.place.Namespace, Labels: c.place.Labels}
	l := &coordinationv1.Lease{TypeMeta: leaseType(), ObjectMeta: meta, Spec: spec}
	u, err := c.client.Create(ctx, Unstructured(l), metav1.CreateOptions{FieldManager: c.place.FieldManager})
	if err != nil {
		return nil, err
	}
	return leaseOf(u.Object)
}

func (c clusterLease) update(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	l.TypeMeta = leaseType()
	u, err := c.client.Update(ctx, Unstructured(l), metav1.UpdateOptions{FieldManager: c.place.FieldManager})
	if err != nil {
		return nil, err
	}
	return leaseOf(u.Object)
}

func (c clusterLease) remove(ctx context.Context, l *coordinationv1.Lease) error {
	return c.client.Delete(ctx, c.place.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &l.ResourceVersion}})
}

func leaseType() metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}
}

func leaseOf(fields map[string]any) (*coordinationv1.Lease, error) {
	l := new(coordinationv1.Lease)
	return l, runtime.DefaultUnstructuredConverter.FromUnstructured(fields, l)
}
