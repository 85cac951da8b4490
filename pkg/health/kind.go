package health

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kindRule judges the objects of a built-in kind. It says false of one that was not
// read in the form that it understands.
type kindRule struct {
	group, version, kind string
	evaluate             func(*subject) (Health, bool)
}

// kindRules are all built-in kinds that are judged, a row each. To add one: a function
// in the file of its family, a row in the table there, fixtures in testdata/kinds.
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

// kind judges the built-in kinds, each by rules of its own.
func (j *Evaluator) kind(s *subject) (Health, bool) {
	judge, known := kindIndex()[schema.GroupKind{Group: s.Group, Kind: s.Kind}]
	if !known {
		return Health{}, false
	}
	return judge(s)
}

// Whole lists the built-in kinds that have to be read whole to be judged, in the version
// in which they are understood: as Go types, or as maps of that very version. Of what is
// not listed the metadata is enough, or nothing is known.
func Whole() []schema.GroupVersionKind {
	var whole []schema.GroupVersionKind
	for _, r := range kindRules() {
		if r.version != "" {
			whole = append(whole, schema.GroupVersionKind{Group: r.group, Version: r.version, Kind: r.kind})
		}
	}
	return whole
}

// Known says that a kind is one of the built-in ones that are judged by rules of their own.
func Known(gk schema.GroupKind) bool {
	_, known := kindIndex()[gk]
	return known
}

// typed is the rule of a kind that is judged on its Go type. Maps of the same version
// are of the same shape, and are converted.
func typed[T any](group, version, kind string, judge func(*subject, *T) Health) kindRule {
	return kindRule{group, version, kind, func(s *subject) (Health, bool) {
		body, ok := any(s.Body).(*T)
		if !ok {
			body, ok = converted[T](s, schema.GroupVersion{Group: group, Version: version})
		}
		if !ok {
			return Health{}, false
		}
		return judge(s, body), true
	}}
}

// converted reads the maps of an object into its Go type. Those of another version are
// left alone: their fields may mean something else.
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
	// startTimeout is how long something that starts is Progressing: as long as a
	// Deployment waits for a rollout that says nothing else
	// (progressDeadlineSeconds, 600). The kubelet forgets crashes after the same time.
	startTimeout = 10 * time.Minute
	// decisionGrace is how long what waits for a first decision of the control plane, on a node
	// or a volume, is Progressing. kstatus waits as long for the scheduler.
	decisionGrace = 15 * time.Second
)

// newHealth puts a health together, with a message in the manner of Printf.
func newHealth(status Status, since time.Time, reason, format string, args ...any) Health {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	return Health{Status: status, Reason: reason, Message: message, Since: since}
}

// ended is the health of what has run to its end.
func ended(h Health) Health {
	h.Ended = true
	return h
}

// stale says that a status is of an older generation than the object. Controllers that
// always write what they have observed have not seen an object where they observed 0.
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

// createdAt is when the object was created.
func (s *subject) createdAt() time.Time { return s.Meta.GetCreationTimestamp().Time }

// lasted says that something is so for at least d. What began nobody knows when has
// lasted: there is no reason to wait for it.
func (s *subject) lasted(since time.Time, d time.Duration) bool {
	return since.IsZero() || s.now.Sub(since) >= d
}

// progressingUntil is the status of what may yet come right until it has lasted for d.
func (s *subject) progressingUntil(since time.Time, d time.Duration) Status {
	if s.lasted(since, d) {
		return Degraded
	}
	return Progressing
}
