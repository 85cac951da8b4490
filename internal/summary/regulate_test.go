package summary

import (
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// A watch says at once what it watches, and a standby for whom it stands by.
func TestWatched(t *testing.T) {
	s := &system.System{Name: "shop", Apps: []system.App{{Name: "db"}, {Name: "web"}}, Regulation: system.Regulation{Rules: []system.Rule{{Name: "trouble"}}}}
	if got, want := Watched(s, "prod"), "watching the System shop in prod: 2 apps (db, web), 1 rule; Ctrl-C ends it"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Regulation.Rules = nil
	if got, want := Watched(s, "prod"), "watching the System shop in prod: 2 apps (db, web), no rules: it holds no app; Ctrl-C ends it"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Standby("ann@host (pid 1)", time.Time{}), "standing by: ann@host (pid 1) watches, and this one takes over when that ends"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
