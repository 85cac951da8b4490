package chart

import (
	"fmt"
	"slices"

	"helm.sh/helm/v4/pkg/chart/common"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Capabilities returns what templates can read about the cluster, for a run
// (action.Configuration.Capabilities) as for a plan: the version and the APIs of the options, and
// the APIs that the definitions in crds/ of the chart will serve.
func Capabilities(c *Chart, opts Options) (*common.Capabilities, error) {
	processed := c.Copy()
	if err := chartutil.ProcessDependencies(processed, copyValues(opts.Values)); err != nil {
		return nil, fmt.Errorf("select the subcharts of %s: %w", c.Name(), err)
	}
	crds, err := definitions(c, processed)
	if err != nil {
		return nil, err
	}
	return capabilities(crds, opts)
}

func capabilities(crds []document, opts Options) (*common.Capabilities, error) {
	caps := common.DefaultCapabilities.Copy()
	if opts.Kubernetes != "" {
		v, err := common.ParseKubeVersion(opts.Kubernetes)
		if err != nil {
			return nil, fmt.Errorf("read the version of Kubernetes %q: %w", opts.Kubernetes, err)
		}
		caps.KubeVersion = *v
	}
	if len(opts.APIs) > 0 {
		caps.APIVersions = opts.APIs
	}
	served := slices.Clone(caps.APIVersions)
	for _, d := range crds {
		for _, api := range ServedBy(d.object) {
			if !slices.Contains(served, api) {
				served = append(served, api)
			}
		}
	}
	caps.APIVersions = served
	return caps, nil
}

// ServedBy returns the APIs of a definition: "cert-manager.io/v1" and
// "cert-manager.io/v1/Certificate" for each served version.
func ServedBy(definition *unstructured.Unstructured) []string {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	var apis []string
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if served, _ := version["served"].(bool); !served || group == "" || kind == "" || name == "" {
			continue
		}
		apis = append(apis, group+"/"+name, group+"/"+name+"/"+kind)
	}
	return apis
}

func copyValues(values map[string]any) map[string]any {
	if values == nil {
		return map[string]any{}
	}
	return copyValue(values).(map[string]any)
}
