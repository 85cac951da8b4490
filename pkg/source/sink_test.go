package source

import (
	"context"
	"io"
	"log"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// recorder is a sink that remembers, as text and in order where order is told.
type recorder struct {
	mu      sync.Mutex
	objects map[object.Ref]object.Object
	added   int
	resets  []string
	covered []string
	absent  []string
	gaps    []object.Gap
}

func newRecorder() *recorder { return &recorder{objects: map[object.Ref]object.Object{}} }

func (r *recorder) Add(o object.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.added++
	r.objects[o.Ref] = o
}

func (r *recorder) Reset(gk schema.GroupKind, ns string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resets = append(r.resets, gk.String()+"@"+ns)
	for ref := range r.objects {
		if ref.GroupKind() == gk && (ns == "" || ref.Namespace == ns) {
			delete(r.objects, ref)
		}
	}
}

func (r *recorder) Cover(gk schema.GroupKind, ns string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.covered = append(r.covered, gk.String()+"@"+ns)
}

func (r *recorder) Absent(ref object.Ref) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.absent = append(r.absent, ref.String())
}

func (r *recorder) Gap(g object.Gap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gaps = append(r.gaps, g)
}

// names returns the references of what is kept, in one line.
func (r *recorder) names() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for ref := range r.objects {
		out = append(out, ref.String())
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// reasons returns resource, namespace and reason of the gaps, in one line.
func (r *recorder) reasons() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, g := range r.gaps {
		out = append(out, g.Resource+"@"+g.Namespace+":"+g.Reason)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func (r *recorder) coverage() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Clone(r.covered)
	slices.Sort(out)
	return strings.Join(out, " ")
}

// waits stands in for waiting: it remembers for how long.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) pause(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, d)
	return ctx.Err()
}

// quiet is where a test server says what is expected.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
