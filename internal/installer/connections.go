package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// wiring is the apps of a System with what connects them: their resources with the Services, network
// policies and variables of the connections, and with labels.
type wiring struct {
	*partLoader
	sys *system.System
	// resources are copies of those of the manifest, by app.
	resources map[string][]*unstructured.Unstructured
	// values are those that are known only in the run, and needs the apps that come first; both by app.
	values map[string][]connection.Connection
	needs  map[string][]string
	near   map[string]*surroundings // by namespace
}

// wire connects and labels the apps of the System.
func (c *partLoader) wire(ctx context.Context) (*wiring, error) {
	w := &wiring{
		partLoader: c, sys: c.req.System, resources: map[string][]*unstructured.Unstructured{},
		values: map[string][]connection.Connection{}, needs: map[string][]string{}, near: map[string]*surroundings{},
	}
	for i := range w.sys.Apps {
		a := &w.sys.Apps[i]
		for _, o := range a.Resources {
			w.resources[a.Name] = append(w.resources[a.Name], o.DeepCopy())
		}
	}
	// Variables come first, because each one moves the paths of the others. Labels come before the
	// connections, because NetworkPolicies select pods by them.
	if err := w.each(ctx, w.declareVariable); err != nil {
		return nil, err
	}
	w.label(func(*system.App) int { return 0 })
	if err := w.each(ctx, w.connect); err != nil {
		return nil, err
	}
	w.label(func(a *system.App) int { return len(a.Resources) })
	return w, nil
}

// each takes one step for each connection to an app of the plan.
func (w *wiring) each(ctx context.Context, step func(context.Context, *system.Connection) error) error {
	for i := range w.sys.Connections {
		conn := &w.sys.Connections[i]
		if !w.brings(conn.To.App) {
			continue
		}
		if err := step(ctx, conn); err != nil {
			return fmt.Errorf("%s:%d: the connection of %s with %s: %w", w.sys.Origin, conn.Line, conn.To.App, conn.From.App, err)
		}
	}
	return nil
}

// label sets labels on the resources of each app, from the one that first returns.
func (w *wiring) label(first func(*system.App) int) {
	var all []*unstructured.Unstructured
	for _, name := range w.sys.AppNames() {
		all = append(all, w.resources[name]...)
	}
	for i := range w.sys.Apps {
		a := &w.sys.Apps[i]
		w.notes = append(w.notes, w.sys.SetLabels(a.Name, w.sys.ReleaseOf(a.Name), w.resources[a.Name][first(a):], all)...)
	}
}

// declareVariable adds the variable of a connection to its containers.
func (w *wiring) declareVariable(_ context.Context, conn *system.Connection) error {
	if conn.To.Env == "" {
		return nil
	}
	to, workload, err := w.variableOf(conn.To)
	if err != nil {
		return err
	}
	return connection.AddVariable(to, workload, conn.To.Env, conn.To.Container)
}

// variableOf finds the workload whose variable is set: the root, or the first one of the app.
func (w *wiring) variableOf(e system.End) (*unstructured.Unstructured, *connection.Workload, error) {
	var want object.Ref
	if e.Root.Name != "" {
		a, _ := w.sys.App(e.App)
		ref, err := w.endOf(a, e)
		if err != nil {
			return nil, nil, err
		}
		want = ref
	}
	for _, o := range w.resources[e.App] {
		if want.Name != "" && w.refOf(o) != want {
			continue
		}
		workload, err := w.workloadOf(o)
		if err != nil || workload != nil {
			return o, workload, err
		}
	}
	if want.Name != "" {
		return nil, nil, hint.With(fmt.Errorf("%s is no workload that %s creates: %s cannot be set", want, e.App, e.Env), "name a Deployment or StatefulSet among its resources, or a field with to.path")
	}
	return nil, nil, hint.With(fmt.Errorf("%s creates no workload: %s cannot be set", e.App, e.Env), "name a field of its resource with to.path")
}

// refOf is the reference of a resource, with the namespace that it gets.
func (w *wiring) refOf(o *unstructured.Unstructured) object.Ref {
	ref := object.RefOf(o)
	if namespaced, known := w.options(&install.Part{}).Namespaced(ref.GroupKind()); known && !namespaced {
		ref.Namespace = ""
	} else {
		ref.Namespace = cmp.Or(ref.Namespace, w.sys.Namespace)
	}
	return ref
}

func (w *wiring) workloadOf(o *unstructured.Unstructured) (*connection.Workload, error) {
	workload, err := connection.WorkloadOf(o)
	if workload != nil {
		workload.Ref = w.refOf(o)
	}
	return workload, err
}

// connect sets the values of a connection that are known, and notes those that only the run can read.
func (w *wiring) connect(ctx context.Context, conn *system.Connection) error {
	to, paths, err := w.targetOf(conn.To)
	if err != nil {
		return err
	}
	if conn.From.Port != "" {
		return w.connectPort(ctx, conn, to, paths)
	}
	from, _ := w.sys.App(conn.From.App)
	source, err := w.endOf(from, conn.From)
	if err != nil {
		return fmt.Errorf("from app %s: %w", from.Name, err)
	}
	for _, path := range paths {
		w.values[conn.To.App] = append(w.values[conn.To.App], connection.Connection{From: source, Path: conn.From.Path, To: to, Field: path, Name: from.Name})
	}
	return nil
}

// targetOf finds the object and the fields that a connection sets.
func (w *wiring) targetOf(e system.End) (to object.Ref, paths []string, err error) {
	switch {
	case e.Env != "":
		o, workload, err := w.variableOf(e)
		if err != nil {
			return object.Ref{}, nil, err
		}
		return workload.Ref, connection.VariablePaths(o, workload, e.Env, e.Container), nil
	case e.ConfigMap != "":
		for _, o := range w.resources[e.App] {
			if ref := w.refOf(o); ref.Kind == "ConfigMap" && ref.Group == "" && ref.Name == e.ConfigMap {
				return ref, []string{`data["` + e.Key + `"]`}, nil
			}
		}
		return object.Ref{}, nil, hint.With(fmt.Errorf("%s creates no ConfigMap %s", e.App, e.ConfigMap), "add it to the resources of the app")
	}
	a, _ := w.sys.App(e.App)
	to, err = w.endOf(a, e)
	if err != nil {
		return object.Ref{}, nil, fmt.Errorf("to app %s: %w", e.App, err)
	}
	return to, []string{e.Path}, nil
}

// created returns a resource that an app creates; nil if there is none.
func (w *wiring) created(app string, ref object.Ref) *unstructured.Unstructured {
	for _, o := range w.resources[app] {
		if w.refOf(o) == ref {
			return o
		}
	}
	return nil
}

// endOf finds the object at an end of a connection.
func (c *partLoader) endOf(a *system.App, e system.End) (object.Ref, error) {
	root := e.Root
	if root.Name == "" {
		if len(a.Roots) == 0 {
			return object.Ref{}, errors.New("the app has no root")
		}
		root = a.Roots[0]
	}
	namespace := cmp.Or(root.Namespace, c.req.System.Namespace)
	for _, o := range a.Resources {
		gk := o.GroupVersionKind().GroupKind()
		same := strings.EqualFold(root.Type, gk.Kind) || strings.EqualFold(root.Type, gk.String()) || object.MayBePlural(root.Type, gk.Kind)
		if !same || o.GetName() != root.Name {
			continue
		}
		ref := object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: cmp.Or(o.GetNamespace(), namespace), Name: root.Name}
		if namespaced, known := c.options(&install.Part{}).Namespaced(gk); known && !namespaced {
			ref.Namespace = ""
		}
		return ref, nil
	}
	kind, err := c.kinds.Find(root.Type)
	if err != nil {
		return object.Ref{}, err
	}
	ref := object.Ref{Group: kind.Group, Kind: kind.Kind, Name: root.Name}
	if kind.Namespaced {
		ref.Namespace = namespace
	}
	return ref, nil
}
