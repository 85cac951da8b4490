package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
)

// installOptions are those of what changes an installation.
type installOptions struct {
	*command.Common
	catalogueOptions
	values   installer.Values
	progress command.ProgressPrinter
	action   install.Action
	args     []string
	// file is the manifest of a System.
	file   string
	yes    bool
	dryRun string

	timeout                                time.Duration
	noWait, keepFailed, noAnnotate, lookup bool
	wait                                   bool
	takeOwnership, printRBAC, force        bool
	deleteDefinitions                      bool
	// confirmed is the name that was given to have data deleted (--delete-data).
	confirmed     string
	imageRegistry string
	resetValues   bool
}

func newInstallOptions(env command.Env, action install.Action) *installOptions {
	return &installOptions{Common: command.NewCommon(env, "table", "json", "yaml", "name"), progress: command.NewProgressPrinter(env), action: action}
}

// writingFlags are of all that writes.
func (o *installOptions) writingFlags(cmd *cobra.Command) {
	o.AddConnectionFlags(cmd)
	o.AddOutputFlags(cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	f.StringVar(&o.dryRun, "dry-run", "none", "none, client (show the plan) or server (dry run on the API server; nothing is stored)")
	f.DurationVar(&o.timeout, "timeout", defaultTimeout, "timeout of each step")
	f.BoolVar(&o.keepFailed, "keep-failed", false, "on failure, keep the state; the same command continues")
	f.BoolVar(&o.noWait, "no-wait", false, "fail if another run holds the lock, instead of waiting")
	f.StringVar(&o.confirmed, "delete-data", "", "delete custom resources, claims and CRDs with all data, as the plan lists: =NAME, or you are asked for the name")
	f.Lookup("delete-data").NoOptDefVal = askName
	o.progress.AddFlag(cmd)
	f.BoolVar(&o.printRBAC, "print-rbac", false, "print the roles that the run needs, as YAML, and do nothing else")
	command.Offer(cmd, "dry-run", command.DryRuns...)
}

// puttingFlags are of what puts something on a cluster.
func (o *installOptions) puttingFlags(cmd *cobra.Command) {
	o.catalogueFlags(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.file, "filename", "f", "", `the manifest of a System: FILE, "-" or "demo"`)
	o.valueFlags(cmd)
	f.BoolVar(&o.takeOwnership, "take-ownership", false, "take over objects of another release, field manager or controller (which may revert it)")
	f.BoolVar(&o.noAnnotate, "no-annotate", false, "do not annotate CRDs with relationships")
	f.BoolVar(&o.wait, "wait", true, "wait until everything is Healthy; without it, only for what others need")
	f.BoolVar(&o.lookup, "lookup", false, "let the templates of charts read the cluster")
	f.BoolVar(&o.force, "force", false, "continue although check --atomic fails, or although a CRD change is risky but breaks no existing object")
	f.BoolVar(&o.resetValues, "reset-values", false, "do not reuse the values of the installed release")
	f.StringVar(&o.imageRegistry, "image-registry", "", "take the images from this registry instead of their own")
}

func (o *installOptions) valueFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.values.Sets, "set", nil, "values, KEY=VALUE, as in helm: of the operator, or of the System's templates")
	f.StringArrayVar(&o.values.Strings, "set-string", nil, "the same, always as a string")
	f.StringArrayVar(&o.values.Files, "values", nil, "values, from a YAML FILE; may be repeated")
}

// check checks what was asked, before anything is read.
func (o *installOptions) check() error {
	if o.From != "" {
		return hint.With(errors.New("--from: a snapshot is read-only"), "leave out --from; --dry-run=client shows the plan")
	}
	if o.AllNamespaces {
		return errors.New("-A: an installation is in one namespace")
	}
	if err := o.progress.Validate(); err != nil {
		return err
	}
	var err error
	if o.dryRun, err = command.OneOf("--dry-run", o.dryRun, command.DryRuns); err != nil {
		return err
	}
	if o.timeout <= 0 {
		return fmt.Errorf("--timeout %s: expected more than 0", o.timeout)
	}
	if !o.yes && o.dryRun == "none" && !o.printRBAC {
		return o.Env.MayAsk(fmt.Sprintf("it would %s on the cluster", o.action))
	}
	return nil
}

// defaultTimeout is how long a step may take, unless told otherwise.
const defaultTimeout = 5 * time.Minute
