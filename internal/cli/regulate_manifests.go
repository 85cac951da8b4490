package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/incluster"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
)

type regulateManifestsOptions struct {
	*regulateOptions
	image    string
	replicas int32
}

func newRegulateManifests(env Env) *cobra.Command {
	o := &regulateManifestsOptions{regulateOptions: newRegulating(env, "yaml", "json")}
	cmd := o.ofSystem("manifests [SYSTEM]", o.run)
	o.naming(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", o.formats[0], "output format: "+strings.Join(o.formats, ", "))
	imageFlag(cmd, &o.image)
	f.Int32Var(&o.replicas, "replicas", 1, "number of replicas; one acts, the others stand by")
	offer(cmd, "output", o.formats...)
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
	return o.writeManifests(o.output, list)
}

// imageFlag adds the flag of the image that runs this program in a cluster.
func imageFlag(cmd *cobra.Command, image *string) {
	cmd.Flags().StringVar(image, "image", "", "the image with the binary kubectl-sysop as its entry point")
	must(cmd.MarkFlagRequired("image"))
}

// writeManifests writes manifests to apply, with their comments.
func (c *common) writeManifests(format string, list []incluster.Manifest) error {
	manifests := make([]render.Manifest, len(list))
	for i, m := range list {
		manifests[i] = render.Manifest{Object: m.Object.Object, Comment: m.Comment}
	}
	return render.Manifests(c.env.Out, format, manifests)
}
