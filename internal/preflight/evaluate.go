package preflight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// Short names for what occurs often.
const (
	impossible     = schedule.DoesNotFit
	verdictUnknown = schedule.Unknown
	fits           = schedule.Fits

	present = graph.Present
)

// placer is schedule.Cluster.Place.
type placer func(*schedule.Cluster, []schedule.Pod) schedule.Result

// evaluation is one batch while it is evaluated.
type evaluation struct {
	Request
	place placer
	// items are the batch by reference, order the same in order.
	items map[object.Ref]*Item
	order []*Item
	// dryRuns are the dry runs of objects, podDryRuns those of pods of their templates.
	dryRuns, podDryRuns map[object.Ref]*Admission
	podSets             []*podSet
	// resting are objects that make no pods until they are resumed.
	resting []*Item
	claims  []*claim
	found   []Finding
	// checked says of each topic what was checked.
	checked map[Topic]string
	notes   map[string]bool
	placed  []schedule.Placed
	// byQuota are refusals of the API server for a quota, which the totals explain better.
	byQuota []refusal
	lookups
}

// lookups caches what is looked up often.
type lookups struct {
	defined map[schema.GroupKind]*Item
	sets    map[schema.GroupKind]any
	pvs     []*corev1.PersistentVolume
	says    map[*Item][]graph.Problem
}

// Evaluate decides whether a whole batch will start. It never fails: what cannot be determined is
// unknown, with the reason. Its cost is that of a few schedule.Cluster.Place, and of one pass over
// the batch and the objects of its namespaces.
func Evaluate(q Request) *Report {
	return evaluate(q, (*schedule.Cluster).Place)
}

func evaluate(q Request, place placer) *Report {
	f := &evaluation{
		Request: q, place: place, items: map[object.Ref]*Item{},
		dryRuns: map[object.Ref]*Admission{}, podDryRuns: map[object.Ref]*Admission{},
		checked: map[Topic]string{}, notes: map[string]bool{}, lookups: lookups{sets: map[schema.GroupKind]any{}, says: map[*Item][]graph.Problem{}},
	}
	for i := range q.Batch {
		it := &q.Batch[i]
		f.items[it.Ref] = it
		f.order = append(f.order, it)
	}
	slices.SortFunc(f.order, func(a, b *Item) int { return object.Compare(a.Ref, b.Ref) })
	for i := range q.Admissions {
		a := &q.Admissions[i]
		if a.Pod {
			f.podDryRuns[a.Ref] = a
			continue
		}
		f.dryRuns[a.Ref] = a
	}
	f.readPodSets()
	f.readClaims()
	f.admission()
	f.references()
	f.limits()
	f.quotas()
	f.storage()
	f.scheduling()
	f.refusals()
	return f.report()
}

// add keeps a finding. Where it has no origin it gets that of its object.
func (f *evaluation) add(j Finding) {
	if it := f.items[j.Object]; it != nil && j.Origin == "" {
		j.Origin = it.Origin
	}
	f.found = append(f.found, j)
}

// addRefusal adds that the pods of a set are refused. Where the pods themselves are only
// assumed, that is unknown.
func (f *evaluation) addRefusal(j Finding, c *podSet) {
	if c.guess {
		j.Verdict = verdictUnknown
	} else {
		c.refuse()
	}
	f.basis(&j, c)
	f.add(j)
}

// note keeps something that cannot be checked beforehand.
func (f *evaluation) note(format string, args ...any) { f.notes[fmt.Sprintf(format, args...)] = true }

// report puts it all in order: the worst first, by topic and object, each cause once.
func (f *evaluation) report() *Report {
	r := &Report{Verdict: fits, Placement: f.placed, AutoscalerNote: f.grows()}
	for _, c := range f.podSets {
		if !c.later {
			r.Pods += c.missing()
		}
	}
	reported := map[Topic]bool{}
	for _, j := range f.found {
		reported[j.Topic] = reported[j.Topic] || j.Verdict != fits
	}
	for _, t := range Topics() {
		if checked := f.checked[t]; !reported[t] && checked != "" {
			f.found = append(f.found, Finding{Topic: t, Verdict: fits, Reason: "Looked", Message: checked})
		}
	}
	topics := Topics()
	slices.SortStableFunc(f.found, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(slices.Index(topics, a.Topic), slices.Index(topics, b.Topic)),
			object.Compare(a.Object, b.Object), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message),
		)
	})
	r.Findings = slices.CompactFunc(f.found, func(a, b Finding) bool {
		return a.Topic == b.Topic && a.Verdict == b.Verdict && a.Object == b.Object && a.Field == b.Field && a.Reason == b.Reason && a.Message == b.Message
	})
	for _, j := range r.Findings {
		r.Verdict = min(r.Verdict, j.Verdict)
	}
	if r.Pods > 0 {
		f.note("whether the images can be pulled")
		f.note("whether containers start and become ready")
	}
	r.NotChecked = slices.Sorted(maps.Keys(f.notes))
	return r
}
