package cli

import (
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/logs"
)

// logNotices says on stderr what happens to logs. What happens to many in one way is one
// line.
type logNotices struct {
	out     io.Writer
	home    string // the namespace that need not be written
	follow  bool
	streams int
	printed map[string]bool
}

// logsGroup are logs to which the same happened.
type logsGroup struct {
	key   string
	first logs.Notice
	names []string
}

func (t *logNotices) print(notes []logs.Notice) {
	byKey := map[string]*logsGroup{}
	var groups []*logsGroup
	for _, n := range notes {
		// Each container of a pod says by itself that the pod is no more.
		if aboutPod(n) && t.before(fmt.Sprintf("%d %s", n.Event, n.Container.UID)) {
			continue
		}
		key := noteKey(n)
		g := byKey[key]
		if g == nil {
			g = &logsGroup{key: key, first: n}
			byKey[key] = g
			groups = append(groups, g)
		}
		g.names = append(g.names, t.name(n))
	}
	for _, g := range groups {
		// A failure is reported once; waiting containers differ each time.
		failure := g.first.Event == logs.Failed || g.first.Event == logs.Interrupted
		if !failure || !t.before(g.key) {
			t.write(g)
		}
	}
}

// aboutPod says that a note is about a pod as a whole.
func aboutPod(n logs.Notice) bool { return n.Event == logs.Ended || n.Event == logs.Gone }

// before says whether a thing was told before, and that it is now.
func (t *logNotices) before(key string) bool {
	if t.printed[key] {
		return true
	}
	if t.printed == nil {
		t.printed = map[string]bool{}
	}
	t.printed[key] = true
	return false
}

// noteKey is the same for what can be told in one line. The message of a server names the
// pod that was asked for: its reason counts where it has one.
func noteKey(n logs.Notice) string {
	cause := n.Reason
	if n.Err != nil {
		cause = n.Err.Error()
		if reason := apierrors.ReasonForError(n.Err); reason == metav1.StatusReasonForbidden || reason == metav1.StatusReasonUnauthorized {
			cause = string(reason) + " in " + n.Container.Namespace
		}
	}
	return fmt.Sprintf("%d %s", n.Event, cause)
}

// name is what a note is about: a pod, where it is about all of it.
func (t *logNotices) name(n logs.Notice) string {
	name := safe(n.Container.Pod)
	if n.Container.Namespace != t.home {
		name = safe(n.Container.Namespace) + "/" + name
	}
	if aboutPod(n) {
		return name
	}
	return name + " " + safe(n.Container.Name)
}

func (t *logNotices) write(g *logsGroup) {
	const maxShown, shown = 4, 3
	names, verb := strings.Join(g.names, ", "), "is"
	if len(g.names) > maxShown {
		names = fmt.Sprintf("%s and %d more", strings.Join(g.names[:shown], ", "), len(g.names)-shown)
	}
	if len(g.names) > 1 {
		verb = "are"
	}
	reason := safe(g.first.Reason)
	if g.first.Err != nil {
		reason = safe(g.first.Err.Error())
	}
	switch g.first.Event {
	case logs.Waiting:
		fmt.Fprintf(t.out, "warning: no log yet of %s: waiting to start (%s)\n", names, reason)
	case logs.Queued:
		fmt.Fprintf(t.out, "warning: not followed until another log ends: %s (--max-streams %d)\n", names, t.streams)
	case logs.NodeNotReady:
		fmt.Fprintf(t.out, "warning: %s: there may be no lines of %s\n", reason, names)
	case logs.Failed:
		fmt.Fprintf(t.out, "warning: not read: the log of %s: %s\n", names, reason)
	case logs.Interrupted:
		again := ""
		if t.follow {
			again = "; retrying"
		}
		fmt.Fprintf(t.out, "warning: the log of %s broke off: %s%s\n", names, reason, again)
	case logs.Ended:
		fmt.Fprintf(t.out, "%s ended: %s\n", names, reason)
	case logs.Gone:
		fmt.Fprintf(t.out, "%s %s gone from the stack\n", names, verb)
	}
}
