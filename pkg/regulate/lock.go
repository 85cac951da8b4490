package regulate

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

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

var leases = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}

// DefaultLease is how long a lock outlives a holder that was killed.
const DefaultLease = 15 * time.Second

// LostError says that a turn was lost while it was used.
type LostError struct {
	Lease string
	Why   error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s: the lock was lost, so nothing more was done: %v; run it again, it goes on from what the journal says", e.Lease, e.Why)
}

func (e *LostError) Unwrap() error { return e.Why }

// LeaseLock is a Lock over a coordination.k8s.io Lease.
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
type LeaseLock struct {
	api  leaseAPI
	name string // lease shop/sysop-shop
	LockOptions
	// patience is how long it asks a server that does not answer; 0 is for ever.
	patience time.Duration
}

// LockOptions are those of a lock.
type LockOptions struct {
	// Holder says who it is that takes it: alice@host (pid 123); empty for this process. Each
	// turn adds a mark of its own, so that a predecessor of the same name is another one.
	Holder string
	// Duration is how long a killed holder keeps others waiting: whole seconds, at least 1;
	// 0 for DefaultLease.
	Duration time.Duration
	// Waiting is told who holds it, and since when (by that one's clock), when it was waited
	// for a second, and then of each other holder. It may be nil.
	Waiting func(holder string, since time.Time)
}

// NewLock returns the lock of who acts on a system.
func NewLock(config *rest.Config, name, namespace string, o LockOptions) (*LeaseLock, error) {
	return newLease(config, system.LockName(name), name, namespace, o, patience)
}

// NewElection returns the lock of who watches a system in a cluster: whoever waits for it
// waits until the other one goes.
func NewElection(config *rest.Config, name, namespace string, o LockOptions) (*LeaseLock, error) {
	return newLease(config, system.WatchName(name), name, namespace, o, 0)
}

func newLease(config *rest.Config, name, of, namespace string, o LockOptions, patience time.Duration) (*LeaseLock, error) {
	client, err := dynamic.NewForConfig(quiet(config))
	if err != nil {
		return nil, fmt.Errorf("reach the lock of %s: %w", of, err)
	}
	api := clusterLease{client: client.Resource(leases).Namespace(namespace), meta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{system.Label: of}}}
	return &LeaseLock{api: api, name: "lease " + namespace + "/" + name, LockOptions: o.complete(), patience: patience}, nil
}

func (o LockOptions) complete() LockOptions {
	o.Holder = cmp.Or(o.Holder, Holder())
	o.Duration = max(cmp.Or(o.Duration, DefaultLease).Round(time.Second), time.Second)
	return o
}

// Do waits for its turn and runs act. The context of act ends when the turn is lost, and Do
// returns a *LostError then. When act has returned, for whatever reason, the lease is let go.
func (l *LeaseLock) Do(ctx context.Context, act func(context.Context) error) error {
	t := &turn{lock: l, id: l.Holder + markedBy + rand.Text()[:8]}
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
		end(nil)
	}()
	err := act(acting)
	if lost := new(LostError); errors.As(context.Cause(acting), &lost) {
		return errors.Join(lost, withoutCancel(err))
	}
	return err
}

// markedBy stands between who holds a lease and the mark of the turn.
const markedBy = " #"

// Holder says who this process is: alice@host (pid 123). In a container host is the pod.
func Holder() string {
	who := fmt.Sprintf("uid %d", os.Getuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		who = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s@%s (pid %d)", who, host, os.Getpid())
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
}

type clusterLease struct {
	client dynamic.ResourceInterface
	meta   metav1.ObjectMeta
}

func (c clusterLease) get(ctx context.Context) (*coordinationv1.Lease, error) {
	u, err := c.client.Get(ctx, c.meta.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return leaseOf(u.Object)
}

func (c clusterLease) create(ctx context.Context, spec coordinationv1.LeaseSpec) (*coordinationv1.Lease, error) {
	l := &coordinationv1.Lease{ObjectMeta: c.meta, Spec: spec}
	l.APIVersion, l.Kind = "coordination.k8s.io/v1", "Lease"
	u, err := c.client.Create(ctx, fieldsOf(l), metav1.CreateOptions{FieldManager: FieldManager})
	if err != nil {
		return nil, err
	}
	return leaseOf(u.Object)
}

func (c clusterLease) update(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	l.APIVersion, l.Kind = "coordination.k8s.io/v1", "Lease"
	u, err := c.client.Update(ctx, fieldsOf(l), metav1.UpdateOptions{FieldManager: FieldManager})
	if err != nil {
		return nil, err
	}
	return leaseOf(u.Object)
}

func leaseOf(fields map[string]any) (*coordinationv1.Lease, error) {
	l := new(coordinationv1.Lease)
	return l, runtime.DefaultUnstructuredConverter.FromUnstructured(fields, l)
}
