package regulatecmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

// naming adds the flags of which System is named, and of how it is read.
func (o *regulateOptions) naming(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.file, "filename", "f", "", `the manifest of the System: FILE, "-" or "demo", instead of the NAME of an adopted one`)
	f.StringVar(&o.systemName, "system", "", "NAME of an adopted System, like the argument SYSTEM")
	command.Complete(cmd, "system", func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return o.CompleteSystem(cmd, nil, typed)
	})
	o.AddInferredFlag(cmd)
	o.AddConnectionFlags(cmd)
	f.StringArrayVar(&o.RulesFiles, "rules", nil, "your own relationship rules, from a YAML FILE; may be repeated")
	f.BoolVar(&o.ShowTimings, "timings", false, "print to stderr the time of each stage and the amount read")
}

// ofSystem is a command about the System that is named.
func (o *regulateOptions) ofSystem(use string, run func(ctx context.Context, name string) error) *cobra.Command {
	return o.NewCommand(use, cobra.MaximumNArgs(1), o.completeSystems, func(ctx context.Context, args []string) error {
		name, err := o.systemOf(args)
		if err != nil {
			return err
		}
		return run(ctx, name)
	})
}

// appFlag adds the flag of which app is named, of commands that take one.
func (o *regulateOptions) appFlag(cmd *cobra.Command, subject string) {
	cmd.Flags().StringVar(&o.app, "app", "", subject+", like the argument APP")
	command.Complete(cmd, "app", func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return completion.Beginning(o.appNames(cmd.Context(), o.systemOr(command.FirstArg(args))), typed), command.NoFiles
	})
}

// isNamed says that a flag says which System is named, so that no argument does.
func (o *regulateOptions) isNamed() bool { return o.systemName != "" || o.file != "" }

// systemOr is the System of --system, or else of the argument.
func (o *regulateOptions) systemOr(arg string) string {
	switch {
	case o.systemName != "":
		return o.systemName
	case o.file != "":
		return ""
	}
	return arg
}

// systemOf is the name of the System that is named, by the only argument or by --system.
func (o *regulateOptions) systemOf(args []string) (string, error) {
	switch {
	case o.systemName == "":
		return command.FirstArg(args), nil
	case len(args) > 0:
		return "", fmt.Errorf("%q and --system %s: the System is named twice", args[0], o.systemName)
	}
	return o.systemName, nil
}

// split tells the System from the apps among the arguments: the System is first, unless a flag
// says it; what follows are apps. No more than most apps are taken, --app counts as one.
func (o *regulateOptions) split(args []string, most int) (system string, apps []string, err error) {
	system, apps = o.systemName, args
	if !o.isNamed() && len(args) > 0 {
		system, apps = args[0], args[1:]
	}
	if o.app != "" {
		apps = append([]string{o.app}, apps...)
	}
	if most > 0 && len(apps) > most {
		return "", nil, hint.With(fmt.Errorf("%q: too many apps", apps[most]), "the System is first, unless -f or --system names it, then the app, unless --app does")
	}
	return system, slices.Clone(apps), nil
}

// splitOne is split for a command that wants one app. A single argument is the app where
// nothing else says it: the System is the one of the namespace then.
func (o *regulateOptions) splitOne(args []string) (system, app string, err error) {
	if len(args) == 1 && !o.isNamed() && o.app == "" {
		return "", args[0], nil
	}
	system, apps, err := o.split(args, 1)
	switch {
	case err != nil:
		return "", "", err
	case len(apps) == 0:
		return "", "", hint.With(fmt.Errorf("which app? name it after the System, or with --app"), "kubectl sysop regulate status lists the apps")
	}
	return system, apps[0], nil
}

// completeAppArgs completes a System and then most apps of it, 0 for any number.
func (o *regulateOptions) completeAppArgs(most int) command.Completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if !o.isNamed() && len(args) == 0 {
			names, how := o.CompleteSystem(cmd, args, typed)
			return append(names, completion.Beginning(o.appNames(cmd.Context(), ""), typed)...), how
		}
		system, apps, err := o.split(args, 0)
		if err != nil || most > 0 && len(apps) >= most {
			return nil, command.NoFiles
		}
		remaining := slices.DeleteFunc(o.appNames(cmd.Context(), system), func(app string) bool { return slices.Contains(apps, app) })
		return completion.Beginning(remaining, typed), command.NoFiles
	}
}
