package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is one object as a source read it. A source hands it on once and drops it: a sink must
// copy what it uses later.
type Object struct {
	Ref
	// Version is the API version in which the object was read.
	Version string
	// Meta is the object's metadata, never nil.
	Meta metav1.Object
	// Body is the object itself: a type of k8s.io/api for a built-in kind in a version that the
	// rules read, *unstructured.Unstructured for a custom resource, *metav1.PartialObjectMetadata
	// if only metadata was read (always for Secrets and ConfigMaps).
	Body runtime.Object
	// Type is the type of a Secret from a manifest or a dump. It is empty otherwise: the metadata
	// of a Secret in a cluster does not have it.
	Type string
}

// Fields returns the content of a custom resource as maps, lists and scalars of JSON, or nil for an
// object of a Go type or with metadata only.
func (o Object) Fields() map[string]any {
	if u, ok := o.Body.(*unstructured.Unstructured); ok {
		return u.Object
	}
	return nil
}

// Gap is something that could not be read, with the reason. The answer is given without it and
// reports it.
type Gap struct {
	// Resource is the plural with its group (deployments.apps), or a group and version if discovery
	// of a whole API failed.
	Resource string `json:"resource"`
	// Namespace is empty if the whole cluster was requested.
	Namespace string `json:"namespace,omitempty"`
	// Reason is one word: Forbidden, Unavailable, NotServed, Unknown version, ...
	Reason string `json:"reason"`
	// Message is the server's message, or the program's own.
	Message string `json:"message"`
}
