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

// leaseHolder is one acquisition of a lock. Its times are of the monotonic clock.
type leaseHolder struct {
	lock *Lease
	id   string
	// lease is the latest version read or written, and seen is when it was first observed.
	lease *coordinationv1.Lease
	seen  time.Time
	// sent is when the last successful renewal was sent.
	sent time.Time
}

// take waits until this process holds the lease.
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

// pause is the delay before the next read: short, so that a released lease is noticed soon.
func (t *leaseHolder) pause() time.Duration {
	return min(max(t.lock.Duration/15, 50*time.Millisecond), time.Second)
}

// try acquires the lease if it has no valid holder.
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
	// Our own name is in it where a write arrived and its response did not.
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

// observe records when a version of the lease was first seen.
func (t *leaseHolder) observe(current *coordinationv1.Lease) {
	if t.lease == nil || t.lease.ResourceVersion != current.ResourceVersion || t.lease.UID != current.UID {
		t.seen = time.Now()
	}
	t.lease = current
}

// keep renews the lease until the context ends. It returns why the lease was lost.
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

// unmarked returns the name of the holder without the mark.
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

// renew renews the lease. A concurrent change (an annotation) is tolerated unless it changed the
// holder.
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
		return &takenError{} // deleted, and possibly created again by another holder
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

// release gives up the lease, also after the context has ended. An error is ignored: the lease
// then expires.
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
			return nil // released already, or held by another one
		}
		t.lease = current
		return Retryable(err)
	})
}

// forget deletes a lease without a holder. An error is ignored.
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

// leaseDuration is how long a lease is valid after a renewal.
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
