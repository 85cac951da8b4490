package journal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// leaseHolder is one use of a lock. Its times are of the monotonic clock.
type leaseHolder struct {
	lock *Lease
	id   string
	// lease is as it was last seen, or written; seen is when it was first seen like that.
	lease *coordinationv1.Lease
	seen  time.Time
	// sent is when the last renewal that worked was sent.
	sent time.Time
}

// take waits until the lease is ours.
func (t *leaseHolder) take(ctx context.Context) error {
	began := time.Now()
	answered, reported := began, ""
	for {
		got, err := t.try(ctx)
		switch {
		case got:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil || takenFirst(err):
			answered = time.Now()
		case !IsTransient(err):
			return fmt.Errorf("take the lock (%s): %w", t.lock.name, err)
		case t.lock.Limit > 0 && time.Since(answered) > t.lock.Limit:
			return fmt.Errorf("take the lock (%s): no answer for %s: %w", t.lock.name, t.lock.Limit, err)
		}
		if holder := holderOf(t.lease); holder != "" && holder != reported && time.Since(began) >= time.Second && t.lock.Waiting != nil {
			reported = holder
			t.lock.Waiting(unmarked(holder), acquiredAt(t.lease))
		}
		if err := nap(ctx, t.pause()); err != nil {
			return err
		}
	}
}

// pause is how long to wait before looking again: often enough that a lease that was released
// is soon seen.
func (t *leaseHolder) pause() time.Duration {
	return min(max(t.lock.Duration/15, 50*time.Millisecond), time.Second)
}

// try takes the lease if nobody has it.
func (t *leaseHolder) try(ctx context.Context) (bool, error) {
	sent := time.Now()
	now := metav1.NewMicroTime(sent)
	seconds := int32(t.lock.Duration / time.Second)
	spec := coordinationv1.LeaseSpec{HolderIdentity: &t.id, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now}
	ctx, cancel := context.WithTimeout(ctx, t.lock.Duration/2)
	defer cancel()
	current, err := t.lock.api.get(ctx)
	if apierrors.IsNotFound(err) {
		current, err = t.lock.api.create(ctx, spec)
		return t.written(current, err, sent)
	}
	if err != nil {
		return false, err
	}
	t.observe(current)
	// Its own name is in it where a write worked whose answer was lost.
	if holder := holderOf(current); holder != "" && holder != t.id && time.Since(t.seen) <= leaseDuration(current) {
		return false, nil
	}
	current = current.DeepCopy()
	times := int32(1)
	if current.Spec.LeaseTransitions != nil {
		times += *current.Spec.LeaseTransitions
	}
	current.Spec = spec
	current.Spec.LeaseTransitions = &times
	current, err = t.lock.api.update(ctx, current)
	return t.written(current, err, sent)
}

func (t *leaseHolder) written(result *coordinationv1.Lease, err error, sent time.Time) (bool, error) {
	if err != nil {
		return false, err
	}
	t.lease, t.sent = result, sent
	return true, nil
}

// observe remembers when a lease was first seen as it is.
func (t *leaseHolder) observe(current *coordinationv1.Lease) {
	if t.lease == nil || t.lease.ResourceVersion != current.ResourceVersion || t.lease.UID != current.UID {
		t.seen = time.Now()
	}
	t.lease = current
}

// keep renews the lease until the context ends, and returns why it was lost.
func (t *leaseHolder) keep(ctx context.Context) error {
	every := t.lock.Duration / 5
	for {
		if nap(ctx, every) != nil {
			return nil
		}
		end := t.sent.Add(t.lock.Duration * 2 / 3)
		err := t.renew(ctx, end)
		switch {
		case err == nil:
			every = t.lock.Duration / 5
			continue
		case ctx.Err() != nil:
			return nil
		case errors.As(err, new(*takenError)):
			return err
		case time.Now().After(end):
			return fmt.Errorf("it could not be renewed in time: %w", err)
		}
		every = min(t.lock.Duration/20, max(time.Until(end), time.Millisecond))
	}
}

// unmarked is who holds a lease, without the mark of the turn.
func unmarked(holder string) string {
	if i := strings.LastIndex(holder, markedBy); i > 0 {
		return holder[:i]
	}
	return holder
}

type takenError struct{ by string }

func (e *takenError) Error() string {
	if e.by == "" {
		return "lost to another holder"
	}
	return unmarked(e.by) + " took it"
}

// renew writes the lease again. Somebody else's write of it is borne (an annotation), unless
// it made it theirs.
func (t *leaseHolder) renew(ctx context.Context, end time.Time) error {
	sent := time.Now()
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	now := metav1.NewMicroTime(sent)
	mine := t.lease.DeepCopy()
	mine.Spec.RenewTime = &now
	current, err := t.lock.api.update(ctx, mine)
	if err == nil {
		t.lease, t.sent = current, sent
		return nil
	}
	if apierrors.IsNotFound(err) {
		return &takenError{} // it was deleted, and anybody may have made it again
	}
	if !MayHaveWritten(err) {
		return err
	}
	current, gone := t.lock.api.get(ctx)
	switch {
	case apierrors.IsNotFound(gone):
		return &takenError{}
	case gone != nil:
		return err
	case holderOf(current) != t.id || current.UID != t.lease.UID:
		return &takenError{by: holderOf(current)}
	}
	t.lease = current
	return err
}

// release lets the lease go, also when the context has ended. Where that fails, others wait
// until it runs out; it is not worth an error.
func (t *leaseHolder) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(t.lock.Duration, 5*time.Second))
	defer cancel()
	_ = Retry(ctx, t.lock.Duration, func(ctx context.Context) error {
		free := t.lease.DeepCopy()
		free.Spec.HolderIdentity = nil
		_, err := t.lock.api.update(ctx, free)
		if err == nil || !MayHaveWritten(err) {
			return err
		}
		current, gone := t.lock.api.get(ctx)
		if gone != nil {
			return gone
		}
		if holderOf(current) != t.id || current.UID != t.lease.UID {
			return nil // it was released, or is another one's
		}
		t.lease = current
		return Retryable(err)
	})
}

// forget deletes the lease if nobody holds it; that it stays is of no consequence.
func (t *leaseHolder) forget(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if current, err := t.lock.api.get(ctx); err == nil && holderOf(current) == "" {
		_ = t.lock.api.remove(ctx, current)
	}
}

func takenFirst(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }

func holderOf(l *coordinationv1.Lease) string {
	if l == nil || l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

func acquiredAt(l *coordinationv1.Lease) time.Time {
	if l.Spec.AcquireTime == nil {
		return time.Time{}
	}
	return l.Spec.AcquireTime.Time
}

// leaseDuration is how long a lease is its holder's after it was renewed.
func leaseDuration(l *coordinationv1.Lease) time.Duration {
	if l.Spec.LeaseDurationSeconds == nil || *l.Spec.LeaseDurationSeconds < 1 {
		return time.Second
	}
	return time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
}

func nap(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
