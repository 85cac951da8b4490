// Package chart makes of a Helm chart, or of manifests, the objects that are installed:
// loaded, rendered and parted under bounds, without a cluster.
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
	// Helm is what the engine installs. It is not changed by rendering; Helm's own actions
	// change what they are given, so hand them a Copy.
	Helm *helm.Chart
	// Origin is where it came from, Digest what it is, for people and for the journal.
	// Digest is sha256:HEX of the archive that Save returns.
	Origin, Digest string
	// Definitions are those that were set aside: they are no part of Helm, and so never in
	// the record of a release. Charts made by FromManifests have them here; those of other
	// charts stay in crds/.
	Definitions []*unstructured.Unstructured

	archive []byte
}

// Options are what a chart is rendered with.
type Options struct {
	Release, Namespace string
	Values             map[string]any
	// Kubernetes is the version of the cluster, APIs what it serves ("cert-manager.io/v1",
	// "cert-manager.io/v1/Certificate"), with those of definitions that are to be installed
	// before. Empty, they are those that Helm was built for.
	Kubernetes string
	APIs       []string
	// Upgrade says that a release of the name is there, Revision is the one to be made.
	Upgrade  bool
	Revision int
	// Labels and Annotations are added to every object that is rendered (not to pods of theirs).
	Labels, Annotations map[string]string
	// Namespaced says whether objects of a kind are in namespaces, and whether it is known.
	// It is asked before what the definitions of the chart say, and those before what is
	// known of built-in kinds. It may be nil.
	Namespaced func(schema.GroupKind) (namespaced, known bool)
	// ImageRegistry takes the place of the registry host in the images of pod templates:
	// mirror.example.com, or mirror.example.com/hub. Empty changes nothing.
	ImageRegistry string
	// Set are values that are written into objects after rendering: connections.
	Set map[object.Ref][]FieldValue
	// Bounds bound the rendering; where one is 0, that of DefaultBounds is taken.
	Bounds Bounds
}

// FieldValue is a value for a field: spec.template.spec.containers[0].image. Maps that lack
// on the way are made; lists must be there.
type FieldValue struct {
	Field string
	Value any
}

// Bounds are what the rendering of a chart may take.
type Bounds struct {
	Time time.Duration
	// Output is what all templates may write, in bytes; Objects how many objects that may be.
	Output  int64
	Objects int
	// Memory is how much the memory of the process may grow meanwhile, in bytes.
	Memory int64
}

// DefaultBounds are meant to be met by every honest chart.
var DefaultBounds = Bounds{Time: 30 * time.Second, Output: 64 << 20, Objects: 5000, Memory: 1 << 30}

// Rendered is a chart with its values filled in, parted.
type Rendered struct {
	// Definitions are the CustomResourceDefinitions, of crds/ and of templates alike, in the
	// order in which they were found; Namespaces are Namespace objects. Neither is left to
	// the release: deleting it would take data along.
	Definitions, Namespaces []*unstructured.Unstructured
	// Objects is all else of the release, in the order of installation; each has its namespace.
	Objects []*unstructured.Unstructured
	Hooks   []Hook
	// Tests are hooks that Helm runs on "helm test" alone.
	Tests []Hook
	Notes string
	// Images are those that pod templates name, sorted; those of tests are not among them.
	Images []string
	// Warnings say what of the chart is not taken as its author may have meant it.
	Warnings []string
	// Emitted is who came out of the templates, definitions and namespaces included, sorted.
	// A run must bring forth the same.
	Emitted []Object
	// Record is how large Helm's record of the release is going to be, in bytes.
	Record int
}

// Object is an object that came out of a template.
type Object struct {
	Ref object.Ref
	// Hook says that it is one.
	Hook bool
}

// Hook is an object that Helm makes at a point of a release's life, and does not count to it.
type Hook struct {
	Object *unstructured.Unstructured
	Events []string // pre-install, post-upgrade, ...
	// Weight orders the hooks of an event, the smallest first.
	Weight int
	// Deletes are its hook-delete-policies.
	Deletes []string
}

// Name is the chart's.
func (c *Chart) Name() string { return c.Helm.Name() }

// Version is the chart's, as its author wrote it.
func (c *Chart) Version() string { return c.Helm.Metadata.Version }

// Save returns the chart as an archive (.tgz): the bytes that were read, or for one made here
// bytes that are the same whenever the content is.
func (c *Chart) Save() []byte { return slices.Clone(c.archive) }

// Copy returns a copy for Helm's actions, which switch subcharts off in what they are given.
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
