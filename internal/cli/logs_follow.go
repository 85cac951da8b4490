package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/logs"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// settle is how long changes are collected before the stack is read again: changes come in bursts.
const settle = 500 * time.Millisecond

// follow shows what comes, until it is interrupted, which is no error. The stack is read
// once; after that a change costs no request but those for new logs.
func (l *logsRun) follow(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l.o.env.ErrOut = &oneAtATime{w: l.o.env.ErrOut}
	live := l.s.Live(ctx)
	g, pods, err := l.pods(ctx)
	if err != nil {
		return ended(ctx, err)
	}
	all, err := l.begin(g, pods)
	if err != nil {
		return err
	}
	lines := l.writer(l.o.env.Out, all)
	f := &logs.Follower{
		Open: l.open, Max: l.o.maxStreams, Options: l.q.options, Began: l.o.env.Now(), Notify: l.notices.print,
		Emit: func(line logs.Line) error {
			if !l.q.filter.takes(plain(line.Text)) {
				return nil
			}
			return lines.line(line)
		},
	}
	var looking sync.WaitGroup
	defer looking.Wait()
	defer stop() // which ends it
	states := make(chan []logs.Container)
	w := &stackWatch{run: l, live: live, pods: pods, trouble: &app.WatchNotices{Report: l.o.common, Live: live, Said: g.Gaps()}}
	w.covered = w.coverage()
	looking.Go(func() { w.watch(ctx, states) })
	if err := f.Run(ctx, states); err != nil {
		return fmt.Errorf("no log could be read: %w", err)
	}
	return nil
}

// ended is the error of what was interrupted: following ends so, always.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// stackWatch reads a stack repeatedly, and remembers what it reported.
type stackWatch struct {
	run     *logsRun
	live    *source.Live
	pods    []object.Ref
	covered map[string]bool // namespaces of which all pods are known
	trouble *app.WatchNotices
}

// watch sends the containers of the stack, and sends them again after each change.
func (w *stackWatch) watch(ctx context.Context, to chan<- []logs.Container) {
	for {
		select {
		case to <- w.run.o.wanted(w.run.containers(w.pods)):
		case <-ctx.Done():
			return
		}
		for again := true; again; again = !w.look(ctx) {
			select {
			case <-w.live.Changed():
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(settle):
			case <-ctx.Done():
				return
			}
		}
	}
}

// look reads the stack again, and says whether that tells of its pods.
func (w *stackWatch) look(ctx context.Context) bool {
	l := w.run
	l.reopen()
	g, pods, err := l.pods(ctx)
	if ctx.Err() != nil {
		return false
	}
	w.trouble.Trouble()
	if err != nil {
		w.trouble.Failure(err)
		return false
	}
	w.trouble.Gaps(g.Gaps())
	covered := w.coverage()
	for ns, all := range w.covered {
		if all && !covered[ns] {
			return false // Pods that cannot be read are not gone.
		}
	}
	err = l.s.Missing(g, l.roots, l.q.selector)
	w.trouble.Failure(err)
	if err != nil {
		// Nor are those of a root that is, until they are.
		pods = slices.DeleteFunc(w.pods, func(ref object.Ref) bool { return len(l.collector.Of(ref)) == 0 })
	}
	w.pods, w.covered = pods, covered
	return true
}

// coverage says of which namespaces of the stack all pods were read.
func (w *stackWatch) coverage() map[string]bool {
	in := map[string]bool{}
	for _, ref := range w.pods {
		in[ref.Namespace] = w.run.s.Inventory.Covered(app.PodKind, ref.Namespace)
	}
	return in
}

// reopen makes room for another reading of the same source.
func (l *logsRun) reopen() {
	l.collector = &logs.Collector{}
	l.s.Input.Collect = l.collector.Add
	l.s = l.s.Reopen()
}

// oneAtATime is a writer that several may use at once.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *oneAtATime) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}
