package regulate

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// MaxBytes is how long the JSON of a journal may become: an object of a cluster has 1 MiB,
// and managedFields and whatever else is in it want their part.
const MaxBytes = 700 << 10

// maxText bounds one text of a record: messages of clusters have no end.
const maxText = 1000

// Clone returns a copy that shares nothing with j, but the values in changes of operations
// (Was, Now), which nobody changes in place. The clone of nil is an empty journal.
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

// Clone returns a copy that shares nothing with s; that of nil is empty.
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

// Remember makes what a plan saw (Planned.Seen) the memory of the journal. It comes before
// the steps of that plan are told by the other methods, which write into it as well.
func (j *Journal) Remember(seen map[string]*AppRecord) {
	j.AppRecords = make(map[string]*AppRecord, len(seen))
	for app, s := range seen {
		j.AppRecords[app] = s.Clone()
	}
}

// Open adds the hold of a Send: its operations are intended. That it is written before the
// first of them is done is the caller's part. A signal that a rule sends is counted among
// those of the hour.
func (j *Journal) Open(step Step, ops []*Operation, now time.Time) *Hold {
	// Numbers are not used twice, whatever became of Next.
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

// AddCauses adds the causes of a step to its hold, those that are not there yet. It says false
// where there is no such hold.
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

// RemoveCauses takes the causes of a step away from its hold. A hold that is left without any is
// what the next plan lets go. It says false where there is no such hold.
func (j *Journal) RemoveCauses(step Step) bool {
	h, ok := j.Hold(step.Hold)
	if !ok {
		return false
	}
	h.Causes = slices.DeleteFunc(h.Causes, func(c Cause) bool { return slices.ContainsFunc(step.Causes, c.same) })
	return true
}

// MarkHeld says that all operations of a hold are done. What was left of the app, and of the
// same fields, is forgotten.
func (j *Journal) MarkHeld(h *Hold) {
	h.Phase = Held
	j.forget(h)
}

// MarkRecovering says that the operations of a hold are about to be undone. From here on it
// is undone to its end, whatever happens: causes do not join it any more.
func (j *Journal) MarkRecovering(h *Hold) { h.Phase = Recovering }

// Fail says that a hold could not be done for good, so that what was done of it is about to
// be undone. Rules leave the app alone for a while.
func (j *Journal) Fail(h *Hold, reason string, now time.Time) {
	h.Failed, h.Phase = reason, Recovering
	j.seen(h.App).Refused = now
}

// Refuse says that a signal to an app failed for good before anything was done or written
// down. Rules leave the app alone for a while.
func (j *Journal) Refuse(app string, now time.Time) { j.seen(app).Refused = now }

// CloseHold takes away a hold that is undone, and notes what came of it. The app is recovered
// from now on, unless another signal still holds it. What was left as it is is remembered.
func (j *Journal) CloseHold(h *Hold, now time.Time, records ...Record) {
	j.Holds = slices.DeleteFunc(j.Holds, func(o *Hold) bool { return o == nil || o.ID == h.ID })
	if !j.Holding(h.App) {
		j.seen(h.App).Recovered = now
	}
	j.leave(h)
	j.ownStaying(h)
	j.AppendHistory(records...)
}

// AppendHistory appends records to the history, of which the oldest are forgotten.
func (j *Journal) AppendHistory(records ...Record) {
	for _, r := range records {
		r.Why, r.Result = cut(r.Why), cut(r.Result)
		j.History = append(j.History, r)
	}
	if n := len(j.History) - MaxHistory; n > 0 {
		j.History = slices.Delete(j.History, 0, n)
	}
}

// Trim forgets the oldest records until the JSON of the journal has at most so many bytes,
// and where that does not suffice the oldest of what was left. Holds and what was seen are
// never forgotten: it says false where they alone are longer.
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

// ofRule says that it ends by itself; causes of a hand and of a run do not.
func (c Cause) ofRule() bool { return c.RequestedBy == "" && c.Run == "" }

func (c Cause) byHand() bool { return !c.ofRule() }

// same says that two causes are one: when it was and what was said of it do not count.
func (c Cause) same(d Cause) bool {
	return c.Rule == d.Rule && c.App == d.App && c.RequestedBy == d.RequestedBy && c.Run == d.Run
}

// recent returns those within the hour before now, in order; what lies after now is now.
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

func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > 0 && s[n]&0xC0 == 0x80 { // not within a character
		n--
	}
	return s[:n] + "..."
}
