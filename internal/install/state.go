package install

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// State is what is there, as far as a plan asks for it.
type State struct {
	// Kubernetes is the version of the cluster, as it says it: v1.33.2.
	Kubernetes string
	// Kinds are what it serves.
	Kinds *object.Kinds
	// Namespaces are those that are there, with their phase: Active, Terminating. Of others
	// that the plan asks for, it is known that they are missing, unless there is a gap.
	Namespaces map[string]string
	// Releases are Helm's, sorted by namespace and name.
	Releases []LiveRelease
	// Definitions are those that parts bring, that packages of ours brought, and those of
	// the kinds of connections, by name, whole.
	Definitions map[string]*unstructured.Unstructured
	// Objects are those that parts want to make and that are there, and where connections
	// come from, whole.
	Objects map[object.Ref]*unstructured.Unstructured
	// Custom are the custom resources of definitions, by the name of the definition. It has
	// an entry for each definition that was asked for.
	Custom map[string]CustomResources
	// Sets are the StatefulSets of releases that make claims, as they are now.
	Sets map[object.Ref]*unstructured.Unstructured
	// Claims are the metadata of the claims of namespaces in which a StatefulSet has claims
	// deleted (persistentVolumeClaimRetentionPolicy). It has an entry for each that was asked for.
	Claims map[string][]*unstructured.Unstructured
	// Gaps are what could not be read. No plan is made over them.
	Gaps []object.Gap
}

// CustomResources are those of one definition.
type CustomResources struct {
	// Objects are whole where they must fit a new schema, and else metadata, in the order
	// of references.
	Objects []*unstructured.Unstructured
	// Whole says that they are whole.
	Whole bool
}

// LiveRelease is a release of Helm that is there.
type LiveRelease struct {
	Name, Namespace string
	// Revision is the latest one, Status what it is in (deployed, failed, pending-upgrade),
	// Deployed the revision that is deployed; 0 for none.
	Revision int
	Status   string
	Deployed int
	// Labels are ours on the record of the latest revision.
	Labels map[string]string
	// Revisions are those of which there is a record, ascending.
	Revisions []int
	// Records are the contents of those that the plan looks into: the deployed one, or the
	// latest where none is deployed, and those that are to be rolled back to.
	Records map[int]*LiveRecord
}

// LiveRecord is what Helm keeps of a revision.
type LiveRecord struct {
	Chart, Version string // name and version of the chart
	Values         map[string]any
	// Objects are those of the manifest, Hooks of the hooks; without a namespace where the
	// manifest gives none.
	Objects, Hooks []*unstructured.Unstructured
}

// Current is the record of what is deployed, or else of the latest revision; nil where it was not read.
func (r *LiveRelease) Current() *LiveRecord {
	if r.Deployed > 0 {
		return r.Records[r.Deployed]
	}
	return r.Records[r.Revision]
}

// release returns the release of a name; nil for none.
func (s *State) release(namespace, name string) *LiveRelease {
	for i := range s.Releases {
		if r := &s.Releases[i]; r.Namespace == namespace && r.Name == name {
			return r
		}
	}
	return nil
}

// definitionsOf are the names of the definitions that a package of ours brought, sorted.
func (s *State) definitionsOf(name string) []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(s.Definitions)) {
		if s.Definitions[n].GetLabels()[PackageLabel] == name {
			out = append(out, n)
		}
	}
	return out
}

// Reader is what Gather reads a cluster through. Errors are those of the API server, as
// apierrors knows them.
type Reader interface {
	// Version is the version of Kubernetes: v1.33.2.
	Version(ctx context.Context) (string, error)
	// Get reads an object whole, in the version of the resource.
	Get(ctx context.Context, r object.Resource, namespace, name string) (*unstructured.Unstructured, error)
	// List reads objects whole, those of all namespaces where that is empty.
	List(ctx context.Context, r object.Resource, namespace, selector string) ([]*unstructured.Unstructured, error)
	// ListMetadata reads their metadata alone; each has the kind of the resource.
	ListMetadata(ctx context.Context, r object.Resource, namespace, selector string) ([]*unstructured.Unstructured, error)
}

// StateRequest is what a State is to be gathered for.
type StateRequest struct {
	Installation Installation
	Action       Action
	Parts        []*Part
	// Kinds are what the cluster serves.
	Kinds *object.Kinds
	// Before are the releases of the installation when its last run ended (Journal).
	Before []ReleaseState
	// To is what is to be rolled back to.
	To []ReleaseState
}

var (
	namespaceKind  = schema.GroupKind{Kind: "Namespace"}
	secretKind     = schema.GroupKind{Kind: "Secret"}
	definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
)

// kindOf is the kind that a definition makes.
func kindOf(definition *unstructured.Unstructured) schema.GroupKind {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

// kindText is a kind as the catalogue writes it: Certificate.cert-manager.io.
func kindText(gk schema.GroupKind) string { return strings.TrimSuffix(gk.Kind+"."+gk.Group, ".") }

// resourceOf is what a definition serves, in the version that it stores; false where it is
// no definition that could be served.
func resourceOf(definition *unstructured.Unstructured) (object.Resource, bool) {
	gk := kindOf(definition)
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	scope, _, _ := unstructured.NestedString(definition.Object, "spec", "scope")
	r := object.Resource{Group: gk.Group, Kind: gk.Kind, Plural: plural, Namespaced: scope == "Namespaced", Listable: true, Custom: true}
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		m, _ := v.(map[string]any)
		name, _ := m["name"].(string)
		served, _ := m["served"].(bool)
		if storage, _ := m["storage"].(bool); served && (storage || r.Version == "") {
			r.Version = name
		}
	}
	return r, r.Group != "" && r.Kind != "" && r.Plural != "" && r.Version != ""
}
