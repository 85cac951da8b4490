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

// DefaultLease is how long a lock outlives a holder that was killed.
const DefaultLease = 15 * time.Second

// LostError says that a turn was lost while it was used.
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
// A lease is taken over when its holder has not renewed it for as long as it said it would,
// counted by who waits on a clock that does not jump, from when it saw it renewed last: what
// clocks say in the object is for people. A holder counts from before it sent its last
// renewal, and stops acting after two thirds of the time: so it has stopped when another one
// begins. What a holder sent before and a network still carries is kept out by the journal,
// which nobody writes who has not read it.
//
// client-go's leaderelection would do it too, but it asks for ever where it may not, and
// brings every typed client along.
type Lease struct {
	api  leaseAPI
	name string // lease shop/sysop-shop
	LeaseOptions
}

// LeaseOptions are those of a lease.
type LeaseOptions struct {
	// Holder says who it is that takes it: alice@host (pid 123); empty for this process. Each
	// turn adds a mark of its own, so that a predecessor of the same name is another one.
	Holder string
	// Duration is how long a killed holder keeps others waiting: whole seconds, at least 1;
	// 0 for DefaultLease.
	Duration time.Duration
	// Waiting is called with who holds it, and since when (by that one's clock), when it was waited
	// for a second, and then of each other holder. It may be nil.
	Waiting func(holder string, since time.Time)
	// Limit is how long it asks a server that does not answer; 0 is for ever.
	Limit time.Duration
	// Ephemeral leases are deleted after a turn that nobody follows.
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

// Do waits for its turn and runs act. The context of act ends when the turn is lost, and Do
// returns a *LostError then. When act has returned, for whatever reason, the lease is released.
func (l *Lease) Do(ctx context.Context, act func(context.Context) error) error {
	t := &leaseHolder{lock: l, id: l.Holder + markedBy + rand.Text()[:8]}
	if err := t.take(ctx); err != nil {
		return err
	}
	acting, end := context.WithCancelCause(ctx)
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx)) // also while act ends
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

// markedBy stands between who holds a lease and the mark of the turn.
const markedBy = " #"

// Holder says who this process is: alice@host (pid 123). In a container host is the pod.
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

// withoutCancel leaves out what only says that the context ended, whose cause is told.
func withoutCancel(err error) error {
	if errors.Is(err, context.Canceled) || errors.As(err, new(*LostError)) {
		return nil
	}
	return err
}

// leaseAPI is a Lease of an API server. Errors are those of apimachinery/pkg/api/errors.
type leaseAPI interface {
	get(ctx context.Context) (*coordinationv1.Lease, error)
	create(ctx context.Context, spec coordinationv1.LeaseSpec) (*coordinationv1.Lease, error)
	// update writes it, if nobody has since it was read.
	update(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error)
	// remove deletes it, if nobody has written it since it was read.
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
