package health

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// subject is an object that is being judged, with what several stages look at.
type subject struct {
	object.Object
	now     time.Time
	fields  map[string]any // of a custom resource
	status  map[string]any // of a custom resource; nil for none, or an empty one
	seen    seen
	asked   map[string]any // what the expressions of a rule see; nil until they are asked
	failed  *RuleError     // the first expression of its rule that could not be evaluated
	unasked bool           // its entry was not asked: the budget of the rules is spent
	notYet  bool           // its entry says when it is Healthy, and did not say so
	parts   *parts         // what the status says of parts of the object, once read
	// trouble and verdict are what the fields of the status say, once told.
	trouble, verdict finding
	assessed         bool
	notes            []string // of assessors that gave no health
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

// noted adds to a health what assessors noted that gave none.
func (s *subject) noted(h Health) Health {
	for _, note := range s.notes {
		if h.Message != "" {
			h.Message += "; "
		}
		h.Message += note
	}
	return h
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

// nature is what its conditions do not say of an object.
type nature struct {
	ends  bool // it is of a kind that is to end
	young bool // it was made a short while ago
}

func (s *subject) nature() nature {
	made := s.createdAt()
	young := !made.IsZero() && s.now.Sub(made) < unexplainedFor
	if young && !s.now.After(made) {
		// Where that it was made is the newest moment that is known, only another time shows that the status is of then.
		young = slices.ContainsFunc(s.conditionLists(), func(l listed) bool {
			return slices.ContainsFunc(l.conditions, func(c condition) bool { return !c.since.IsZero() })
		})
	}
	return nature{ends: s.ends(), young: young}
}

// unknown is what is said where no stage could tell.
func (s *subject) unknown() Health {
	switch {
	case s.fields == nil:
		if _, partial := s.Body.(*metav1.PartialObjectMetadata); partial {
			return Health{Status: Unknown, Reason: ReasonUnread, Message: "only its metadata was read"}
		}
		return Health{Status: Unknown, Reason: NoVerdict, Message: "the health of this kind is unknown"}
	case s.seen.words:
		return Health{Status: Unknown, Reason: NotUnderstood, Message: s.seen.text}
	case len(s.status) == 0:
		return s.silent()
	}
	h := s.silent()
	h.Reason, h.Message = NoVerdict, "its status has no known health condition"
	if h.Status == Progressing {
		h.Message = "its status does not report health yet"
	}
	return h
}

// newObjectGrace is how long a custom resource may be without a status before that says that
// nobody will write one.
const newObjectGrace = 5 * time.Minute

// silent judges a custom resource without a status: its operator may still come to it, unless it
// is of a kind that others only read.
func (s *subject) silent() Health {
	made := s.Meta.GetCreationTimestamp().Time
	h := Health{Status: Unknown, Reason: NoStatus, Message: "it has no status", Since: made, Unreported: true}
	switch {
	case s.settings():
		h.Message = "it has no status: its kind is configuration for other objects"
	case made.IsZero() || s.now.Sub(made) < newObjectGrace:
		h.Status, h.Message = Progressing, "it has no status yet"
	}
	return h
}
