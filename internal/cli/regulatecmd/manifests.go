package regulatecmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/incluster"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
)

type regulateManifestsOptions struct {
	*regulateOptions
	image    string
	replicas int32
}

func newRegulateManifests(env command.Env) *cobra.Command {
	o := &regulateManifestsOptions{regulateOptions: newRegulating(env, "yaml", "json")}
	cmd := o.ofSystem("manifests [SYSTEM]", o.run)
	o.naming(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.Output, "output", "o", o.Formats[0], "output format: "+strings.Join(o.Formats, ", "))
	command.AddImageFlag(cmd, &o.image)
	f.Int32Var(&o.replicas, "replicas", 1, "number of replicas; one acts, the others stand by")
	command.Offer(cmd, "output", o.Formats...)
	return cmd
}

func (o *regulateManifestsOptions) run(ctx context.Context, name string) error {
	if err := incluster.CheckImage(o.image); err != nil {
		return err
	}
	if o.replicas < 1 {
		return fmt.Errorf("--replicas %d: expected at least 1", o.replicas)
	}
	list, err := regulator.Manifests(ctx, &o.Input, o.request(name), o.image, o.replicas)
	if err != nil {
		return err
	}
	return o.WriteManifests(o.Output, list)
}
