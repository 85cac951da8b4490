package metrics

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Settle completes the report of an instant, after all sources measured it. It marks every pod whose
// CPU or memory is unknown as unmeasured (a sum without it is incomplete), and sorts the notes, each
// once.
func Settle(r *UsageReport) {
	for i := range r.Pods {
		p := &r.Pods[i]
		_, cpu := p.Used.Lookup(CPU)
		_, memory := p.Used.Lookup(Memory)
		switch {
		case cpu && memory:
			p.Unmeasured = ""
		case cpu:
			p.Unmeasured = "its memory is not measured"
		case memory:
			p.Unmeasured = "its CPU is not measured"
		case p.Unmeasured == "":
			p.Unmeasured = "not measured"
		}
	}
	SortNotes(r.Notes)
	r.Notes = slices.Compact(r.Notes)
}

// SortNotes sorts notes by source, reason, subject and message.
func SortNotes(notes []Note) {
	slices.SortFunc(notes, func(a, b Note) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Subject, b.Subject), strings.Compare(a.Message, b.Message))
	})
}

// refused returns why a request of a live source failed, as a reason and a message of the server.
// It returns the error if the context ended: then no caller waits for a result.
func refused(ctx context.Context, err error) (Note, error) {
	if ctx.Err() != nil {
		return Note{}, ctx.Err()
	}
	reason := metav1.StatusReason("Unavailable")
	var slow interface{ Timeout() bool }
	switch {
	case apierrors.IsForbidden(err):
		reason = metav1.StatusReasonForbidden
	case apierrors.IsUnauthorized(err):
		reason = metav1.StatusReasonUnauthorized
	case apierrors.IsNotFound(err):
		reason = "NotServed"
	case errors.Is(err, errUnreadable):
		reason = "Unreadable"
	case errors.As(err, &slow) && slow.Timeout(), errors.Is(err, context.DeadlineExceeded):
		reason = metav1.StatusReasonTimeout
	}
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err
	}
	message := strings.Join(strings.Fields(err.Error()), " ")
	const long = 300
	if runes := []rune(message); len(runes) > long {
		message = string(runes[:long]) + "..."
	}
	return Note{Reason: string(reason), Message: message, LowersFigures: true}, nil
}

// errUnreadable says that an answer is not what it should be.
var errUnreadable = errors.New("the response cannot be read")

// podRef is the reference of a pod.
func podRef(namespace, name string) object.Ref {
	return object.Ref{Kind: "Pod", Namespace: namespace, Name: name}
}
