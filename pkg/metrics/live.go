package metrics

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Settle completes the report of an instant, after all sources measured it. It sets the charged
// amounts: for CPU and memory the larger of request and usage, for extended resources the
// request. If the usage is unknown the request counts, and nothing if there is no request: an
// unmeasured pod is not free. It marks every pod whose CPU or memory is unknown as unmeasured (a
// sum without it is incomplete), and sorts the notes, each once.
//
// It charges nothing for a window: there the larger of both counts at every sample, which only
// the history knows.
func Settle(r *UsageReport) {
	for i := range r.Pods {
		p := &r.Pods[i]
		if r.Instant() {
			p.Charged = chargedFor(p)
		}
		_, cpu := p.Used[CPU]
		_, memory := p.Used[Memory]
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
	slices.SortStableFunc(r.Notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Message, b.Message))
	})
	r.Notes = slices.Compact(r.Notes)
}

// chargedFor implements the allocation of the OpenCost specification, section
// "Workload costs": max(request, usage), of a single sample.
func chargedFor(p *Pod) Amounts {
	out := make(Amounts, 2)
	for _, res := range []Resource{CPU, Memory} {
		used, measured := p.Used[res]
		requested, asked := p.Requested[res]
		switch {
		case measured && asked:
			out[res] = decimal.Max(used, requested)
		case measured:
			out[res] = used
		case asked && requested.IsPositive():
			out[res] = requested
		}
	}
	for res, requested := range p.Requested {
		if extended(res) {
			out[res] = requested
		}
	}
	return out
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
