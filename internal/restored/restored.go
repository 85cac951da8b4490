// Package restored inspects objects that were restored by undoing a change: whether they are
// Healthy, and if not, why. Both the undo of an upgrade and the recovery of a hold restore
// objects.
//
// It removes one obstacle itself: a pod of the undone revision that its StatefulSet waits for
// ([Inspector.Inspect]).
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

// Objects accesses a cluster. Errors are those of k8s.io/apimachinery/pkg/api/errors.
type Objects interface {
	Get(ctx context.Context, ref object.Ref) (*unstructured.Unstructured, error)
	List(ctx context.Context, kind schema.GroupKind, namespace string) ([]unstructured.Unstructured, error)
	// Delete deletes the object with the UID, and no other one of its name.
	Delete(ctx context.Context, ref object.Ref, uid types.UID) error
}

// Report is the health of the restored objects.
type Report struct {
	Healthy bool `json:"healthy"`
	// Message names what is not Healthy, and Help has commands that show more or fix it.
	Message string   `json:"message,omitempty"`
	Help    []string `json:"help,omitempty"`
	// Deleted are the pods that were deleted because their StatefulSet waited for them.
	Deleted []object.Ref `json:"deleted,omitempty"`
}

// Inspector inspects restored objects.
type Inspector struct {
	Objects Objects
	// Gate waits until objects are Healthy, or returns why they are not.
	Gate func(ctx context.Context, objects []object.Ref, timeout time.Duration) error
	// Note is called for each deleted pod, with the reason.
	Note func(text string)
	// Poll is the interval of reading StatefulSets; 0 for half a second.
	Poll time.Duration
}

// leastGate is the minimum time to wait for the health of restored objects.
const leastGate = 5 * time.Second

// Inspect waits until objects are Healthy, for at most timeout, and reports that, or what is not
// and which command helps. It deletes the pods that block the rollback of a StatefulSet which is
// among the objects or controlled by one. An error is that of ctx: the health is then unknown.
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

// Text is one line: it is Healthy, or what is not and which command helps.
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
