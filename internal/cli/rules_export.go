package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/rules"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type rulesExportOptions struct {
	*common
	kubeplus bool
	patch    bool
}

func newRulesExport(env Env) *cobra.Command {
	o := &rulesExportOptions{common: newCommon(env)}
	cmd := o.command("export KIND", exactly(1, "a KIND"), o.completeOneKind, o.run)
	o.reading(cmd)
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
		fmt.Fprintf(o.env.ErrOut, "warning: KubePlus's annotations cannot express: %s\n", safe(text))
	}
	for _, key := range found.Unsaid {
		fmt.Fprintf(o.env.ErrOut, "warning: %s cannot express the annotation %s of the CRD: keep that beside it\n", annotations.Relationships, safe(key))
	}
	if len(found.Annotations) == 0 {
		return hint.With(fmt.Errorf("no relationships of %s are known beyond owner references", declare.Spell(found.Kind.GroupKind())), "docs/rules-file.md has the grammar in which to write it")
	}
	o.print(found.Kind, found.Annotations)
	found.Session.PrintTimings(found.Graph)
	return nil
}

// print writes the metadata of the definition.
func (o *rulesExportOptions) print(k object.Resource, all []rules.Annotation) {
	w := o.env.Out
	if o.patch {
		fmt.Fprintf(w, "# kubectl patch crd %s --patch-file FILE\n", safe(k.String()))
	} else {
		fmt.Fprintf(w, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n")
	}
	fmt.Fprintln(w, "metadata:")
	if !o.patch {
		fmt.Fprintf(w, "  name: %s\n", safe(k.String()))
	}
	fmt.Fprintln(w, "  annotations:")
	for _, a := range all {
		if !strings.Contains(a.Value, "\n") {
			fmt.Fprintf(w, "    %s: %q\n", a.Key, a.Value)
			continue
		}
		fmt.Fprintf(w, "    %s: |\n", a.Key)
		for line := range strings.Lines(a.Value) {
			fmt.Fprintf(w, "      %s", safe(strings.TrimSuffix(line, "\n"))+"\n")
		}
	}
}
