package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	fieldset "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// WarningsError lists the events that could not be read. The result has the others.
type WarningsError struct {
	// Gaps has one gap for each namespace, in order.
	Gaps []object.Gap
	errs []error
}

func (e *WarningsError) Error() string {
	var parts []string
	for _, g := range e.Gaps {
		scope := "in all namespaces"
		if g.Namespace != "" {
			scope = "in " + g.Namespace
		}
		parts = append(parts, fmt.Sprintf("list events %s: %s", scope, g.Message))
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the server's errors.
func (e *WarningsError) Unwrap() []error { return e.errs }

var eventResource = object.Resource{Version: "v1", Kind: "Event", Plural: "events", Namespaced: true, Listable: true}

// The events of few objects are read one object at a time; of more, those of their namespaces; and
// for many namespaces, those of all.
const (
	fewObjects    = 8
	manyNamespace = 8
)

// Warnings returns up to each of the last events of type Warning of each object, newest first; an
// object without any is not in the map. By default a server stores events for an hour. The error is
// a *WarningsError if some could not be read, that of the context, or a *ConnectError.
func (c *Cluster) Warnings(ctx context.Context, refs []object.Ref, each int) (map[object.Ref][]Event, error) {
	w := &warnings{eventFilter: newPicker(refs)}
	var jobs []job
	if len(w.wanted) <= fewObjects {
		for _, ref := range slices.SortedFunc(maps.Keys(w.wanted), object.Compare) {
			about := fieldset.AndSelectors(onlyWarnings(), fieldset.OneTermEqualSelector("involvedObject.kind", ref.Kind), fieldset.OneTermEqualSelector("involvedObject.name", ref.Name))
			for _, ns := range eventsOf(ref) {
				jobs = append(jobs, c.events(ns, about, w))
			}
		}
	} else if all := w.namespaces(); len(all) > manyNamespace {
		jobs = append(jobs, c.eventsEverywhere(all, w))
	} else {
		for _, ns := range all {
			jobs = append(jobs, c.events(ns, onlyWarnings(), w))
		}
	}
	if err := c.run(ctx, jobs); err != nil {
		return nil, err
	}
	return w.last(each), w.err()
}

func onlyWarnings() fieldset.Selector {
	return fieldset.OneTermEqualSelector("type", corev1.EventTypeWarning)
}

func (c *Cluster) events(ns string, about fieldset.Selector, w *warnings) job {
	return func(ctx context.Context) error {
		err := c.listSelected(ctx, eventResource, ns, selection{fields: about.String()}, Typed, w)
		return w.settle(ctx, ns, err)
	}
}

// eventsEverywhere lists the events of all namespaces; if that is forbidden, those of each.
func (c *Cluster) eventsEverywhere(namespaces []string, w *warnings) job {
	return func(ctx context.Context) error {
		err := c.listSelected(ctx, eventResource, "", selection{fields: onlyWarnings().String()}, Typed, w)
		if !refused(err) {
			return w.settle(ctx, "", err)
		}
		for _, ns := range namespaces {
			if err := c.events(ns, onlyWarnings(), w)(ctx); err != nil || ctx.Err() != nil {
				return err
			}
		}
		return nil
	}
}

// warnings is the sink that events are read into.
type warnings struct {
	mu sync.Mutex
	*eventFilter
	failed map[string]error // by namespace
}

func (w *warnings) Add(o object.Object) {
	e, ok := o.Body.(*corev1.Event)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(coreReport(e))
}

// Reset does nothing: an event that is read twice counts once.
func (w *warnings) Reset(schema.GroupKind, string) {}
func (w *warnings) Cover(schema.GroupKind, string) {}
func (w *warnings) Absent(object.Ref)              {}
func (w *warnings) Gap(object.Gap)                 {}

func (w *warnings) settle(ctx context.Context, ns string, err error) error {
	var gone *ConnectError
	if err == nil || ctx.Err() != nil || errors.As(err, &gone) {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = map[string]error{}
	}
	w.failed[ns] = err
	return nil
}

func (w *warnings) err() error {
	if len(w.failed) == 0 {
		return nil
	}
	out := &WarningsError{}
	for _, ns := range slices.Sorted(maps.Keys(w.failed)) {
		out.Gaps = append(out.Gaps, gap(eventResource, ns, w.failed[ns]))
		out.errs = append(out.errs, w.failed[ns])
	}
	return out
}

// Warnings returns the last events of type Warning of each object in the snapshot, as
// Cluster.Warnings does. The error is for an event that cannot be decoded.
func (s *Snapshot) Warnings(ctx context.Context, refs []object.Ref, each int) (map[object.Ref][]Event, error) {
	p := newPicker(refs)
	for _, e := range s.entries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var r storedEvent
		var err error
		switch e.ref.GroupKind() {
		case schema.GroupKind{Kind: "Event"}:
			r, err = stored(e, coreReport)
		case schema.GroupKind{Group: "events.k8s.io", Kind: "Event"}:
			r, err = stored(e, newReport)
		default:
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", e.at, e.ref, err)
		}
		p.take(r)
	}
	return p.last(each), nil
}

// stored decodes an event of a snapshot in its API version.
func stored[T any](e entry, read func(*T) storedEvent) (storedEvent, error) {
	var into T
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(e.body.Object, &into)
	return read(&into), err
}
