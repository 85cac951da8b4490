package install

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// State is the live state that a plan needs.
type State struct {
	// Kubernetes is the reported version of the cluster: v1.33.2.
	Kubernetes string
	// Kinds are the served kinds.
	Kinds *object.Kinds
	// Namespaces are the existing ones, with their phase: Active, Terminating. Other namespaces of
	// the plan are known to be missing, unless there is a gap.
	Namespaces map[string]string
	// Releases are Helm's, sorted by namespace and name.
	Releases []LiveRelease
	// Definitions are the complete definitions of parts, of our packages, and of the kinds of
	// connections, by name.
	Definitions map[string]*unstructured.Unstructured
	// Objects are the existing objects that parts want to create, and the sources of connections,
	// complete.
	Objects map[object.Ref]*unstructured.Unstructured
	// Custom are the custom resources of definitions, by the name of the definition. It has an
	// entry for each definition that was requested.
	Custom map[string]CustomResources
	// Sets are the live StatefulSets with claims of the releases.
	Sets map[object.Ref]*unstructured.Unstructured
	// Claims are the metadata of the claims of namespaces in which a StatefulSet has claims deleted
	// (persistentVolumeClaimRetentionPolicy). It has an entry for each namespace that was listed.
	Claims map[string][]*unstructured.Unstructured
	// Gaps are the failed reads, which block the plan.
	Gaps []object.Gap
}

// CustomResources are the custom resources of one definition.
type CustomResources struct {
	// Objects are complete if they must fit a new schema, otherwise metadata; sorted by reference.
	Objects []*unstructured.Unstructured
	// Whole means that they are complete.
	Whole bool
}

// LiveRelease is an existing Helm release.
type LiveRelease struct {
	Name, Namespace string
	// Revision is the latest one, Status its status (deployed, failed, pending-upgrade), Deployed
	// the deployed revision; 0 for none.
	Revision int
	Status   string
	Deployed int
	// Labels are our labels on the record of the latest revision.
	Labels map[string]string
	// Revisions are the revisions that have a record, ascending.
	Revisions []int
	// Records are the contents of the revisions that the plan needs: the deployed one, or the
	// latest if none is deployed, and the targets of a rollback.
	Records map[int]*helm.StoredRecord
}

// Current returns the record of the deployed revision, or of the latest one; nil if it was not
// read.
func (r *LiveRelease) Current() *helm.StoredRecord {
	if r.Deployed > 0 {
		return r.Records[r.Deployed]
	}
	return r.Records[r.Revision]
}

// release returns the release of a name; nil if it does not exist.
func (s *State) release(namespace, name string) *LiveRelease {
	for i := range s.Releases {
		if r := &s.Releases[i]; r.Namespace == namespace && r.Name == name {
			return r
		}
	}
	return nil
}

// definitionsOf returns the names of the definitions of one of our packages, sorted.
func (s *State) definitionsOf(name string) []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(s.Definitions)) {
		if s.Definitions[n].GetLabels()[helm.PackageLabel] == name {
			out = append(out, n)
		}
	}
	return out
}

// Reader reads a cluster for ReadState. Errors are those of the API server, as apierrors knows
// them.
type Reader interface {
	// Version returns the version of Kubernetes: v1.33.2.
	Version(ctx context.Context) (string, error)
	// Get reads a complete object, in the version of the resource.
	Get(ctx context.Context, r object.Resource, namespace, name string) (*unstructured.Unstructured, error)
	// List reads complete objects; an empty namespace means all.
	List(ctx context.Context, r object.Resource, namespace, selector string) ([]*unstructured.Unstructured, error)
	// ListMetadata reads only the metadata of objects; each has the kind of the resource.
	ListMetadata(ctx context.Context, r object.Resource, namespace, selector string) ([]*unstructured.Unstructured, error)
}

// StateRequest is the input of ReadState.
type StateRequest struct {
	Installation Installation
	Action       Action
	Parts        []*Part
	// Kinds are the served kinds.
	Kinds *object.Kinds
	// Before are the releases of the installation at the end of its last run (Journal).
	Before []ReleaseState
	// To are the releases to roll back to.
	To []ReleaseState
}

var (
	namespaceKind  = schema.GroupKind{Kind: "Namespace"}
	secretKind     = schema.GroupKind{Kind: "Secret"}
	definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
)

// kindOf returns the kind of a definition.
func kindOf(definition *unstructured.Unstructured) schema.GroupKind {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}
}

// kindText formats a kind as the catalog does: Certificate.cert-manager.io.
func kindText(gk schema.GroupKind) string { return strings.TrimSuffix(gk.Kind+"."+gk.Group, ".") }

// resourceOf returns the resource of a definition, in its storage version; false if the definition
// is invalid.
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
