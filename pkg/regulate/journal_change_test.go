package regulate_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

func TestJournalChanges(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	rule, hand := regulate.Cause{Rule: "r", App: "db"}, regulate.Cause{RequestedBy: "bob"}
	j := &regulate.Journal{AppRecords: map[string]*regulate.AppRecord{"web": {Stopped: []time.Time{now.Add(-2 * time.Hour), now.Add(-time.Minute)}}}}
	h := j.Open(regulate.Step{App: "web", Signal: "Stop", Causes: []regulate.Cause{rule}}, nil, now)
	if h.ID != 1 || h.Phase != regulate.Stopping || !j.Holding("web") {
		t.Errorf("opened %+v", h)
	}
	if got := j.AppRecords["web"].Stopped; len(got) != 2 || !got[1].Equal(now) {
		t.Errorf("stopped at %v: want a minute ago and now", got)
	}
	if byHand := j.Open(regulate.Step{App: "db", Signal: "Stop", Causes: []regulate.Cause{hand}}, nil, now); byHand.ID != 2 || j.AppRecords["db"] != nil {
		t.Errorf("a hand counts as a rule: %+v", j.AppRecords["db"])
	}
	j.MarkHeld(h)
	same := rule
	same.Why, same.At = "again", now
	if !j.AddCauses(regulate.Step{Hold: 1, Causes: []regulate.Cause{same, hand}}) || len(h.Causes) != 2 {
		t.Errorf("joined: %+v", h.Causes)
	}
	if !j.RemoveCauses(regulate.Step{Hold: 1, Causes: []regulate.Cause{same}}) || !reflect.DeepEqual(h.Causes, []regulate.Cause{hand}) {
		t.Errorf("left: %+v", h.Causes)
	}
	if j.AddCauses(regulate.Step{Hold: 9}) || j.RemoveCauses(regulate.Step{Hold: 9}) {
		t.Error("a hold that is not there was joined or left")
	}
	second := j.Open(regulate.Step{App: "web", Signal: "drain", Causes: []regulate.Cause{hand}}, nil, now)
	j.MarkRecovering(h)
	j.CloseHold(h, now, regulate.Record{App: "web", Result: "done"})
	if !j.AppRecords["web"].Recovered.IsZero() || len(j.History) != 1 {
		t.Errorf("web is let go though it is held by drain: %+v", j.AppRecords["web"])
	}
	j.Fail(second, "forbidden", now)
	if second.Phase != regulate.Recovering || second.Failed == "" || !j.AppRecords["web"].Refused.Equal(now) {
		t.Errorf("failed: %+v", second)
	}
	j.CloseHold(second, now)
	if !j.AppRecords["web"].Recovered.Equal(now) || j.Holding("web") {
		t.Errorf("web is not let go: %+v", j.AppRecords["web"])
	}
	// A number is not used twice, though somebody lost count.
	j.Next = 0
	if again := j.Open(regulate.Step{App: "web", Signal: "Stop"}, nil, now); again.ID != 3 {
		t.Errorf("hold %d: want 3", again.ID)
	}
}

func TestJournalHistory(t *testing.T) {
	j := &regulate.Journal{}
	for i := range regulate.MaxHistory + 50 {
		j.AppendHistory(regulate.Record{App: fmt.Sprint(i), Result: strings.Repeat("é", 10000)})
	}
	if n := len(j.History); n != regulate.MaxHistory || j.History[n-1].App != fmt.Sprint(regulate.MaxHistory+49) {
		t.Errorf("%d records, the last of %s", n, j.History[n-1].App)
	}
	if r := j.History[0].Result; len(r) > 1010 || strings.ToValidUTF8(r, "") != r {
		t.Errorf("a result of %d bytes, ends in %q", len(r), r[len(r)-6:])
	}
	last := j.History[len(j.History)-1]
	if !j.Trim(50_000) {
		t.Error("it cannot be trimmed")
	}
	if data, err := json.Marshal(j); err != nil || len(data) > 50_000 || len(data) < 48_000 || !reflect.DeepEqual(j.History[len(j.History)-1], last) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	n := len(j.History)
	if !j.Trim(50_000) || len(j.History) != n {
		t.Error("what is short enough was trimmed")
	}
	j.Open(regulate.Step{App: strings.Repeat("x", 2000)}, nil, time.Time{})
	if j.Trim(1000) || len(j.Holds) != 1 || len(j.History) != 0 {
		t.Error("a hold was forgotten, or it was said that all is well")
	}
}

func TestJournalClone(t *testing.T) {
	text := `{"system":"shop","namespace":"shop","next":2,"holds":[{"id":1,"app":"web","signal":"Stop","causes":[{"rule":"r","app":"db","why":"","at":"2026-05-01T12:00:00Z"}],"phase":"Held","at":"2026-05-01T12:00:00Z","operations":[{"index":0,"action":"scale","text":"","target":{"apiVersion":"v1","kind":"X","resource":"x","name":"x"},"changes":[{"path":"/a","had":true,"was":1,"has":true,"now":2}],"owners":[{"path":"/a","manager":"m","operation":"Update","apiVersion":"v1"}],"state":"Done"}]}],"apps":{"web":{"trouble":{"r":"2026-05-01T12:00:00Z"},"well":{"r":"2026-05-01T12:00:00Z"},"settled":{"x":"1"},"stopped":["2026-05-01T12:00:00Z"],"excused":["r/db"]}},"history":[{"at":"2026-05-01T12:00:00Z","app":"web","signal":"Stop","why":"","result":""}]}`
	read := func() *regulate.Journal {
		j := &regulate.Journal{}
		if err := json.Unmarshal([]byte(text), j); err != nil {
			t.Fatal(err)
		}
		return j
	}
	j, c := read(), read().Clone()
	if !reflect.DeepEqual(j, c) {
		t.Fatalf("a clone is another one: %+v", c)
	}
	c = j.Clone()
	h := c.Holds[0]
	h.Causes[0].Rule, h.Operations[0].State, h.Operations[0].Changes[0].Path, h.Operations[0].Owners[0].Path = "x", "x", "x", "x"
	s := c.AppRecords["web"]
	s.FiringSince["r"], s.ClearSince["r"], s.HealthyFingerprint["x"], s.Stopped[0], s.OverriddenCauses[0] = time.Time{}, time.Time{}, "", time.Time{}, ""
	c.History[0].App = "x"
	c.Holds, c.AppRecords["db"] = slices.Insert(c.Holds, 0, nil), nil
	if !reflect.DeepEqual(j, read()) {
		t.Error("the clone shares something")
	}
	if got := (*regulate.Journal)(nil).Clone(); len(got.Holds) != 0 {
		t.Errorf("a clone of nothing: %+v", got)
	}
}
