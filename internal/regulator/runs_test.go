package regulator

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// The runs of both journals are one list, newest first, of a limited length.
func TestRuns(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 5, 1, 10, minute, 0, 0, time.UTC) }
	regulation := &regulate.Journal{History: []regulate.Record{
		{At: at(2), App: "web", Signal: "Stop", Why: "db is Degraded", Result: "held: 1 Done"},
		{At: at(4), App: "web", Signal: "Recover", Result: "failed", Error: true},
	}}
	installation := &install.Journal{
		Runs: []install.RunRecord{
			{Action: install.Install, By: "alice", Started: at(1), Ended: at(3), Result: install.ResultDone},
			{Action: install.Upgrade, By: "bob", Started: at(3), Ended: at(5), Result: install.ResultPartlyUndone, Why: "too slow"},
		},
		Run: &install.Run{Action: install.Uninstall, By: "carol", Started: at(6)},
	}
	var got []string
	for _, r := range Runs(installation, regulation) {
		got = append(got, fmt.Sprint(r.Started.Minute(), " ", r.Action, r.App, " by ", r.By, ": ", r.Result, r.Reason, " ", r.Failed, " ", r.Ended != nil))
	}
	want := []string{
		"6 uninstall by carol: unfinished false false", "4 Recoverweb by : failed true true", "3 upgrade by bob: partly undonetoo slow true true",
		"2 Stopweb by db is Degraded: held: 1 Done false true", "1 install by alice: done false true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for range maxRuns {
		regulation.History = append(regulation.History, regulate.Record{At: at(0)})
	}
	if all := Runs(installation, regulation); len(all) != maxRuns || all[0].Action != "uninstall" {
		t.Errorf("%d runs, the first %+v", len(all), all[0])
	}
	if none := Runs(nil, &regulate.Journal{}); none == nil || len(none) > 0 {
		t.Errorf("got %v, want an empty list", none)
	}
}
