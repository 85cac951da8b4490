package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
)

// The default of --tail holds where nothing else says which lines are wanted.
func TestTailOfLogs(t *testing.T) {
	for args, want := range map[string]string{
		"pod/a": "10", "pod/a -f": "10", "pod/a --previous": "10", "pod/a --exclude x": "10", "pod/a --tail 3 --grep x": "3", "pod/a --tail 10 --since 1h": "10", "pod/a --tail 0": "0",
		"pod/a --tail -1": "all", "pod/a --since 1h": "all", "pod/a --since-time 2026-11-15T09:30:00Z": "all", "pod/a --grep x": "all",
	} {
		o := &logsOptions{Common: command.NewCommon(command.Env{Now: time.Now}, "text", "json")}
		cmd := newLogs(command.Env{Now: time.Now})
		cmd.ResetFlags()
		o.flags(cmd)
		if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		o.Roots, o.tailGiven = cmd.Flags().Args(), func() bool { return cmd.Flags().Changed("tail") }
		q, err := o.request()
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		got := "all"
		if q.Options.Tail != nil {
			got = fmt.Sprint(*q.Options.Tail)
		}
		if got != want {
			t.Errorf("%s: %s lines, want %s", args, got, want)
		}
	}
}
