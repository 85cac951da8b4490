package logs

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// notices report what happens to logs. What happens to many in one way is one line.
type notices struct {
	*Request
	to interface {
		Warn(text string)
		Note(text string)
	}
	home     string // the namespace that need not be written
	reported map[string]bool
}

// noticeGroup are logs to which the same happened.
type noticeGroup struct {
	key   string
	first Notice
	names []string
}

func (t *notices) report(notes []Notice) {
	byKey := map[string]*noticeGroup{}
	var groups []*noticeGroup
	for _, n := range notes {
		// Each container of a pod says by itself that the pod is no more.
		if aboutPod(n) && t.before(fmt.Sprintf("%d %s", n.Event, n.Container.UID)) {
			continue
		}
		key := noteKey(n)
		g := byKey[key]
		if g == nil {
			g = &noticeGroup{key: key, first: n}
			byKey[key] = g
			groups = append(groups, g)
		}
		g.names = append(g.names, t.name(n))
	}
	for _, g := range groups {
		// A failure is reported once; waiting containers differ each time.
		failure := g.first.Event == Failed || g.first.Event == Interrupted
		if !failure || !t.before(g.key) {
			t.write(g)
		}
	}
}

// aboutPod says that a note is about a pod as a whole.
func aboutPod(n Notice) bool { return n.Event == Ended || n.Event == Gone }

// before says whether a thing was told before, and that it is now.
func (t *notices) before(key string) bool {
	if t.reported[key] {
		return true
	}
	if t.reported == nil {
		t.reported = map[string]bool{}
	}
	t.reported[key] = true
	return false
}

// noteKey is the same for what can be told in one line. The message of a server names the
// pod that was asked for: its reason counts where it has one.
func noteKey(n Notice) string {
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
func (t *notices) name(n Notice) string {
	name := n.Container.Pod
	if n.Container.Namespace != t.home {
		name = n.Container.Namespace + "/" + name
	}
	if aboutPod(n) {
		return name
	}
	return name + " " + n.Container.Name
}

func (t *notices) write(g *noticeGroup) {
	const maxShown, shown = 4, 3
	names, verb := strings.Join(g.names, ", "), "is"
	if len(g.names) > maxShown {
		names = fmt.Sprintf("%s and %d more", strings.Join(g.names[:shown], ", "), len(g.names)-shown)
	}
	if len(g.names) > 1 {
		verb = "are"
	}
	reason := g.first.Reason
	if g.first.Err != nil {
		reason = g.first.Err.Error()
	}
	switch g.first.Event {
	case Waiting:
		t.to.Warn(fmt.Sprintf("no log yet of %s: waiting to start (%s)", names, reason))
	case Queued:
		t.to.Warn(fmt.Sprintf("not followed until another log ends: %s (--max-streams %d)", names, t.MaxStreams))
	case NodeNotReady:
		t.to.Warn(fmt.Sprintf("%s: there may be no lines of %s", reason, names))
	case Failed:
		t.to.Warn(fmt.Sprintf("not read: the log of %s: %s", names, reason))
	case Interrupted:
		again := ""
		if t.Options.Follow {
			again = "; retrying"
		}
		t.to.Warn(fmt.Sprintf("the log of %s broke off: %s%s", names, reason, again))
	case Ended:
		t.to.Note(fmt.Sprintf("%s ended: %s", names, reason))
	case Gone:
		t.to.Note(fmt.Sprintf("%s %s gone from the stack", names, verb))
	}
}
