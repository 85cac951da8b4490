package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// askName is the value of --delete-data that names nothing: the name has to be typed.
const askName = "ask"

// named refuses a --delete-data that names something else than what the command is about.
func (o *installOptions) named(name string) error {
	if o.confirmed == "" || o.confirmed == askName || o.confirmed == name {
		return nil
	}
	return fmt.Errorf("--delete-data=%s: that is not the name of what is %s: expected --delete-data=%s", o.confirmed, pastTense(o.action), name)
}

// consent decides whether a plan is executed, for every command that executes one. A plan that
// deletes data (install.Plan.Losses) needs its name typed, or given with --delete-data: --yes does
// not confirm it. Any other plan needs the answer to the question. It also covers other losses,
// which were shown before.
func (o *installOptions) consent(ctx context.Context, installation install.Installation, planned *install.Plan, question string, reported ...object.Ref) (bool, error) {
	losses := slices.DeleteFunc(planned.Losses(), func(ref object.Ref) bool { return slices.Contains(reported, ref) })
	o.tellLosses(installation, losses)
	if o.dryRun != "none" {
		return false, nil
	}
	return o.agreed(ctx, installation, append(losses, reported...), question)
}

// tellLosses lists what is deleted with its data.
func (o *installOptions) tellLosses(installation install.Installation, losses []object.Ref) {
	confirm := ""
	if o.dryRun != "none" && o.confirmed != installation.Name {
		confirm = installation.Name
	}
	o.Say(view.LossLines(losses, confirm)...)
}

// agreed asks whether something is done that deletes data, if there is any.
func (o *installOptions) agreed(ctx context.Context, installation install.Installation, losses []object.Ref, question string) (bool, error) {
	flag := "--delete-data=" + installation.Name
	switch {
	case len(losses) == 0 || o.confirmed == installation.Name:
		if o.yes {
			return true, nil
		}
		return o.Env.Confirm(ctx, question)
	case o.Env.Ask && (o.confirmed == askName || o.deleteDefinitions):
		return o.typed(ctx, installation.Name)
	case o.confirmed == askName:
		return false, hint.With(&hint.Lines{Lines: []string{"data would be deleted, and no terminal to type the name", "nothing was written"}}, flag+" confirms it on the command line")
	}
	return false, hint.With(
		&hint.Lines{Lines: []string{fmt.Sprintf("%s would be deleted with all data, which --yes does not confirm", object.Count(len(losses), "object")), "nothing was written"}},
		flag+" deletes them as well; --dry-run=client shows the plan",
	)
}

// typed has the name typed.
func (o *installOptions) typed(ctx context.Context, name string) (bool, error) {
	fmt.Fprintf(o.Env.ErrOut, "This cannot be undone. Type %s to delete it with its data: ", command.Safe(name))
	text, err := userfile.Await(ctx, func() ([]byte, error) {
		line, err := bufio.NewReader(o.Env.In).ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return line, err
	})
	if err != nil {
		return false, err
	}
	if strings.TrimSpace(string(text)) != name {
		o.Say("nothing was done")
		return false, nil
	}
	return true, nil
}

// pastTense is an action that was done.
func pastTense(a install.Action) string {
	if a == install.Rollback {
		return "rolled back"
	}
	return strings.TrimSuffix(string(a), "e") + "ed"
}
