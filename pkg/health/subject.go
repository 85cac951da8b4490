package health

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// subject is an object under evaluation, with what several stages use.
type subject struct {
	object.Object
	now     time.Time
	fields  map[string]any // of a custom resource
	status  map[string]any // of a custom resource; nil if absent or empty
	seen    seen
	asked   map[string]any // what the expressions of a rule see; nil until they are evaluated
	failed  *RuleError     // the first expression of its rule that could not be evaluated
	unasked bool           // its rule was not evaluated: the budget is used up
	notYet  bool           // the healthy expression of its rule is not true
	parts   *parts         // what the status says about parts, once evaluated
	// trouble and verdict are the meaning of the fields of the status, once evaluated.
	trouble, verdict finding
	assessed         bool
	notes            []string // of assessors without a result
}

// seen records the observations of the stages if none of them decided.
type seen struct {
	words bool // of unknown meaning: see NotUnderstood
	text  string
}

func newSubject(o object.Object, now time.Time) *subject {
	s := &subject{Object: o, now: now, fields: o.Fields()}
	s.status, _ = s.fields["status"].(map[string]any)
	return s
}

// noted adds the notes of assessors without a result to a health.
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

// strange records a text of unknown meaning.
func (s *subject) strange(text string) {
	if !s.seen.words || text < s.seen.text {
		s.seen.words, s.seen.text = true, text
	}
}

// ends reports whether the object is of a kind that ends, as jobs do: by the last word of its kind.
func (s *subject) ends() bool {
	switch strings.ToLower(lastWord(s.Kind)) {
	case "job", "run", "task", "workflow", "backup", "restore", "build", "execution", "import", "export", "migration",
		"operation", "test", "request", "analysis", "experiment", "scan", "step", "upload", "download", "action", "snapshot", "plan",
		"upgrade", "rollback", "promotion", "batch", "drain", "query":
		return true
	}
	return false
}

// nature has the facts about an object that its conditions do not have.
type nature struct {
	ends  bool // its kind ends
	young bool // it was created recently
}

func (s *subject) nature() nature {
	created := s.createdAt()
	young := !created.IsZero() && s.now.Sub(created) < unexplainedFor
	if young && !s.now.After(created) {
		// If the creation is the latest known time, only another time shows that the status is from
		// then.
		young = slices.ContainsFunc(s.conditionLists(), func(l listed) bool {
			return slices.ContainsFunc(l.conditions, func(c condition) bool { return !c.since.IsZero() })
		})
	}
	return nature{ends: s.ends(), young: young}
}

// unknown returns the health if no stage decided.
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

// newObjectGrace is how long a custom resource may be without a status before that means that no
// controller writes one.
const newObjectGrace = 5 * time.Minute

// silent evaluates a custom resource without a status: its operator may still write one, unless it
// is of a kind that others only read.
func (s *subject) silent() Health {
	created := s.Meta.GetCreationTimestamp().Time
	h := Health{Status: Unknown, Reason: NoStatus, Message: "it has no status", Since: created, Unreported: true}
	switch {
	case s.settings():
		h.Message = "it has no status: its kind is configuration for other objects"
	case created.IsZero() || s.now.Sub(created) < newObjectGrace:
		h.Status, h.Message = Progressing, "it has no status yet"
	}
	return h
}
