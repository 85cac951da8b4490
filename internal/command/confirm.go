package command

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
)

// MayAsk says whether there is a person to ask before something is written; what says what
// would be done.
func (e Env) MayAsk(action string) error {
	if e.Ask {
		return nil
	}
	return hint.With(fmt.Errorf("%s: nothing was done: cannot ask for confirmation (standard input or standard error is not a terminal)", action), "use --yes to do it without asking, --dry-run to show it")
}

// Confirm puts a question on standard error. Whatever is not yes is no. An interrupt ends the
// waiting, not the reading.
func (e Env) Confirm(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(e.ErrOut, "%s [y/N] ", Safe(question))
	typed, err := userfile.Await(ctx, func() ([]byte, error) {
		return bufio.NewReader(e.In).ReadBytes('\n')
	})
	if ctx.Err() != nil {
		fmt.Fprintln(e.ErrOut)
		return false, ctx.Err()
	}
	if err != nil && len(typed) == 0 { // It ended before the line did.
		fmt.Fprintln(e.ErrOut)
	}
	if yes := strings.ToLower(strings.TrimSpace(string(typed))); yes == "y" || yes == "yes" {
		return true, nil
	}
	fmt.Fprintln(e.ErrOut, "nothing was done")
	return false, nil
}

// DryRuns are the values of --dry-run.
var DryRuns = []string{"none", "client", "server"}

// OneOf is the value of a flag, which must be one of the valid ones.
func OneOf(flag, value string, valid []string) (string, error) {
	for _, v := range valid {
		if v == value {
			return v, nil
		}
	}
	return "", hint.With(fmt.Errorf("unknown value %q of %s", value, flag), "write one of "+strings.Join(valid, ", "))
}
