package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// A watch says at once what it watches, and a standby for whom it stands by.
func TestWatchAnnounces(t *testing.T) {
	var said bytes.Buffer
	env := Env{IOStreams: genericiooptions.IOStreams{ErrOut: &said}, Now: time.Now}
	s := &system.System{Name: "shop", Apps: []system.App{{Name: "db"}, {Name: "web"}}, Regulation: system.Regulation{Rules: []system.Rule{{Name: "trouble"}}}}
	o := &regulateWatchOptions{applyOptions: newActing(env)}
	o.announce(s, "prod")
	s.Regulation.Rules = nil
	o.announce(s, "prod")
	o.standby("ann@host (pid 1)", time.Time{})
	want := `watching the System shop in prod: 2 apps (db, web), 1 rule; Ctrl-C ends it
watching the System shop in prod: 2 apps (db, web), no rules: it holds no app; Ctrl-C ends it
standing by: ann@host (pid 1) watches, and this one takes over when that ends
`
	if said.String() != want {
		t.Errorf("says\n%s want\n%s", said.String(), want)
	}
}

// A cause is said once, however many it holds.
func TestWatchSaysACauseOnce(t *testing.T) {
	w := &watchPrinter{}
	var got []string
	for _, turn := range [][]string{{"db is down", "db is down"}, {"db is down", "web is down"}, {"db is down"}} {
		table := &view.Table{}
		for _, why := range turn {
			table.Rows = append(table.Rows, []view.Cell{{Text: "Stop"}, {Text: why}})
		}
		w.dropRepeatedCause(table)
		for _, row := range table.Rows {
			got = append(got, row[1].Text)
		}
	}
	if text := strings.Join(got, "|"); text != "db is down|||web is down|db is down" {
		t.Errorf("%q", text)
	}
}
