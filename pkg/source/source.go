// Package source reads objects, from a cluster or from a snapshot, and delivers each as it arrives.
// It stores none of them and computes nothing from them.
//
// A Source is used in two steps: Kinds returns what is served, then Read delivers what a Query
// selects to a Sink. Follow repeats Read as long as what was read leads to more.
package source

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Source is where objects come from.
type Source interface {
	// Kinds returns the served kinds. What discovery could not find out is a gap; the error is for
	// a complete failure.
	Kinds(ctx context.Context, sink Sink) (*object.Kinds, error)
	// Definitions returns the metadata of the CustomResourceDefinitions.
	Definitions(ctx context.Context, sink Sink) ([]metav1.Object, error)
	// Read delivers the selected objects to the sink, from several goroutines. What cannot be read
	// is a gap. The error is for a failure of the whole read: the context, or a lost server
	// (*ConnectError).
	Read(ctx context.Context, ask Query, sink Sink) error
}

// Sink receives what a source reads. Its methods are safe for concurrent use.
type Sink interface {
	// Add receives an object.
	Add(object.Object)
	// Reset drops what was added of a kind in a namespace (or in all, if it is empty): its list
	// restarts.
	Reset(gk schema.GroupKind, namespace string)
	// Cover reports that all objects of a kind in a namespace (or in all, if it is empty) were
	// added.
	Cover(gk schema.GroupKind, namespace string)
	// Absent reports that an object does not exist.
	Absent(object.Ref)
	// Gap reports what could not be read, and why.
	Gap(object.Gap)
}

// UnreadSink is a Sink that also receives objects that were read before and cannot be read now.
type UnreadSink interface {
	Sink
	// Unread receives an object as it was last read; a gap says why it cannot be read now. It may
	// have changed or been deleted since.
	Unread(object.Object)
}

// Query selects what to read: the union of its fields.
type Query struct {
	// All selects everything.
	All bool
	// Namespaces are read completely. With All, or for Kinds, they are where a kind is read that may not
	// be listed in every namespace.
	Namespaces []string
	// Kinds are read in every namespace.
	Kinds []schema.GroupKind
	// Objects are read one by one.
	Objects []object.Ref
	// Include selects kinds to read with Namespaces or All although they are LeftOut. Alone it
	// selects nothing.
	Include []schema.GroupKind
	// Have are kinds that were already read in every namespace, so that Namespaces omits them.
	// Follow sets it.
	Have []schema.GroupKind
}

// Empty reports whether the query selects nothing. Have does not count.
func (a Query) Empty() bool {
	return !a.All && len(a.Namespaces) == 0 && len(a.Kinds) == 0 && len(a.Objects) == 0
}

// Detail says how much of the objects of a kind is read.
type Detail uint8

const (
	// Metadata reads only the metadata.
	Metadata Detail = iota
	// Typed reads the whole object, as the Go type of k8s.io/api.
	Typed
	// Fields reads the whole object, as maps and lists.
	Fields
	// Whole is Fields with the managed fields, which are often half of an object.
	Whole
)

// neverWhole reports kinds whose content is confidential and never read.
func neverWhole(gk schema.GroupKind) bool {
	return gk.Group == "" && (gk.Kind == "Secret" || gk.Kind == "ConfigMap")
}

// builtInGroup reports whether the API server itself serves the group. An aggregated API
// (metrics.k8s.io) is not built in.
func builtInGroup(group string) bool {
	return scheme.Scheme.IsGroupRegistered(group) || group == crdKind.Group || group == "apiregistration.k8s.io"
}

var apiServiceKind = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}

var crdKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// LeftOut reports resources that are no part of a stack and large in number: events, locks,
// samples, and Endpoints, which repeat EndpointSlices (and cause a warning when they are read).
// They are read only on request, by kind or name, by Query.Include, or by ClusterOptions.Also.
func LeftOut(r object.Resource) bool {
	switch r.Group {
	case "":
		return slices.Contains([]string{"events", "endpoints", "componentstatuses", "bindings"}, r.Plural)
	case "events.k8s.io", "coordination.k8s.io", "metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io":
		return true
	}
	return false
}
