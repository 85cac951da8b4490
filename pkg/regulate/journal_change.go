package regulate

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// MaxBytes limits the JSON of a journal: an object has at most 1 MiB, managedFields and other
// metadata included.
const MaxBytes = 700 << 10

// maxText limits one text of a record: messages of clusters can be long.
const maxText = 1000

// Clone returns a deep copy of j. It shares only the values in changes of operations, which are
// never modified in place. The clone of nil is an empty journal.
func (j *Journal) Clone() *Journal {
	if j == nil {
		return &Journal{}
	}
	c := *j
	c.Holds = nil
	for _, h := range j.Holds {
		if h != nil {
			c.Holds = append(c.Holds, h.clone())
		}
	}
	c.Conflicts = nil
	for _, h := range j.Conflicts {
		if h != nil {
			c.Conflicts = append(c.Conflicts, h.clone())
		}
	}
	if j.AppRecords != nil {
		c.AppRecords = make(map[string]*AppRecord, len(j.AppRecords))
		for app, s := range j.AppRecords {
			c.AppRecords[app] = s.Clone()
		}
	}
	c.Owned = nil
	for _, o := range j.Owned {
		c.Owned = append(c.Owned, Owned{o.UID, slices.Clone(o.Paths)})
	}
	c.History = slices.Clone(j.History)
	return &c
}

func (h *Hold) clone() *Hold {
	c := *h
	c.Causes = slices.Clone(h.Causes)
	c.Operations = nil
	for _, o := range h.Operations {
		if o == nil {
			continue
		}
		d := *o
		d.Changes, d.Owners, d.KeptOwnership = slices.Clone(o.Changes), slices.Clone(o.Owners), slices.Clone(o.KeptOwnership)
		c.Operations = append(c.Operations, &d)
	}
	return &c
}

// Clone returns a deep copy of s; that of nil is empty.
func (s *AppRecord) Clone() *AppRecord {
	if s == nil {
		return &AppRecord{}
	}
	c := *s
	c.FiringSince, c.ClearSince, c.HealthyFingerprint = maps.Clone(s.FiringSince), maps.Clone(s.ClearSince), maps.Clone(s.HealthyFingerprint)
	c.Stopped, c.OverriddenCauses, c.Needs = slices.Clone(s.Stopped), slices.Clone(s.OverriddenCauses), slices.Clone(s.Needs)
	return &c
}

// Hold returns the open hold of a number.
func (j *Journal) Hold(id int) (*Hold, bool) {
	for _, h := range j.Holds {
		if h != nil && h.ID == id {
			return h, true
		}
	}
	return nil, false
}

// Remember stores the observations of a plan (Planned.Seen). Call it before the methods that
// record the steps of that plan, which write there too.
func (j *Journal) Remember(seen map[string]*AppRecord) {
	j.AppRecords = make(map[string]*AppRecord, len(seen))
	for app, s := range seen {
		j.AppRecords[app] = s.Clone()
	}
}

// Open adds the hold of a Send with its operations as intents. The caller must write the journal
// before it does the first of them. A signal of a rule counts for the limit per hour.
func (j *Journal) Open(step Step, ops []*Operation, now time.Time) *Hold {
	// Numbers are never reused, whatever Next is.
	for _, h := range slices.Concat(j.Holds, j.Conflicts) {
		if h != nil && h.ID > j.Next {
			j.Next = h.ID
		}
	}
	j.Next++
	h := &Hold{ID: j.Next, App: step.App, Signal: step.Signal, Causes: slices.Clone(step.Causes), Phase: Stopping, At: now, Operations: ops}
	j.Holds = append(j.Holds, h)
	if slices.ContainsFunc(step.Causes, Cause.ofRule) {
		s := j.seen(step.App)
		s.Stopped = append(recent(s.Stopped, now), now)
	}
	return h
}

// AddCauses adds new causes of a step to its hold. It returns false if there is no such hold.
func (j *Journal) AddCauses(step Step) bool {
	h, ok := j.Hold(step.Hold)
	if !ok {
		return false
	}
	for _, c := range step.Causes {
		if !slices.ContainsFunc(h.Causes, c.same) {
			h.Causes = append(h.Causes, c)
		}
	}
	return true
}

// RemoveCauses removes the causes of a step from its hold. The next plan recovers a hold without
// causes. It returns false if there is no such hold.
func (j *Journal) RemoveCauses(step Step) bool {
	h, ok := j.Hold(step.Hold)
	if !ok {
		return false
	}
	h.Causes = slices.DeleteFunc(h.Causes, func(c Cause) bool { return slices.ContainsFunc(step.Causes, c.same) })
	return true
}

// MarkHeld records that all operations of a hold were done. Conflicts of the app and of the same
// fields are deleted.
func (j *Journal) MarkHeld(h *Hold) {
	h.Phase = Held
	j.forget(h)
}

// MarkRecovering records that the undo of a hold starts. It then always continues to its end: no
// cause joins the hold any more.
func (j *Journal) MarkRecovering(h *Hold) { h.Phase = Recovering }

// Fail records that a hold failed permanently and its operations are to be undone. Rules ignore
// the app for a while.
func (j *Journal) Fail(h *Hold, reason string, now time.Time) {
	h.Failed, h.Phase = reason, Recovering
	j.seen(h.App).Refused = now
}

// Refuse records that a signal to an app failed permanently before any write. Rules ignore the
// app for a while.
func (j *Journal) Refuse(app string, now time.Time) { j.seen(app).Refused = now }

// CloseHold removes a hold that was undone, and records its result. The app counts as recovered
// from now on unless another signal holds it. Conflicts are kept.
func (j *Journal) CloseHold(h *Hold, now time.Time, records ...Record) {
	j.Holds = slices.DeleteFunc(j.Holds, func(o *Hold) bool { return o == nil || o.ID == h.ID })
	if !j.Holding(h.App) {
		j.seen(h.App).Recovered = now
	}
	j.leave(h)
	j.ownStaying(h)
	j.AppendHistory(records...)
}

// AppendHistory appends records to the history, and drops the oldest ones.
func (j *Journal) AppendHistory(records ...Record) {
	for _, r := range records {
		r.Why, r.Result = journal.Truncate(r.Why, maxText), journal.Truncate(r.Result, maxText)
		j.History = append(j.History, r)
	}
	if n := len(j.History) - MaxHistory; n > 0 {
		j.History = slices.Delete(j.History, 0, n)
	}
}

// Trim drops the oldest records until the JSON of the journal has at most so many bytes, then
// the oldest conflicts. It never drops holds and observations: it returns false if they alone
// are too long.
func (j *Journal) Trim(most int) bool {
	size, err := json.Marshal(j)
	if err != nil {
		return false
	}
	excess, drop := len(size)-most, 0
	for ; excess > 0 && drop < len(j.History); drop++ {
		r, err := json.Marshal(j.History[drop])
		if err != nil {
			return false
		}
		excess -= len(r) + 1
	}
	j.History = slices.Delete(j.History, 0, drop)
	drop = 0
	for ; excess > 0 && drop < len(j.Conflicts); drop++ {
		h, err := json.Marshal(j.Conflicts[drop])
		if err != nil {
			return false
		}
		excess -= len(h) + 1
	}
	j.Conflicts = slices.Delete(j.Conflicts, 0, drop)
	return excess <= 0
}

func (j *Journal) seen(app string) *AppRecord {
	if j.AppRecords == nil {
		j.AppRecords = map[string]*AppRecord{}
	}
	if j.AppRecords[app] == nil {
		j.AppRecords[app] = &AppRecord{}
	}
	return j.AppRecords[app]
}

// ofRule reports a cause that ends by itself; manual causes and those of runs do not.
func (c Cause) ofRule() bool { return c.RequestedBy == "" && c.Run == "" }

func (c Cause) byHand() bool { return !c.ofRule() }

// expired reports a cause of a run that lasts longer than the run said.
func (c Cause) expired(now time.Time) bool { return !c.Until.IsZero() && !now.Before(c.Until) }

// same compares causes without their time and text.
func (c Cause) same(d Cause) bool {
	return c.Rule == d.Rule && c.App == d.App && c.RequestedBy == d.RequestedBy && c.Run == d.Run
}

// recent returns the times within the hour before now, in order; later times count as now.
func recent(times []time.Time, now time.Time) []time.Time {
	var out []time.Time
	for _, t := range times {
		t = t.Round(0).UTC()
		if t.After(now) {
			t = now
		}
		if now.Sub(t) < time.Hour {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return out
}
