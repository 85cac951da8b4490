package health

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kindRule evaluates the objects of a built-in kind. It returns false for one that was not read in
// the form that it supports.
type kindRule struct {
	group, version, kind string
	evaluate             func(*subject) (Health, bool)
}

// kindRules returns the rules of the built-in kinds, a row each. To add one, write a function in
// the file of its family, a row in the table there, and fixtures in testdata/kinds.
func kindRules() []kindRule {
	return slices.Concat(
		workloadKinds(),
		podKinds(),
		jobKinds(),
		networkKinds(),
		storageKinds(),
		policyKinds(),
		clusterKinds(),
		definitionKinds(),
		requestKinds(),
		statelessKinds(),
	)
}

var kindIndex = sync.OnceValue(func() map[schema.GroupKind]func(*subject) (Health, bool) {
	index := map[schema.GroupKind]func(*subject) (Health, bool){}
	for _, r := range kindRules() {
		index[schema.GroupKind{Group: r.group, Kind: r.kind}] = r.evaluate
	}
	return index
})

// kind evaluates the built-in kinds, each by a rule of its own.
func (j *Evaluator) kind(s *subject) (Health, bool) {
	evaluate, known := kindIndex()[schema.GroupKind{Group: s.Group, Kind: s.Kind}]
	if !known {
		return Health{}, false
	}
	return evaluate(s)
}

// Whole lists the built-in kinds that must be read whole to be evaluated, with the version: as Go
// types, or as maps of exactly that version. For other kinds the metadata is enough.
func Whole() []schema.GroupVersionKind {
	var whole []schema.GroupVersionKind
	for _, r := range kindRules() {
		if r.version != "" {
			whole = append(whole, schema.GroupVersionKind{Group: r.group, Version: r.version, Kind: r.kind})
		}
	}
	return whole
}

// Known reports whether a built-in kind has a rule of its own.
func Known(gk schema.GroupKind) bool {
	_, known := kindIndex()[gk]
	return known
}

// typed returns the rule of a kind that is evaluated on its Go type. Maps of the same version are
// converted.
func typed[T any](group, version, kind string, evaluate func(*subject, *T) Health) kindRule {
	return kindRule{group, version, kind, func(s *subject) (Health, bool) {
		body, ok := any(s.Body).(*T)
		if !ok {
			body, ok = converted[T](s, schema.GroupVersion{Group: group, Version: version})
		}
		if !ok {
			return Health{}, false
		}
		return evaluate(s, body), true
	}}
}

// converted converts the maps of an object to its Go type. Maps of another version are not
// converted: their fields may mean something else.
func converted[T any](s *subject, gv schema.GroupVersion) (*T, bool) {
	if apiVersion, _ := s.fields["apiVersion"].(string); apiVersion != gv.String() {
		return nil, false
	}
	body := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(s.fields, body); err != nil {
		return nil, false
	}
	return body, true
}

const (
	// startTimeout is how long something that starts is Progressing: as long as the default
	// deadline of a Deployment (progressDeadlineSeconds, 600). The kubelet forgets crashes after
	// the same time.
	startTimeout = 10 * time.Minute
	// decisionGrace is how long an object that waits for a first decision of the control plane, on
	// a node or a volume, is Progressing. kstatus waits as long for the scheduler.
	decisionGrace = 15 * time.Second
)

// newHealth returns a health with a formatted message.
func newHealth(status Status, since time.Time, reason, format string, args ...any) Health {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	return Health{Status: status, Reason: reason, Message: message, Since: since}
}

// ended marks the health of an object that has run to its end.
func ended(h Health) Health {
	h.Ended = true
	return h
}

// stale returns the health if the status is of an older generation than the object. observed 0
// means not observed at all, for controllers that always write it.
func (s *subject) stale(observed int64) (Health, bool) {
	generation := s.Meta.GetGeneration()
	switch {
	case observed >= generation:
		return Health{}, false
	case observed == 0:
		return newHealth(Progressing, s.createdAt(), ReasonNotObserved, "its controller has not processed it yet"), true
	}
	return newHealth(Progressing, time.Time{}, ReasonNotObserved, "its status is of generation %d, and it is at %d", observed, generation), true
}

// createdAt returns when the object was created.
func (s *subject) createdAt() time.Time { return s.Meta.GetCreationTimestamp().Time }

// lasted reports whether something has been so for at least d. An unknown start counts as long ago:
// there is no reason to wait.
func (s *subject) lasted(since time.Time, d time.Duration) bool {
	return since.IsZero() || s.now.Sub(since) >= d
}

// progressingUntil returns Progressing for d, and Degraded afterwards.
func (s *subject) progressingUntil(since time.Time, d time.Duration) Status {
	if s.lasted(since, d) {
		return Degraded
	}
	return Progressing
}
