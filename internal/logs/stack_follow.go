package logs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// gathering is how long changes are collected before the stack is read again: changes come in
// bursts.
const gathering = 500 * time.Millisecond

// follow prints new lines until it is interrupted, which is no error. The stack is read once; after
// that a change costs no request but those for new logs.
func (l *stack) follow(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	live := l.s.Live(ctx)
	g, pods, err := l.pods(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := l.begin(g, pods); err != nil {
		return err
	}
	f := &Follower{Open: clusterLogs(l.s.Cluster()), Max: l.MaxStreams, Options: l.Options, Began: l.in.Now(), Notify: l.notices.report, Emit: l.printer.line}
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop() // which ends it
	states := make(chan []Container)
	w := &stackWatch{stack: l, live: live, pods: pods, notices: &app.WatchNotices{Report: l.in.Report, Live: live, Said: g.Gaps()}}
	w.covered = w.coverage()
	watching.Go(func() { w.watch(ctx, states) })
	if err := f.Run(ctx, states); err != nil {
		return fmt.Errorf("no log could be read: %w", err)
	}
	return nil
}

// stackWatch reads a stack repeatedly.
type stackWatch struct {
	*stack
	live    *source.Live
	pods    []object.Ref
	covered map[string]bool // namespaces of which all pods are known
	notices *app.WatchNotices
}

// watch sends the containers of the stack, and sends them again after each change.
func (w *stackWatch) watch(ctx context.Context, to chan<- []Container) {
	for {
		select {
		case to <- w.wanted(w.containers(w.pods)):
		case <-ctx.Done():
			return
		}
		for again := true; again; again = !w.read(ctx) {
			select {
			case <-w.live.Changed():
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(gathering):
			case <-ctx.Done():
				return
			}
		}
	}
}

// read reads the stack again, and reports whether its pods are known.
func (w *stackWatch) read(ctx context.Context) bool {
	w.collector = &Collector{}
	w.s.Input.Collect = w.collector.Add
	w.s = w.s.Reopen()
	g, pods, err := w.stack.pods(ctx)
	if ctx.Err() != nil {
		return false
	}
	w.notices.Trouble()
	if err != nil {
		w.notices.Failure(err)
		return false
	}
	w.notices.Gaps(g.Gaps())
	covered := w.coverage()
	for ns, all := range w.covered {
		if all && !covered[ns] {
			return false // Pods that cannot be read are not gone.
		}
	}
	err = w.s.Missing(g, w.roots, w.Selector)
	w.notices.Failure(err)
	if err != nil {
		// Nor are those of a root that is, until they are.
		pods = slices.DeleteFunc(w.pods, func(ref object.Ref) bool { return len(w.collector.Of(ref)) == 0 })
	}
	w.pods, w.covered = pods, covered
	return true
}

// coverage says of which namespaces of the stack all pods were read.
func (w *stackWatch) coverage() map[string]bool {
	in := map[string]bool{}
	for _, ref := range w.pods {
		in[ref.Namespace] = w.s.Inventory.Covered(app.PodKind, ref.Namespace)
	}
	return in
}
