package backups

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// copiedInterval is how often it is read whether the parts are copied.
const copiedInterval = time.Second

// lookTimeout bounds one look whether the parts are copied: an interrupt does not end it.
const lookTimeout = 15 * time.Second

// Quiesce stops the apps that write to the parts of a backup while these are copied: until the
// moment of each snapshot, and the end of each backup of an operator. It recovers them when that is
// done, at the limit, and when saving has failed.
type Quiesce struct {
	in    *app.Input
	plan  *backup.Plan
	pause *regulator.Pause
	stop  context.CancelFunc // of what waits for the parts; nil before Begin
	ended chan struct{}
	saved time.Time
	err   error
	// Stopped is called when the apps are stopped, and Released when they are recovered.
	Stopped, Released func(*regulator.Pause)
}

// NewQuiesce opens the System of a request for a pause, and writes nothing.
func NewQuiesce(ctx context.Context, given *app.Input, r Request, limit time.Duration, upgrades *regulator.Upgrades) (*Quiesce, error) {
	q := systems.Query{Name: r.System}
	if r.System == "" {
		return nil, hint.With(errors.New("--consistency quiesced stops the apps of a System, and ROOTs are none"), "name the System with --system; kubectl sysop system init writes a manifest")
	}
	if _, err := q.Read(ctx, given, r.Roots); err != nil {
		return nil, err
	}
	pause, err := regulator.NewPause(ctx, upgrades, q.System)
	if err != nil {
		return nil, err
	}
	pause.ID, pause.Limit = r.Name, limit
	out := &Quiesce{in: given.Another(pause.Session.Namespace), pause: pause, Stopped: func(*regulator.Pause) {}, Released: func(*regulator.Pause) {}}
	pause.Alive = func(ctx context.Context, run string) (bool, error) {
		h, held, err := out.holder(ctx, run)
		return held && h.ValidAt(given.Now()), err
	}
	return out, nil
}

// holder is who holds the Lease of a run.
func (q *Quiesce) holder(ctx context.Context, run string) (journal.LeaseStatus, bool, error) {
	return install.ReadHolder(ctx, q.pause.Session.Config, install.Installation{Name: run, Namespace: q.pause.Session.Namespace, System: true})
}

// another says whether another process runs this backup. The Lease of a killed one is valid for a
// while: it waits for that, and one that lives renews it meanwhile.
func (q *Quiesce) another(ctx context.Context) (bool, error) {
	first, held, err := q.holder(ctx, q.pause.ID)
	if !held || err != nil {
		return false, err
	}
	ctx, stop := context.WithTimeout(ctx, first.Duration)
	defer stop()
	for now := first; held && now.Version == first.Version; now, held, err = q.holder(ctx, q.pause.ID) {
		if err != nil || !now.ValidAt(q.in.Now()) || wait(ctx) != nil {
			return false, err
		}
	}
	return held, err
}

// EndOthers recovers what killed backups stopped. It comes before a backup is planned: the manifests
// in its record are those of apps that run.
func (q *Quiesce) EndOthers(ctx context.Context) error { return q.pause.EndOthers(ctx) }

// Copy says which backup is taken.
func (q *Quiesce) Copy(p *backup.Plan) {
	q.plan, q.pause.ID, q.pause.What = p, p.Name, "it is quiet while the backup "+p.Name+" is taken"
	q.pause.Saved, q.pause.Running = p.Objects()
}

// Pause is what is stopped.
func (q *Quiesce) Pause() *regulator.Pause { return q.pause }

// Begin stops the apps, and begins to wait for the parts. A second call does nothing.
func (q *Quiesce) Begin(ctx context.Context) error {
	if q.stop != nil {
		return nil
	}
	if err := q.pause.Begin(ctx); err != nil {
		return err
	}
	q.Stopped(q.pause)
	q.watch(ctx)
	return nil
}

// watch waits for the parts, and then recovers the apps.
func (q *Quiesce) watch(ctx context.Context) {
	waiting, stop := context.WithDeadline(ctx, q.pause.Began.Add(q.pause.Limit))
	q.stop, q.ended = stop, make(chan struct{})
	go func() {
		defer close(q.ended)
		q.await(waiting)
		q.err = q.pause.End(context.WithoutCancel(ctx), ctx)
		q.Released(q.pause)
	}()
}

// await waits until all parts are copied. Saving may end before that is seen: it looks once more.
func (q *Quiesce) await(ctx context.Context) {
	for last := false; !last; {
		select {
		case <-ctx.Done():
			last = true
		default:
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return
		}
		looking, done := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
		n, err := uncopied(looking, q.in, q.plan)
		done()
		if err == nil && n == 0 {
			q.saved = q.in.Now()
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(copiedInterval):
		}
	}
}

// End recovers the apps if they are still stopped, and stores in the record how long they were. It
// is an error if they were not stopped until all parts were copied. If nothing is saved, or ctx
// ends, it recovers at once.
func (q *Quiesce) End(ctx context.Context, saved bool) error {
	after := context.WithoutCancel(ctx)
	if q.stop == nil { // a run that was killed may have stopped apps
		if !saved {
			if alive, err := q.another(after); alive || err != nil {
				return err // another process recovers what it stopped
			}
		}
		stopped, err := q.pause.Continue(after)
		if err != nil || !stopped {
			return err
		}
		if !saved {
			err := q.pause.End(after, ctx)
			q.Released(q.pause)
			return err
		}
		q.watch(ctx)
	} else {
		q.stop()
	}
	<-q.ended
	q.stop()
	p := &backup.Pause{Apps: append([]string{}, q.pause.Apps...), Serving: q.pause.Serving, Began: q.pause.Began, Saved: q.saved, Ended: q.pause.Ended, Broken: q.pause.Broken}
	if q.saved.IsZero() && p.Broken == "" {
		p.Broken = fmt.Sprintf("the pause ended after %s, before all parts were copied", p.Ended.Sub(p.Began).Round(time.Second))
	}
	err := errors.Join(q.err, q.store(after, p))
	if err == nil && p.Broken != "" {
		err = hint.With(fmt.Errorf("the backup %s is not quiesced: %s", q.plan.Name, p.Broken), "--pause-at-most allows a longer pause; --consistency app stops no app")
	}
	return err
}

// store writes the pause into the record; a record that is gone was undone.
func (q *Quiesce) store(ctx context.Context, p *backup.Pause) error {
	c, err := systems.Connect(ctx, q.in)
	if err != nil {
		return err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"data": map[string]any{backup.PauseKey: string(text)}})
	if err != nil {
		return err
	}
	_, err = c.Objects.Resource(configMaps).Namespace(q.plan.Namespace).Patch(ctx, q.plan.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-sysop-backup"})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("store the pause in the record of the backup %s: %w", q.plan.Name, err)
	}
	return nil
}

// uncopied is how many parts are not copied yet.
func uncopied(ctx context.Context, in *app.Input, p *backup.Plan) (int, error) {
	connected, err := systems.Connect(ctx, in)
	if err != nil {
		return 0, err
	}
	c := cluster{connected}
	n := 0
	var byOperators []object.Ref
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Method == backup.ByOperator {
			byOperators = append(byOperators, part.Backup)
			continue
		}
		o, err := c.get(ctx, part.Backup)
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			return 0, err
		case err != nil || backup.Text(o, "status", "creationTime") == "":
			n++
		}
	}
	if n > 0 || len(byOperators) == 0 {
		return n, nil
	}
	states, err := healthOf(ctx, in, byOperators)
	if err != nil {
		return 0, err
	}
	for _, ref := range byOperators {
		if states[ref].Status != health.Healthy {
			n++
		}
	}
	return n, nil
}
