package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is one object as a source read it. It is handed on once and let go;
// who needs something of it later takes that out while it passes.
type Object struct {
	Ref
	// Version is the API version in which the object was read.
	Version string
	// Meta is the object's metadata, never nil.
	Meta metav1.Object
	// Body is the object itself: a type of k8s.io/api for a built-in kind in a
	// version that the rules read, *unstructured.Unstructured for a custom
	// resource, *metav1.PartialObjectMetadata where only metadata was read
	// (always so for Secrets and ConfigMaps).
	Body runtime.Object
	// Type is that of a Secret, where it was read: manifests and dumps have it, and the
	// metadata of a cluster has not. It is empty otherwise.
	Type string
}

// Fields returns the content of a custom resource as maps, lists and scalars of
// JSON, or nil for an object that was read as a type or as metadata only.
func (o Object) Fields() map[string]any {
	if u, ok := o.Body.(*unstructured.Unstructured); ok {
		return u.Object
	}
	return nil
}

// Gap is something that could not be read, and why. The answer stands without
// it, and says so.
type Gap struct {
	// Resource is the plural name with its group (deployments.apps), or a group
	// and version where discovery of a whole API failed.
	Resource string `json:"resource"`
	// Namespace is empty where the whole cluster was asked for.
	Namespace string `json:"namespace,omitempty"`
	// Reason is one word: Forbidden, Unavailable, NotServed, Unknown version, ...
	Reason string `json:"reason"`
	// Message is the server's word, or ours.
	Message string `json:"message"`
}
