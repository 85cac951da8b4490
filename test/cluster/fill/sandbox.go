package fill

import (
	"context"
	"io"
	"path/filepath"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
)

// Sandbox fills a cluster as make sandbox does; root is the checkout.
func Sandbox(ctx context.Context, root, kubeconfig, dir string, talk io.Writer) error {
	objects, err := apply.ReadFiles(SandboxFiles(root)...)
	if err != nil {
		return err
	}
	return Cluster(ctx, kubeconfig, dir, objects, talk)
}

// SandboxFiles are the manifests of make sandbox.
func SandboxFiles(root string) []string {
	return []string{
		filepath.Join(root, "examples/demo"),
		filepath.Join(root, "examples/operators.yaml"),
		filepath.Join(root, "examples/system/objects.yaml"),
	}
}
