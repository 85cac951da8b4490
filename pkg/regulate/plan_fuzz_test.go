package regulate_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// FuzzPlan plans from journals that somebody else wrote: whatever stands in one, a plan is
// made, its steps are about holds that are there, and they can be done.
func FuzzPlan(f *testing.F) {
	r := newRandom(3)
	for range 60 {
		r.change()
		p, what := r.plan()
		r.do(p, whole, -1, what)
		if data, err := json.Marshal(r.j); err == nil && len(r.j.Holds) > 0 {
			f.Add(data, int64(0))
		}
	}
	f.Add([]byte(`{"holds":[null,{"id":1,"app":"a","signal":"Stop","causes":null,"operations":[null]},{"id":1,"app":"b","signal":"Stop","phase":"x","causes":[{"rule":"r0","app":"a"}]},{"id":-1,"app":"a","signal":"","causes":[{"rule":"r0","app":"b"}]}],"apps":{"a":null,"b":{"recovered":"9999-12-31T23:59:59Z","stopped":["9000-01-01T00:00:00Z"]}}}`), int64(1)<<40)
	f.Add([]byte(`{"left":[null,{"id":2,"app":"a","signal":"Stop","operations":[null,{"target":{"uid":"u"},"changes":[{}]}]},{"id":2,"app":"a"}]}`), int64(0))
	f.Add([]byte(`null`), int64(-1))
	f.Fuzz(func(t *testing.T, data []byte, shift int64) {
		var j *regulate.Journal
		if err := json.Unmarshal(data, &j); err != nil {
			return
		}
		r := newRandom(uint64(len(data)))
		for range 3 {
			r.change()
		}
		now := r.now.Add(time.Duration(shift))
		for _, p := range []*regulate.Plan{
			regulate.NewPlan(r.w, r.s, j, now),
			regulate.StopByHand(r.w, r.s, j, "a", "Stop", "bob", now),
			regulate.RecoverByHand(r.w, r.s, j, "a", "bob", true, now),
			regulate.EndRun(r.w, r.s, j, "run", now),
			regulate.NewPlan(nil, r.s, j, now),
			regulate.NewPlan(r.w, nil, j, now),
		} {
			for _, s := range p.Steps {
				if _, ok := holdOrLeft(j.Clone(), s); !ok && s.Verb != regulate.Send {
					t.Errorf("%s of %s: there is no hold %d", s.Verb, s.App, s.Hold)
				}
			}
			apply(j, p, whole, now)
		}
	})
}
