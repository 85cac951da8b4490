package source

import (
	"context"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// crdResource is the resource of CustomResourceDefinitions.
var crdResource = object.Resource{Group: crdKind.Group, Version: "v1", Kind: crdKind.Kind, Plural: "customresourcedefinitions"}

// Host returns the address of the cluster in the kubeconfig.
func (c *Cluster) Host() string { return c.opts.Config.Host }

// Definition reads one CustomResourceDefinition whole, with the schema of its kind: hundreds of
// kilobytes, where Definitions reads a few. The error is the server's.
func (c *Cluster) Definition(ctx context.Context, name string) (map[string]any, error) {
	o, err := c.get(ctx, crdResource, object.Ref{Group: crdKind.Group, Kind: crdKind.Kind, Name: name}, Fields)
	if err != nil {
		return nil, err
	}
	return o.Fields(), nil
}
