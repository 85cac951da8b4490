package command

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/incluster"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
)

// AddImageFlag adds the flag of the image that runs this program in a cluster.
func AddImageFlag(cmd *cobra.Command, image *string) {
	cmd.Flags().StringVar(image, "image", "", "the image with the binary kubectl-sysop as its entry point")
	Must(cmd.MarkFlagRequired("image"))
}

// WriteManifests writes manifests to apply, with their comments.
func (c *Common) WriteManifests(format string, list []incluster.Manifest) error {
	manifests := make([]render.Manifest, len(list))
	for i, m := range list {
		manifests[i] = render.Manifest{Object: m.Object.Object, Comment: m.Comment}
	}
	return render.Manifests(c.Env.Out, format, manifests)
}
