package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/snapshot"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

type snapshotOptions struct {
	*common
	snapshot.Request
	file  string
	force bool
}

func newSnapshot(env Env) *cobra.Command {
	o := &snapshotOptions{common: newCommon(env)}
	cmd := &cobra.Command{
		Use:   "snapshot [ROOT...] -o FILE",
		Short: "Write a stack or a namespace to a file, to inspect later or to share",
		Long: `Write the objects of a stack (ROOT...), of a namespace with what it points to (-n), or
of the cluster (-A) to a file that every command reads with --from.

The current usage of their pods is included: the samples of the metrics API (one list a
namespace), and the pod figures of the kubelets (one call a node; this needs permission
to get nodes/proxy). What is refused is reported, and missing from the file;
--no-metrics skips it.

Left out are the data of Secrets and ConfigMaps, which are never read, managed fields,
last-applied configurations, and the values of environment variables (relationships by a
host name in them are lost, too; --include-env keeps the values that are written in the
objects). Arguments of commands, and the content of custom resources, are written
unchanged: review the file before you send it on.

The file is YAML, JSON if its name ends in .json, and gzipped if it ends in .gz. It is
written completely or not at all, and readable for its owner only.`,
		Example: `  # the stack of a custom resource
  kubectl sysop snapshot moodle/moodle-1 --from demo -o moodle-1.yaml

  # a namespace, with what it points to
  kubectl sysop snapshot -n moodle --from demo -o moodle.yaml.gz

  # read it
  kubectl sysop graph moodle/moodle-1 --from moodle.yaml.gz`,
		ValidArgsFunction: o.completeRoots,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Roots = args
			return o.run(cmd.Context())
		},
	}
	o.reading(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.file, "output", "o", "", `the file to write; "-" is standard output`)
	f.BoolVar(&o.force, "force", false, "replace the file if it exists")
	f.BoolVar(&o.NoMetrics, "no-metrics", false, "leave out the usage of pods")
	f.BoolVar(&o.IncludeEnv, "include-env", false, "keep the values of environment variables that are written in the objects")
	aliasFlag(cmd, "with-env", "include-env")
	return cmd
}

func (o *snapshotOptions) run(ctx context.Context) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.file == "" {
		return hint.With(errors.New("name the file to write with -o"), `-o - writes to standard output`)
	}
	if len(o.Roots) == 0 && !o.AllNamespaces && !app.Given(o.Config.Namespace) {
		return hint.With(errors.New("name what to write: ROOT..., -n NAMESPACE or -A"), "kubectl sysop snapshot --help has examples")
	}
	taken, err := snapshot.Take(ctx, &o.Input, &o.Request)
	if err != nil {
		return err
	}
	if o.file == "-" {
		return source.WriteTo(o.env.Out, false, false, taken.Header, taken.Objects)
	}
	if err := source.Write(o.file, taken.Header, taken.Objects, o.force); err != nil {
		if errors.Is(err, source.ErrExists) {
			return hint.With(fmt.Errorf("write snapshot: %w", err), "--force replaces it")
		}
		return fmt.Errorf("write snapshot: %w", err)
	}
	fmt.Fprintf(o.env.ErrOut, "wrote %d objects to %s\n", len(taken.Objects), o.file)
	taken.Session.PrintTimings(taken.Graph)
	return nil
}
