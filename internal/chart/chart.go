// Package chart loads a Helm chart, or manifests, renders it and splits the result into the objects
// to install, within limits and without a cluster.
package chart

import (
	"maps"
	"slices"
	"time"

	helm "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Chart is a chart that was read, or made of manifests.
type Chart struct {
	// Helm is what the engine installs. Rendering does not change it. Helm's own actions change
	// their argument, so pass them a Copy.
	Helm *helm.Chart
	// Origin is where it was read, Digest its identity, for people and for the journal. Digest is
	// sha256:HEX of the archive that Save returns.
	Origin, Digest string
	// Definitions are the definitions that are not part of Helm, and so never in the record of a
	// release. FromManifests puts them here; those of other charts stay in crds/.
	Definitions []*unstructured.Unstructured

	archive []byte
}

// Options configure the rendering of a chart.
type Options struct {
	Release, Namespace string
	Values             map[string]any
	// Kubernetes is the version of the cluster, APIs the served APIs ("cert-manager.io/v1",
	// "cert-manager.io/v1/Certificate"), including those of definitions that are installed before.
	// If empty, they are those that Helm was built for.
	Kubernetes string
	APIs       []string
	// Upgrade is set if a release of the name exists; Revision is the next one.
	Upgrade  bool
	Revision int
	// Labels and Annotations are added to every rendered object (not to its pod template).
	Labels, Annotations map[string]string
	// Namespaced returns the scope of a kind, if known. It takes precedence over the definitions of
	// the chart, and those over the built-in kinds. It may be nil.
	Namespaced func(schema.GroupKind) (namespaced, known bool)
	// ImageRegistry replaces the registry host in the images of pod templates: mirror.example.com,
	// or mirror.example.com/hub. Empty changes nothing.
	ImageRegistry string
	// Set are values that are written into objects after rendering: connections.
	Set map[object.Ref][]FieldValue
	// Bounds limit the rendering; 0 means the value of DefaultBounds.
	Bounds Bounds
}

// FieldValue is a value for a field: spec.template.spec.containers[0].image. Absent maps on the
// path are created; lists must exist.
type FieldValue struct {
	Field string
	Value any
}

// Bounds limit the rendering of a chart.
type Bounds struct {
	Time time.Duration
	// Output limits what all templates write, in bytes; Objects the number of objects.
	Output  int64
	Objects int
	// Memory limits the growth of the process's memory during rendering, in bytes.
	Memory int64
}

// DefaultBounds exceed every reasonable chart.
var DefaultBounds = Bounds{Time: 30 * time.Second, Output: 64 << 20, Objects: 5000, Memory: 1 << 30}

// Rendered is a rendered chart, split by purpose.
type Rendered struct {
	// Definitions are the CustomResourceDefinitions, of crds/ and of templates, in the order in
	// which they were found; Namespaces are Namespace objects. Neither is part of the release:
	// deleting it would delete data with them.
	Definitions, Namespaces []*unstructured.Unstructured
	// Objects are the other objects of the release, in the order of installation, each with its
	// namespace.
	Objects []*unstructured.Unstructured
	Hooks   []Hook
	// Tests are hooks that Helm runs only on "helm test".
	Tests []Hook
	Notes string
	// Images are those of pod templates, sorted, without those of tests.
	Images []string
	// Warnings say what Render ignores in the chart.
	Warnings []string
	// Emitted are the objects that templates emitted, including definitions and namespaces, sorted.
	// A run must emit the same.
	Emitted []Object
	// Record is the size of Helm's record of the release, in bytes.
	Record int
}

// Object is an object that a template emitted.
type Object struct {
	Ref object.Ref
	// Hook is set for a hook.
	Hook bool
}

// Hook is an object that Helm creates at a point of a release's life, outside of the release.
type Hook struct {
	Object *unstructured.Unstructured
	Events []string // pre-install, post-upgrade, ...
	// Weight orders the hooks of an event, smallest first.
	Weight int
	// Deletes are its hook-delete-policies.
	Deletes []string
}

// Name returns the chart's name.
func (c *Chart) Name() string { return c.Helm.Name() }

// Version returns the chart's version, as its author wrote it.
func (c *Chart) Version() string { return c.Helm.Metadata.Version }

// Save returns the chart as an archive (.tgz): the bytes that were read, or for a chart of
// manifests the same bytes for the same content.
func (c *Chart) Save() []byte { return slices.Clone(c.archive) }

// Copy returns a copy for Helm's actions, which remove disabled subcharts from their argument.
func (c *Chart) Copy() *helm.Chart { return copyChart(c.Helm) }

func copyChart(c *helm.Chart) *helm.Chart {
	n := *c
	metadata := *c.Metadata
	metadata.Dependencies = nil
	for _, d := range c.Metadata.Dependencies {
		dep := *d
		dep.Tags = slices.Clone(d.Tags)
		if d.ImportValues != nil {
			dep.ImportValues = copyValue(d.ImportValues).([]any)
		}
		metadata.Dependencies = append(metadata.Dependencies, &dep)
	}
	metadata.Annotations = maps.Clone(c.Metadata.Annotations)
	n.Metadata = &metadata
	if c.Values != nil {
		n.Values = copyValue(c.Values).(map[string]any)
	}
	n.Templates, n.Files, n.Raw = slices.Clone(c.Templates), slices.Clone(c.Files), slices.Clone(c.Raw)
	n.SetDependencies()
	for _, d := range c.Dependencies() {
		n.AddDependency(copyChart(d))
	}
	return &n
}

func copyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = copyValue(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = copyValue(e)
		}
		return l
	}
	return v
}
