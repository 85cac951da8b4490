package health

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// subject is an object that is being judged, with what several stages look at.
type subject struct {
	object.Object
	now    time.Time
	fields map[string]any // of a custom resource
	status map[string]any // of a custom resource; nil for none, or an empty one
	seen   seen
	asked  map[string]any // what the expressions of a rule see; nil until they are asked
	failed *RuleError     // the first expression of its rule that could not be evaluated
	notYet bool           // its entry says when it is Healthy, and did not say so
	lists  [][]condition  // of the status
	own    bool           // the first list is that of the object itself
	listed bool           // lists were read
	// trouble and verdict are what the fields of the status say, once told.
	trouble, verdict finding
	told             bool
}

// seen is what the stages before made of an object that none of them could judge.
type seen struct {
	words bool // that nobody knows: see NotUnderstood
	text  string
}

func newSubject(o object.Object, now time.Time) *subject {
	s := &subject{Object: o, now: now, fields: o.Fields()}
	s.status, _ = s.fields["status"].(map[string]any)
	return s
}

// spec returns the spec of a custom resource.
func (s *subject) spec() map[string]any {
	spec, _ := s.fields["spec"].(map[string]any)
	return spec
}

// strange notes what is said of the object that nobody here knows to be good or bad.
func (s *subject) strange(text string) {
	if !s.seen.words || text < s.seen.text {
		s.seen.words, s.seen.text = true, text
	}
}

// ends reports whether the object is of a kind that is to come to an end, as jobs are:
// by the last word of its kind.
func (s *subject) ends() bool {
	switch strings.ToLower(lastWord(s.Kind)) {
	case "job", "run", "task", "workflow", "backup", "restore", "build", "execution", "import", "export", "migration",
		"operation", "test", "request", "analysis", "experiment", "scan", "step", "upload", "download", "action", "snapshot", "plan",
		"upgrade", "rollback", "promotion", "batch", "drain", "query":
		return true
	}
	return false
}

// unknown is what is said where no stage could tell.
func (s *subject) unknown() Health {
	switch {
	case s.fields == nil:
		if _, partial := s.Body.(*metav1.PartialObjectMetadata); partial {
			return Health{Status: Unknown, Reason: Unread, Message: "only its metadata was read"}
		}
		return Health{Status: Unknown, Reason: NoVerdict, Message: "nothing is known of the health of this kind"}
	case s.seen.words:
		return Health{Status: Unknown, Reason: NotUnderstood, Message: s.seen.text}
	case len(s.status) == 0:
		return s.silent()
	}
	h := s.silent()
	h.Reason, h.Message = NoVerdict, "its status says nothing that is known to tell of health"
	if h.Status == Progressing {
		h.Message = "its status says nothing of its health yet"
	}
	return h
}

// youth is how long a custom resource may be without a status before that says that
// nobody will write one.
const youth = 5 * time.Minute

// silent judges a custom resource without a status: its operator may still come to it.
func (s *subject) silent() Health {
	made := s.Meta.GetCreationTimestamp().Time
	h := Health{Status: Unknown, Reason: NoStatus, Message: "it has no status", Since: made, Quiet: true}
	if made.IsZero() || s.now.Sub(made) < youth {
		h.Status, h.Message = Progressing, "it has no status yet"
	}
	return h
}
