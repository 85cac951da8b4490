package backups

import (
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

// A run that was killed and an installation that exists keep the time in their names; what was undone
// or uninstalled may have used its own, as may a run of another request, so that the next one has another.
func TestStampOf(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	installed := install.RunRecord{Action: install.Install, Result: install.ResultDone, Stamp: at}
	undone := install.RunRecord{Action: install.Install, Result: install.ResultUndone, Stamp: at.Add(time.Hour)}
	upgraded := install.RunRecord{Action: install.Upgrade, Result: install.ResultDone}
	uninstalled := install.RunRecord{Action: install.Uninstall, Result: install.ResultDone}
	for name, c := range map[string]struct {
		journal install.Journal
		want    time.Time
		done    bool
	}{
		"first":        {install.Journal{}, time.Time{}, true},
		"killed":       {install.Journal{Run: &install.Run{Stamp: at, Unstamped: "this"}}, at, false},
		"of old":       {install.Journal{Run: &install.Run{Stamp: at}}, at, false},
		"another":      {install.Journal{Run: &install.Run{Stamp: at, Unstamped: "other"}, Runs: []install.RunRecord{undone}}, time.Time{}, true},
		"being undone": {install.Journal{Run: &install.Run{Stamp: at, Undoing: true}}, time.Time{}, true},
		"done":         {install.Journal{Runs: []install.RunRecord{installed}}, at, true},
		"upgraded":     {install.Journal{Runs: []install.RunRecord{installed, upgraded, undone}}, at, true},
		"undone":       {install.Journal{Runs: []install.RunRecord{undone}}, time.Time{}, true},
		"uninstalled":  {install.Journal{Runs: []install.RunRecord{installed, uninstalled}}, time.Time{}, true},
	} {
		if got, done := stampOf(&c.journal, "this"); !got.Equal(c.want) || done != c.done {
			t.Errorf("%s: %s, %v", name, got, done)
		}
	}
}
