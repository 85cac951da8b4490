// Package chart makes of a Helm chart, or of manifests, the objects that are installed:
// loaded, rendered and parted under bounds, without a cluster.
package chart

import (
	helm "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Chart is a chart that was read, or made of manifests.
type Chart struct {
	// Helm is what the engine installs. It is not changed by rendering.
	Helm *helm.Chart
	// Origin is where it came from, Digest what it is, for people and for the journal.
	Origin, Digest string
}

// Options are what a chart is rendered with.
type Options struct {
	Release, Namespace string
	Values             map[string]any
	// Kubernetes is the version of the cluster, APIs what it serves ("cert-manager.io/v1",
	// "cert-manager.io/v1/Certificate"), with those of definitions that are to be installed before.
	Kubernetes string
	APIs       []string
	// Upgrade says that a release of the name is there, Revision is the one to be made.
	Upgrade  bool
	Revision int
	// Labels and Annotations are added to every object that is rendered (not to pods of theirs).
	Labels, Annotations map[string]string
}

// Rendered is a chart with its values filled in, parted.
type Rendered struct {
	// Definitions are the CustomResourceDefinitions, of crds/ and of templates alike, in the
	// order in which they were found; Namespaces are Namespace objects. Neither is left to
	// the release: deleting it would take data along.
	Definitions, Namespaces []*unstructured.Unstructured
	// Objects is all else of the release, in the order of installation; each has its namespace.
	Objects []*unstructured.Unstructured
	Hooks   []Hook
	Notes   string
	// Images are those that pod templates name, sorted.
	Images []string
}

// Hook is an object that Helm makes at a point of a release's life, and does not count to it.
type Hook struct {
	Object *unstructured.Unstructured
	Events []string // pre-install, post-upgrade, ...
	// Deletes are its hook-delete-policies.
	Deletes []string
}
