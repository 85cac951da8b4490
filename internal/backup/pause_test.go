package backup_test

import (
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
)

// A backup is quiesced only if its pause lasted, and began before the first snapshot.
func TestSettle(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 9, 1, 12, 0, second, 0, time.UTC) }
	for name, c := range map[string]struct {
		pause *backup.Pause
		want  backup.Consistency
	}{
		"lasted":  {&backup.Pause{Began: at(1), Ended: at(9)}, backup.Quiesced},
		"unknown": {nil, backup.Application},
		"broken":  {&backup.Pause{Began: at(1), Ended: at(9), Broken: "web was recovered"}, backup.Application},
		"late":    {&backup.Pause{Began: at(4), Ended: at(9)}, backup.Application},
	} {
		p := &backup.Plan{Consistency: backup.Quiesced, Pause: c.pause, Parts: []backup.Part{{Taken: at(5)}, {Taken: at(3)}, {}}}
		p.Settle()
		if p.Consistency != c.want || len(p.Notes) == 0 == (c.want == backup.Application) || p.Spread != "2s" {
			t.Errorf("%s: it is %s, notes %q, spread %s", name, p.Consistency, p.Notes, p.Spread)
		}
	}
}
