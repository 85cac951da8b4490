package source

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// detail returns how to read a resource: with the requested detail, if the server has that version.
func (c *Cluster) detail(r object.Resource, sink Sink) (object.Resource, Detail) {
	if neverWhole(r.GroupKind()) || c.opts.Detail == nil {
		return r, Metadata
	}
	detail, version := c.opts.Detail(r)
	if detail == Metadata {
		return r, Metadata
	}
	wanted := r
	if version != "" {
		wanted.Version = version
	}
	if served := c.discovered().versions[r.GroupKind()]; wanted.Version != r.Version && !slices.Contains(served, version) {
		sink.Gap(object.Gap{Resource: r.String(), Reason: "UnknownVersion", Message: fmt.Sprintf(
			"served as %s, not as %s: its fields were not read", strings.Join(served, ", "), version)})
		return r, Metadata
	}
	if detail == Typed && !scheme.Scheme.Recognizes(kindOf(wanted)) {
		sink.Gap(object.Gap{Resource: r.String(), Reason: "UnknownVersion", Message: fmt.Sprintf(
			"the shape of %s is unknown: its fields were not read", wanted.APIVersion())})
		return r, Metadata
	}
	return wanted, detail
}

func kindOf(r object.Resource) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// gap returns why a resource could not be read.
func gap(r object.Resource, ns string, err error) object.Gap {
	reason := apierrors.ReasonForError(err)
	switch {
	case apierrors.IsForbidden(err):
		reason = metav1.StatusReasonForbidden
	case apierrors.IsUnauthorized(err):
		reason = metav1.StatusReasonUnauthorized
	case apierrors.IsMethodNotSupported(err):
		reason = "NotListable"
	case apierrors.IsNotFound(err):
		reason = notServed
	case reason == "" || apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err):
		reason = "Unavailable"
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		reason = metav1.StatusReasonTimeout
	}
	return object.Gap{Resource: r.String(), Namespace: ns, Reason: string(reason), Message: say(err)}
}

// say returns an error as one line of limited length: without the URL, and for a refusal only what
// was refused to whom, which is the same for every object.
func say(err error) string {
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err
	}
	msg := strings.Join(strings.Fields(err.Error()), " ")
	if _, after, ok := strings.Cut(msg, " is forbidden: "); ok && apierrors.IsForbidden(err) {
		msg = after
	}
	const long = 300
	if runes := []rune(msg); len(runes) > long {
		msg = string(runes[:long-3]) + "..."
	}
	return msg
}

// absent reports whether the server has no object of this name. A NotFound for an unknown path does
// not count.
func absent(err error, name string) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Name == name
}
