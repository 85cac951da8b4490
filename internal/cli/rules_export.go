package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/rules"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
)

type rulesExportOptions struct {
	*command.Common
	kubeplus bool
	patch    bool
}

func newRulesExport(env command.Env) *cobra.Command {
	o := &rulesExportOptions{Common: command.NewCommon(env)}
	cmd := o.NewCommand("export KIND", command.ExactArgs(1, "a KIND"), o.CompleteOneKind, o.run)
	o.AddReadFlags(cmd)
	cmd.Flags().BoolVar(&o.kubeplus, "kubeplus", false, "write KubePlus's annotations")
	cmd.Flags().BoolVar(&o.patch, "patch", false, "write a patch for kubectl patch crd --patch-file")
	return cmd
}

func (o *rulesExportOptions) run(ctx context.Context, args []string) error {
	found, err := rules.Export(ctx, &o.Input, args[0], o.kubeplus)
	if err != nil {
		return err
	}
	for _, text := range found.Unsupported {
		fmt.Fprintf(o.Env.ErrOut, "warning: KubePlus's annotations cannot express: %s\n", command.Safe(text))
	}
	for _, key := range found.Unsaid {
		fmt.Fprintf(o.Env.ErrOut, "warning: %s cannot express the annotation %s of the CRD: keep that beside it\n", annotations.Relationships, command.Safe(key))
	}
	if len(found.Annotations) == 0 {
		return hint.With(fmt.Errorf("no relationships of %s are known beyond owner references", declare.Spell(found.Kind.GroupKind())), "docs/rules-file.md has the grammar in which to write it")
	}
	fmt.Fprintln(o.Env.Out, safeLines(strings.TrimSuffix(found.Manifest(o.patch), "\n")))
	found.Session.PrintTimings(found.Graph)
	return nil
}
