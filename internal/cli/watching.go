package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// watchNotices says on stderr what is wrong with a question that is asked again and again,
// and says it once.
type watchNotices struct {
	c    *common
	live *source.Live
	// said are the gaps that were told, failed is the last failure, and down says that
	// changes were not seen.
	said   []object.Gap
	failed string
	down   bool
}

// await waits for a change, and what comes with it; or for the time in which things ripen. It is
// false when ctx has ended.
func (w *watchNotices) await(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(ripening):
	case <-w.live.Changed():
		select {
		case <-ctx.Done():
			return false
		case <-time.After(gathering):
		}
	}
	return true
}

// failure tells why there is no answer, when that has changed; nil is that there is one.
func (w *watchNotices) failure(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != w.failed {
		fmt.Fprintf(w.c.env.ErrOut, "warning: %s\n", safe(text))
	}
	w.failed = text
}

// gaps tells what could not be read, unless that was told.
func (w *watchNotices) gaps(all []object.Gap) {
	fresh := slices.DeleteFunc(slices.Clone(all), func(g object.Gap) bool { return slices.Contains(w.said, g) })
	w.said = append(w.said, fresh...)
	w.c.Gaps(fresh)
}

// reportTrouble tells whether changes are still seen, when that has changed.
func (w *watchNotices) reportTrouble() {
	down := w.live.Trouble()
	switch {
	case len(down) > 0 && !w.down:
		fmt.Fprintf(w.c.env.ErrOut, "warning: watch interrupted: %s%s (%s): %s\n", safe(down[0].Resource), inNamespace(down[0].Namespace), safe(down[0].Reason), safe(down[0].Message))
	case len(down) == 0 && w.down:
		fmt.Fprintln(w.c.env.ErrOut, "watch resumed")
	}
	w.down = len(down) > 0
}
