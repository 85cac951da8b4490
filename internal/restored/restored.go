// Package restored looks after objects that were brought back by undoing a change: whether they
// are Healthy, and what keeps them from it. Undoing an upgrade and letting go what was held are
// two that bring back.
//
// Of what it finds in the way it removes one thing: a pod of the undone revision that its
// StatefulSet waits for ([Inspector.Inspect]).
package restored

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Objects are those of a cluster. Errors are those of k8s.io/apimachinery/pkg/api/errors.
type Objects interface {
	Get(ctx context.Context, ref object.Ref) (*unstructured.Unstructured, error)
	List(ctx context.Context, kind schema.GroupKind, namespace string) ([]unstructured.Unstructured, error)
	// Delete deletes the object with the UID, and no other one of its name.
	Delete(ctx context.Context, ref object.Ref, uid types.UID) error
}

// Report says how what was brought back is.
type Report struct {
	Healthy bool `json:"healthy"`
	// Message says what is not Healthy, and Help the commands that tell more or put it right.
	Message string   `json:"message,omitempty"`
	Help    []string `json:"help,omitempty"`
	// Deleted are pods that were deleted since their StatefulSet waited for them.
	Deleted []object.Ref `json:"deleted,omitempty"`
}

// Inspector inspects what was brought back.
type Inspector struct {
	Objects Objects
	// Gate waits until objects are Healthy, or says why they are not.
	Gate func(ctx context.Context, objects []object.Ref, timeout time.Duration) error
	// Note is given pods that are deleted, with the reason.
	Note func(text string)
	// Poll is how often StatefulSets are read meanwhile; 0 for half a second.
	Poll time.Duration
}

// leastGate is how long the health of what was restored is looked at in any case.
const leastGate = 5 * time.Second

// Inspect waits until objects are Healthy, for timeout at most, and reports so, or what is not
// and which command helps. Pods that keep a StatefulSet among them, or one that they control,
// from going back are deleted. An error is that of ctx: then it is not known.
func (i *Inspector) Inspect(ctx context.Context, refs []object.Ref, timeout time.Duration) (Report, error) {
	r := Report{}
	began := time.Now()
	bounded, stop := context.WithTimeout(ctx, max(timeout, leastGate)) // an API server may never answer
	stuck := i.unstick(bounded, refs, &r, timeout)
	stop()
	err := i.Gate(ctx, refs, max(timeout-time.Since(began), leastGate))
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if err == nil {
		r.Healthy = true
		return r, nil
	}
	r.Message = field.HostsOnly(err.Error())
	for _, pod := range stuck {
		r.Message += fmt.Sprintf("; %s is of the revision that was undone, and its StatefulSet waits for it (OrderedReady)", pod)
		r.Help = append(r.Help, fmt.Sprintf("kubectl delete pod %s -n %s", pod.Name, pod.Namespace))
	}
	return r, nil
}

// Text says in one line that it is Healthy, or what is not and what helps.
func (r Report) Text(subject string) string {
	if r.Healthy {
		return subject + " is Healthy"
	}
	text := subject + " is not Healthy: " + r.Message
	if len(r.Help) > 0 {
		text += " (" + strings.Join(r.Help, "; ") + ")"
	}
	return text
}

func (i *Inspector) poll() time.Duration {
	if i.Poll <= 0 {
		return 500 * time.Millisecond
	}
	return i.Poll
}
