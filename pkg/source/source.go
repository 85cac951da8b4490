// Package source reads objects, from a cluster or from a snapshot of one, and
// hands each on as it arrives. It keeps none of them and computes nothing from
// them.
//
// A Source is asked twice: first for the kinds that there are, then to Read what
// an Ask names into a Sink. Follow reads on, as long as what was read leads to
// more.
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
	// Kinds returns what is served. What of it could not be found out is a gap, not
	// an error; there is an error when nothing could.
	Kinds(ctx context.Context, sink Sink) (*object.Kinds, error)
	// Definitions returns the metadata of the CustomResourceDefinitions.
	Definitions(ctx context.Context, sink Sink) ([]metav1.Object, error)
	// Read hands what is asked for to the sink, from several goroutines at once.
	// What cannot be read is a gap of the sink. The error is for what ends the
	// reading as a whole: the context, or a server that is gone (*ConnectError).
	Read(ctx context.Context, ask Query, sink Sink) error
}

// Sink takes in what a source reads. Its methods are safe for use at once.
type Sink interface {
	// Add takes an object.
	Add(object.Object)
	// Reset forgets what was added of a kind in a namespace (or everywhere): its
	// list starts again.
	Reset(gk schema.GroupKind, namespace string)
	// Cover says that all of a kind in a namespace (or everywhere, without one) has
	// been added.
	Cover(gk schema.GroupKind, namespace string)
	// Absent says that an object is not there.
	Absent(object.Ref)
	// Gap says what could not be read, and why.
	Gap(object.Gap)
}

// UnreadSink is a Sink that also takes what was read before and cannot be read now. Others
// are not given that.
type UnreadSink interface {
	Sink
	// Unread takes an object as it was last read, beside the gap that says why it cannot be
	// read now. It may have changed since, or be gone.
	Unread(object.Object)
}

// Query says what to read. The parts add up.
type Query struct {
	// All is everything that there is.
	All bool
	// Namespaces are read whole.
	Namespaces []string
	// Kinds are read in every namespace.
	Kinds []schema.GroupKind
	// Objects are read one by one.
	Objects []object.Ref
	// Include names kinds that are read with their namespaces, or with everything,
	// although they are LeftOut. Alone it asks for nothing.
	Include []schema.GroupKind
	// Have are kinds that were read in every namespace before; Namespaces does not
	// mean them. Follow fills it in.
	Have []schema.GroupKind
}

// Empty says that nothing is asked for. What is there already asks for nothing.
func (a Query) Empty() bool {
	return !a.All && len(a.Namespaces) == 0 && len(a.Kinds) == 0 && len(a.Objects) == 0
}

// Detail says how much of the objects of a kind is read.
type Detail uint8

const (
	// Metadata reads no more than the metadata.
	Metadata Detail = iota
	// Typed reads the whole object, as the Go type of k8s.io/api.
	Typed
	// Fields reads the whole object, as maps and lists.
	Fields
	// Whole is Fields with the managed fields, which are often half of an object.
	Whole
)

// neverWhole are kinds whose content is nobody's business, whoever asks.
func neverWhole(gk schema.GroupKind) bool {
	return gk.Group == "" && (gk.Kind == "Secret" || gk.Kind == "ConfigMap")
}

// builtInGroup says that the API server itself serves the group. An aggregated
// API (metrics.k8s.io) is not built in, whoever wrote it.
func builtInGroup(group string) bool {
	return scheme.Scheme.IsGroupRegistered(group) || group == crdKind.Group || group == "apiregistration.k8s.io"
}

var apiServiceKind = schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}

var crdKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// LeftOut tells resources that are not part of any stack and large in number:
// records of what happened, locks, samples, and Endpoints, which say what
// EndpointSlices say (and warn when they are read). They are read where they
// are asked for by kind or name, by Ask.Include, or by ClusterOptions.Also.
func LeftOut(r object.Resource) bool {
	switch r.Group {
	case "":
		return slices.Contains([]string{"events", "endpoints", "componentstatuses", "bindings"}, r.Plural)
	case "events.k8s.io", "coordination.k8s.io", "metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io":
		return true
	}
	return false
}
