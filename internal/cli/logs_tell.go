package cli

import (
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/logs"
)

// logsTeller says on stderr what happens to logs. What happens to many in one way is one
// line.
type logsTeller struct {
	out     io.Writer
	home    string // the namespace that need not be written
	follow  bool
	streams int
	told    map[string]bool
}

// logsGroup are logs to which the same happened.
type logsGroup struct {
	key   string
	first logs.Note
	names []string
	seen  map[string]bool
}

func (t *logsTeller) tell(notes []logs.Note) {
	by := map[string]*logsGroup{}
	var groups []*logsGroup
	for _, n := range notes {
		key, name := noteKey(n), t.name(n)
		g := by[key]
		if g == nil {
			g = &logsGroup{key: key, first: n, seen: map[string]bool{}}
			by[key] = g
			groups = append(groups, g)
		}
		if !g.seen[name] {
			g.seen[name] = true
			g.names = append(g.names, name)
		}
	}
	for _, g := range groups {
		if !t.repeated(g) {
			t.write(g)
		}
	}
}

// noteKey is the same for what can be told in one line. The message of a server names the
// pod that was asked for: its reason counts where it has one.
func noteKey(n logs.Note) string {
	why := n.Reason
	if n.Err != nil {
		why = n.Err.Error()
		if reason := apierrors.ReasonForError(n.Err); reason == metav1.StatusReasonForbidden || reason == metav1.StatusReasonUnauthorized {
			why = string(reason) + " in " + n.Container.Namespace
		}
	}
	return fmt.Sprintf("%d %s", n.Event, why)
}

// repeated says that a thing was told before. A failure is told once; pods that end, or
// wait, are others each time.
func (t *logsTeller) repeated(g *logsGroup) bool {
	key := g.key
	switch g.first.Event {
	case logs.Failed, logs.Broken:
	case logs.Ended, logs.Gone:
		// Of a pod with several containers each may say so by itself.
		key += " " + strings.Join(g.names, " ") + " " + string(g.first.Container.UID)
	default:
		return false
	}
	if t.told[key] {
		return true
	}
	if t.told == nil {
		t.told = map[string]bool{}
	}
	t.told[key] = true
	return false
}

// name is what a note is about: a pod, where it is about all of it.
func (t *logsTeller) name(n logs.Note) string {
	name := safe(n.Container.Pod)
	if n.Container.Namespace != t.home {
		name = safe(n.Container.Namespace) + "/" + name
	}
	if n.Event == logs.Ended || n.Event == logs.Gone {
		return name
	}
	return name + " " + safe(n.Container.Name)
}

func (t *logsTeller) write(g *logsGroup) {
	const few, shown = 4, 3
	names, verb := strings.Join(g.names, ", "), "is"
	if len(g.names) > few {
		names = fmt.Sprintf("%s and %d more", strings.Join(g.names[:shown], ", "), len(g.names)-shown)
	}
	if len(g.names) > 1 {
		verb = "are"
	}
	why := safe(g.first.Reason)
	if g.first.Err != nil {
		why = safe(g.first.Err.Error())
	}
	switch g.first.Event {
	case logs.Waiting:
		fmt.Fprintf(t.out, "warning: no log yet of %s: waiting to start (%s)\n", names, why)
	case logs.Queued:
		fmt.Fprintf(t.out, "warning: not followed until another log ends: %s (--max-streams %d)\n", names, t.streams)
	case logs.Failed:
		fmt.Fprintf(t.out, "warning: not read: the log of %s: %s\n", names, why)
	case logs.Broken:
		again := ""
		if t.follow {
			again = "; it is tried again"
		}
		fmt.Fprintf(t.out, "warning: the log of %s broke off: %s%s\n", names, why, again)
	case logs.Ended:
		fmt.Fprintf(t.out, "%s ended: %s\n", names, why)
	case logs.Gone:
		fmt.Fprintf(t.out, "%s %s gone from the stack\n", names, verb)
	}
}
