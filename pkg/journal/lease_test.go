package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// memoryLease is a Lease of an API server.
type memoryLease struct {
	mu      sync.Mutex
	lease   *coordinationv1.Lease
	version int
}

func (m *memoryLease) put(l *coordinationv1.Lease) *coordinationv1.Lease {
	m.version++
	m.lease = l.DeepCopy()
	m.lease.ResourceVersion = strconv.Itoa(m.version)
	return m.lease.DeepCopy()
}

func (m *memoryLease) get(context.Context) (*coordinationv1.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lease == nil {
		return nil, apierrors.NewNotFound(leaseResource.GroupResource(), "x")
	}
	return m.lease.DeepCopy(), nil
}

func (m *memoryLease) create(_ context.Context, spec coordinationv1.LeaseSpec) (*coordinationv1.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lease != nil {
		return nil, apierrors.NewAlreadyExists(leaseResource.GroupResource(), "x")
	}
	return m.put(&coordinationv1.Lease{Spec: spec}), nil
}

func (m *memoryLease) update(_ context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.lease == nil:
		return nil, apierrors.NewNotFound(leaseResource.GroupResource(), "x")
	case l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity == "":
		return nil, apierrors.NewBadRequest("holderIdentity must not be empty")
	case m.lease.ResourceVersion != l.ResourceVersion:
		return nil, apierrors.NewConflict(leaseResource.GroupResource(), "x", errors.New("modified"))
	}
	return m.put(l), nil
}

func (m *memoryLease) remove(_ context.Context, l *coordinationv1.Lease) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lease != nil && m.lease.ResourceVersion != l.ResourceVersion {
		return apierrors.NewConflict(leaseResource.GroupResource(), "x", errors.New("modified"))
	}
	m.lease = nil
	return nil
}

func (m *memoryLease) edit(change func(l *coordinationv1.Lease)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lease.DeepCopy()
	change(l)
	m.put(l)
}

// badLine is the way to an API server of one client: fault says what becomes of a request.
type badLine struct {
	*memoryLease
	fault func() fault
}

type fault int

const (
	fine   fault = iota
	gone         // it never arrives
	unseen       // it arrives, and the answer does not
	hangs        // nobody answers until the client gives up
	no           // it is forbidden
)

func (b badLine) pass(ctx context.Context, do func() (*coordinationv1.Lease, error)) (*coordinationv1.Lease, error) {
	switch b.fault() {
	case gone:
		return nil, errCut
	case unseen:
		_, _ = do()
		return nil, errCut
	case hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case no:
		return nil, apierrors.NewForbidden(leaseResource.GroupResource(), "x", nil)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return do()
}

func (b badLine) get(ctx context.Context) (*coordinationv1.Lease, error) {
	return b.pass(ctx, func() (*coordinationv1.Lease, error) { return b.memoryLease.get(ctx) })
}

func (b badLine) create(ctx context.Context, s coordinationv1.LeaseSpec) (*coordinationv1.Lease, error) {
	return b.pass(ctx, func() (*coordinationv1.Lease, error) { return b.memoryLease.create(ctx, s) })
}

func (b badLine) update(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	return b.pass(ctx, func() (*coordinationv1.Lease, error) { return b.memoryLease.update(ctx, l) })
}

func lockOn(api leaseAPI, holder string, d time.Duration) *Lease {
	return &Lease{api: api, name: "lease prod/sysop-shop", LeaseOptions: LeaseOptions{Holder: holder, Duration: d, Limit: DefaultLimit}.complete()}
}

// Of many who want in, over lines on which a third of the requests fails somehow, never two
// are in, and all have been.
func TestNeverTwoInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memoryLease{}
		random := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // a test wants the same each time
		var mu sync.Mutex
		odds := func() fault {
			mu.Lock()
			defer mu.Unlock()
			switch n := random.IntN(100); {
			case n < 15:
				return gone
			case n < 30:
				return unseen
			case n < 33:
				return hangs
			}
			return fine
		}
		var inside, turns, lostTurns atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				l := lockOn(badLine{m, odds}, fmt.Sprintf("run %d", i), 15*time.Second)
				for done := 0; done < 5; {
					err := l.Do(t.Context(), func(ctx context.Context) error {
						if n := inside.Add(1); n != 1 {
							t.Errorf("%d are in", n)
						}
						defer inside.Add(-1)
						turns.Add(1)
						return nap(ctx, time.Duration(1+i*3)*time.Second)
					})
					switch {
					case err == nil:
						done++
					case errors.As(err, new(*LostError)):
						lostTurns.Add(1)
					default:
						t.Errorf("run %d: %v", i, err)
						return
					}
				}
			})
		}
		wg.Wait()
		t.Logf("%d turns, %d of them lost", turns.Load(), lostTurns.Load())
		if turns.Load() < 40 {
			t.Errorf("%d turns, want 40", turns.Load())
		}
	})
}

// A holder that was killed keeps others out for as long as its lease lasts, and no longer,
// whatever the times in the object say.
func TestKilledHolder(t *testing.T) {
	for name, skew := range map[string]time.Duration{"clocks agree": 0, "its clock is ahead": 100 * 365 * 24 * time.Hour, "its clock is behind": -50 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memoryLease{}
				who, seconds, at := "alice@laptop (pid 1) #abc", int32(15), metav1.NewMicroTime(time.Now().Add(skew))
				m.put(&coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &who, LeaseDurationSeconds: &seconds, RenewTime: &at, AcquireTime: &at}})
				l := lockOn(m, "alice@laptop (pid 1)", 15*time.Second) // the same name is not the same run
				var told string
				l.Waiting = func(by string, since time.Time) { told = fmt.Sprintf("%s since %t", by, since.Equal(at.Time)) }
				begin := time.Now()
				if err := l.Do(t.Context(), func(context.Context) error { return nil }); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(begin); waited < 15*time.Second || waited > 17*time.Second {
					t.Errorf("it waited %s", waited)
				}
				if told != "alice@laptop (pid 1) since true" {
					t.Errorf("told %q", told)
				}
				if n := *m.lease.Spec.LeaseTransitions; n != 1 || m.lease.Spec.HolderIdentity != nil {
					t.Errorf("the lease at the end: %+v", m.lease.Spec)
				}
			})
		})
	}
}

// Who is cut off stops before another one begins.
func TestCutOffHolderStopsInTime(t *testing.T) {
	for name, f := range map[string]fault{"requests do not arrive": gone, "nobody answers": hangs, "it may not any more": no} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memoryLease{}
				var cut atomic.Bool
				first := lockOn(badLine{m, func() fault {
					if cut.Load() {
						return f
					}
					return fine
				}}, "first", 15*time.Second)
				second := lockOn(m, "second", 15*time.Second)
				var stopped, began time.Time
				var wg sync.WaitGroup
				wg.Go(func() {
					err := first.Do(t.Context(), func(ctx context.Context) error {
						nap(ctx, time.Minute)
						cut.Store(true)
						<-ctx.Done()
						stopped = time.Now()
						return ctx.Err()
					})
					if lost := new(LostError); !errors.As(err, &lost) || !strings.Contains(err.Error(), "lease prod/sysop-shop") {
						t.Errorf("error %v", err)
					}
				})
				nap(t.Context(), time.Second)
				wg.Go(func() {
					err := second.Do(t.Context(), func(context.Context) error { began = time.Now(); return nil })
					if err != nil {
						t.Error(err)
					}
				})
				wg.Wait()
				if gap := began.Sub(stopped); gap < 3*time.Second || gap > 8*time.Second {
					t.Errorf("the second began %s after the first stopped", gap)
				}
			})
		})
	}
}

func TestLeaseThatIsTaken(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(m *memoryLease)
		lost string
	}{
		"by another": {func(m *memoryLease) {
			m.edit(func(l *coordinationv1.Lease) { who := "bob #1"; l.Spec.HolderIdentity = &who })
		}, "bob took it"},
		"by deleting it":          {func(m *memoryLease) { m.mu.Lock(); m.lease = nil; m.mu.Unlock() }, "lost to another holder"},
		"not, but it is labelled": {func(m *memoryLease) { m.edit(func(l *coordinationv1.Lease) { l.Labels = map[string]string{"a": "b"} }) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memoryLease{}
				err := lockOn(m, "alice", 15*time.Second).Do(t.Context(), func(ctx context.Context) error {
					c.edit(m)
					return nap(ctx, time.Minute)
				})
				switch {
				case c.lost == "" && err != nil:
					t.Error(err)
				case c.lost != "" && (!errors.As(err, new(*LostError)) || !strings.Contains(err.Error(), c.lost)):
					t.Errorf("error %v, want %q", err, c.lost)
				}
				if l, _ := m.get(t.Context()); l != nil && l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity != "bob #1" {
					t.Errorf("held by %s in the end", *l.Spec.HolderIdentity)
				}
			})
		})
	}
}

// However a turn ends, the next one need not wait.
func TestLockIsLetGo(t *testing.T) {
	boom := errors.New("boom")
	for name, act := range map[string]func(ctx context.Context, cancel func()) error{
		"well":            func(context.Context, func()) error { return nil },
		"with an error":   func(context.Context, func()) error { return boom },
		"with a panic":    func(context.Context, func()) error { panic(boom) },
		"being cancelled": func(ctx context.Context, cancel func()) error { cancel(); <-ctx.Done(); return ctx.Err() },
		"after a while":   func(ctx context.Context, _ func()) error { return nap(ctx, time.Hour) },
		"cancelled slowly": func(ctx context.Context, cancel func()) error {
			cancel()
			return nap(context.WithoutCancel(ctx), time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memoryLease{}
				var first, ended atomic.Bool
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var wg sync.WaitGroup
				wg.Go(func() {
					defer func() {
						if p := recover(); p != nil && p != boom { //nolint:errorlint // it is what was panicked with
							t.Errorf("panic %v", p)
						}
					}()
					err := lockOn(m, "first", 15*time.Second).Do(ctx, func(ctx context.Context) error {
						first.Store(true)
						defer ended.Store(true)
						return act(ctx, cancel)
					})
					if strings.HasPrefix(name, "with an error") != errors.Is(err, boom) {
						t.Errorf("error %v", err)
					}
				})
				for !first.Load() {
					nap(t.Context(), time.Millisecond)
				}
				err := lockOn(m, "second", 15*time.Second).Do(t.Context(), func(context.Context) error {
					if !ended.Load() {
						t.Error("the second is in before the first has ended")
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				wg.Wait()
			})
		})
	}
}

func TestLockThatCannotBeTaken(t *testing.T) {
	for _, c := range []struct {
		name string
		api  leaseAPI
		wait time.Duration // until it gives up
		want string
	}{
		{"forbidden", badLine{&memoryLease{}, func() fault { return no }}, 0, "forbidden"},
		{"no server", badLine{&memoryLease{}, func() fault { return gone }}, DefaultLimit, "no answer for 30s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				err := lockOn(c.api, "alice", 15*time.Second).Do(t.Context(), func(context.Context) error { t.Error("it is in"); return nil })
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "lease prod/sysop-shop") {
					t.Errorf("error %v, want %q", err, c.want)
				}
				if d := time.Since(begin); d < c.wait || d > c.wait+5*time.Second {
					t.Errorf("after %s", d)
				}
			})
		})
	}
}

// Who waits can be called off.
func TestWaitingIsCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memoryLease{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := lockOn(m, "alice", 15*time.Second).Do(t.Context(), func(context.Context) error {
			return lockOn(m, "bob", 15*time.Second).Do(ctx, func(context.Context) error { t.Error("two are in"); return nil })
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}
