package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

func newMonitor(env command.Env) *cobra.Command {
	return command.Group("monitor", newMonitorApply(env), newMonitorPlan(env), newMonitorRemove(env), newMonitorStatus(env))
}

// errNoMonitored names the ways to say what is monitored.
var errNoMonitored = hint.With(errors.New("name a ROOT, or a System with -f FILE"), "try: kubectl sysop monitor plan -f demo --from demo")

// checkMonitored checks that roots or a manifest are named.
func checkMonitored(args []string, file string) error {
	switch {
	case len(args) == 0 && file == "":
		return errNoMonitored
	case len(args) > 0 && file != "":
		return errors.New("name ROOTs, or a System with -f, and not both")
	}
	return nil
}
