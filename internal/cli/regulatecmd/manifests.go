package regulatecmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
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
	f.StringVar(&o.image, "image", "", "the image with the binary kubectl-sysop as its entry point")
	f.Int32Var(&o.replicas, "replicas", 1, "number of replicas; one acts, the others stand by")
	command.Must(cmd.MarkFlagRequired("image"))
	command.Offer(cmd, "output", o.Formats...)
	return cmd
}

func (o *regulateManifestsOptions) run(ctx context.Context, name string) error {
	switch {
	case o.image == "" || strings.ContainsAny(o.image, " \t\n"):
		return fmt.Errorf("--image %q: expected the name of an image", o.image)
	case o.replicas < 1:
		return fmt.Errorf("--replicas %d: expected at least 1", o.replicas)
	}
	list, err := regulator.Manifests(ctx, &o.Input, o.request(name), o.image, o.replicas)
	if err != nil {
		return err
	}
	manifests := make([]render.Manifest, len(list))
	for i, m := range list {
		manifests[i] = render.Manifest{Object: m.Object.Object, Comment: m.Comment}
	}
	return render.Manifests(o.Env.Out, o.Output, manifests)
}
