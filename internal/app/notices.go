package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

const (
	// Gathering is how long changes are collected before a question is answered again: changes come
	// in bursts.
	Gathering = 300 * time.Millisecond
	// Ripening is how often it is answered again without a change: a pod that cannot be scheduled is
	// Degraded only after a while.
	Ripening = 15 * time.Second
)

// WatchNotices report what is wrong with a question that is answered again and again, each problem
// once.
type WatchNotices struct {
	Report reporter
	Live   *source.Live
	// Said are the reported gaps.
	Said []object.Gap

	failed string // the last failure
	down   bool   // changes were not seen
}

// Await waits for a change, and for those that come with it; or for Ripening. It is false when ctx
// has ended.
func (w *WatchNotices) Await(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(Ripening):
	case <-w.Live.Changed():
		select {
		case <-ctx.Done():
			return false
		case <-time.After(Gathering):
		}
	}
	return true
}

// Failure reports why there is no answer, when that has changed; nil is that there is one.
func (w *WatchNotices) Failure(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != w.failed {
		w.Report.Warn(text)
	}
	w.failed = text
}

// Gaps reports what could not be read, unless that was reported.
func (w *WatchNotices) Gaps(all []object.Gap) {
	fresh := slices.DeleteFunc(slices.Clone(all), func(g object.Gap) bool { return slices.Contains(w.Said, g) })
	w.Said = append(w.Said, fresh...)
	w.Report.Gaps(fresh)
}

// Trouble reports whether changes are still seen, when that has changed, and returns what is not
// watched.
func (w *WatchNotices) Trouble() []object.Gap {
	down := w.Live.Trouble()
	switch {
	case len(down) > 0 && !w.down:
		w.Report.Warn(Unwatched(down[:1]))
	case len(down) == 0 && w.down:
		w.Report.Note("watch resumed")
	}
	w.down = len(down) > 0
	return down
}

// Unwatched says what is not watched, by the first of it.
func Unwatched(down []object.Gap) string {
	first, location, more := down[0], "", ""
	if first.Namespace != "" {
		location = " in " + first.Namespace
	}
	if n := len(down) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("watch interrupted: %s%s%s (%s): %s", first.Resource, location, more, first.Reason, first.Message)
}
