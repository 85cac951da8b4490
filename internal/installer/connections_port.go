package installer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// surroundings is what a namespace has besides the objects of the System itself.
type surroundings struct {
	services []*unstructured.Unstructured
	policies []*networkingv1.NetworkPolicy
	labels   map[string]string // of the namespace; nil where they could not be read
	// own are the objects that an earlier run of the System created.
	own map[object.Ref]bool
	// unread says why objects of a kind could not be listed.
	unread map[string]error
}

// around reads the surroundings of a namespace, once.
func (w *wiring) around(ctx context.Context, namespace string) (*surroundings, error) {
	if s := w.near[namespace]; s != nil {
		return s, nil
	}
	s := &surroundings{own: map[object.Ref]bool{}, unread: map[string]error{}}
	w.near[namespace] = s
	if w.reader == nil {
		return s, nil
	}
	services, err := w.list(ctx, s, schema.GroupKind{Kind: "Service"}, namespace)
	if err != nil {
		return nil, err
	}
	s.services = services
	policies, err := w.list(ctx, s, schema.GroupKind{Group: networkingv1.GroupName, Kind: "NetworkPolicy"}, namespace)
	if err != nil {
		return nil, err
	}
	if s.policies, err = convert[networkingv1.NetworkPolicy](policies); err != nil {
		return nil, err
	}
	kind, _ := w.kinds.Kind(schema.GroupKind{Kind: "Namespace"})
	w.reads = append(w.reads, permission.Permission{Verb: "get", Resource: kind.Plural, Name: namespace, Optional: true})
	switch o, err := w.reader.Get(ctx, kind, "", namespace); {
	case apierrors.IsNotFound(err):
		s.labels = map[string]string{corev1.LabelMetadataName: namespace}
	case apierrors.IsForbidden(err): // its labels are unknown
	case err != nil:
		return nil, fmt.Errorf("read Namespace/%s: %w", namespace, err)
	default:
		s.labels = o.GetLabels()
	}
	return s, nil
}

// list lists the objects of a kind that no release of this System has: those are planned again.
func (w *wiring) list(ctx context.Context, s *surroundings, gk schema.GroupKind, namespace string) ([]*unstructured.Unstructured, error) {
	kind, ok := w.kinds.Kind(gk)
	if !ok {
		return nil, nil
	}
	w.reads = append(w.reads, permission.Permission{Verb: "list", Group: kind.Group, Resource: kind.Plural, Namespace: namespace, Optional: kind.Kind != "Service"})
	found, err := w.reader.List(ctx, kind, namespace, "")
	if apierrors.IsForbidden(err) {
		s.unread[gk.Kind] = err
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s in %s: %w", kind, namespace, err)
	}
	var out []*unstructured.Unstructured
	for _, o := range found {
		if w.ours(o) {
			s.own[object.RefOf(o)] = true
			continue
		}
		out = append(out, o)
	}
	return out, nil
}

// ours reports whether a release of an app of the System has an object.
func (w *wiring) ours(o *unstructured.Unstructured) bool {
	notes := o.GetAnnotations()
	app, ok := strings.CutPrefix(notes["meta.helm.sh/release-name"], w.sys.Name+"-")
	if !ok || notes["meta.helm.sh/release-namespace"] != w.sys.Namespace {
		return false
	}
	_, ok = w.sys.App(app)
	return ok
}

func convert[T any](objects []*unstructured.Unstructured) ([]*T, error) {
	var out []*T
	for _, o := range objects {
		typed := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
			return nil, fmt.Errorf("read %s: %w", object.RefOf(o), err)
		}
		out = append(out, typed)
	}
	return out, nil
}

// desired returns the resources of a kind in a namespace that the System creates.
func desired[T any](w *wiring, gk schema.GroupKind, namespace string) ([]*T, error) {
	var found []*unstructured.Unstructured
	for _, name := range w.sys.AppNames() {
		for _, o := range w.resources[name] {
			if ref := w.refOf(o); ref.GroupKind() == gk && ref.Namespace == namespace {
				placed := o.DeepCopy()
				placed.SetNamespace(namespace)
				found = append(found, placed)
			}
		}
	}
	return convert[T](found)
}

// provider is what serves a port: a Service and the workload behind it.
type provider struct {
	connection.Endpoint
	// workload is what runs the pods; of a Service whose pods are unknown only the selector.
	workload *connection.Workload
}

// connectPort sets the address of a port, and lets the consumer reach it.
func (w *wiring) connectPort(ctx context.Context, conn *system.Connection, to object.Ref, paths []string) error {
	target := w.created(conn.To.App, to)
	if target == nil {
		return hint.With(fmt.Errorf("%s creates no %s", conn.To.App, to), "name an object that it creates")
	}
	p, err := w.provider(ctx, conn)
	if err != nil || p == nil { // Without a cluster what the manifest does not create is unknown.
		return err
	}
	if w.brings(conn.From.App) && !slices.Contains(w.needs[conn.To.App], conn.From.App) {
		w.needs[conn.To.App] = append(w.needs[conn.To.App], conn.From.App)
	}
	for _, path := range paths {
		if err := w.setAddress(conn, p, target, to, path); err != nil {
			return err
		}
	}
	return w.permit(ctx, conn, p, to)
}

// setAddress sets a field to the part of the address that the connection passes on. A reference of a
// route of the Gateway API is set whole.
func (w *wiring) setAddress(conn *system.Connection, p *provider, target *unstructured.Unstructured, to object.Ref, path string) error {
	flow := connection.Connection{From: p.Service, Path: "metadata.name", To: to, Field: path, Name: conn.From.App}
	if err := connection.Check(flow); err != nil {
		return err
	}
	if isBackendRef(to, path) {
		return w.setBackend(conn, p, target, to, path)
	}
	host := p.Host(to.Namespace)
	var value any = host
	switch conn.From.Value {
	case system.PortNumber:
		value = int64(p.Port)
	case system.HostAndPort:
		value = fmt.Sprintf("%s:%d", host, p.Port)
	}
	if conn.To.Path == "" { // Variables and keys of ConfigMaps are strings.
		return connection.Set(target, path, fmt.Sprint(value))
	}
	return connection.Flow(flow, target, value, w.schema(target.GroupVersionKind()))
}

// provider finds what serves the port of a connection, or makes a Service for it. It is nil if nothing
// of the app is known.
func (w *wiring) provider(ctx context.Context, conn *system.Connection) (*provider, error) {
	a, _ := w.sys.App(conn.From.App)
	objects, err := w.objectsOf(ctx, a, conn.From)
	if err != nil || len(objects) == 0 && w.reader == nil {
		return nil, err
	}
	var workloads []*connection.Workload
	for _, o := range objects {
		workload, err := w.workloadOf(o)
		if err != nil {
			return nil, err
		}
		if workload != nil {
			workloads = append(workloads, workload)
		}
	}
	for _, workload := range workloads {
		services, err := w.services(ctx, workload.Ref.Namespace)
		if err != nil {
			return nil, err
		}
		if e, ok := connection.FindService(services, workload, conn.From.Port); ok {
			return &provider{e, workload}, nil
		}
	}
	for _, o := range objects {
		p, err := w.serviceOf(ctx, a, o, conn.From.Port)
		if p != nil || err != nil {
			return p, err
		}
	}
	if len(workloads) == 0 {
		return nil, hint.With(fmt.Errorf("no Service of app %s serves port %s", a.Name, conn.From.Port), "name its Service with from.root, or use a field of its status with from.path")
	}
	return w.newService(ctx, conn, workloads)
}

// objectsOf returns the objects of an app that may serve a port: the root of the connection, or all
// roots. Those that the manifest does not create are read.
func (w *wiring) objectsOf(ctx context.Context, a *system.App, e system.End) ([]*unstructured.Unstructured, error) {
	roots := a.Roots
	if e.Root.Name != "" {
		roots = []system.Root{e.Root}
	}
	var out []*unstructured.Unstructured
	for _, root := range roots {
		ref, err := w.endOf(a, system.End{App: a.Name, Root: root})
		if err != nil && e.Root.Name == "" {
			continue // a group of objects, such as helm/NAME, or of a kind that is not served yet
		}
		if err != nil {
			return nil, err
		}
		if o := w.created(a.Name, ref); o != nil {
			out = append(out, o)
			continue
		}
		kind, ok := w.kinds.Kind(ref.GroupKind())
		if w.reader == nil || !ok {
			continue
		}
		w.reads = append(w.reads, permission.Permission{Verb: "get", Group: kind.Group, Resource: kind.Plural, Namespace: ref.Namespace, Name: ref.Name})
		o, err := w.reader.Get(ctx, kind, ref.Namespace, ref.Name)
		switch {
		case apierrors.IsNotFound(err):
			w.notes = append(w.notes, fmt.Sprintf("%s: %s does not exist", a.Name, ref))
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", ref, err)
		default:
			out = append(out, o)
		}
	}
	return out, nil
}

// services returns the Services of a namespace, those that the System creates first.
func (w *wiring) services(ctx context.Context, namespace string) ([]*corev1.Service, error) {
	near, err := w.around(ctx, namespace)
	if err != nil {
		return nil, err
	}
	created, err := desired[corev1.Service](w, schema.GroupKind{Kind: "Service"}, namespace)
	if err != nil {
		return nil, err
	}
	existing, err := convert[corev1.Service](near.services)
	return append(created, existing...), err
}

// serviceOf returns the port that an object serves as a Service, or by a Service that it owns.
func (w *wiring) serviceOf(ctx context.Context, a *system.App, o *unstructured.Unstructured, port string) (*provider, error) {
	ref := w.refOf(o)
	services, err := w.services(ctx, ref.Namespace)
	if err != nil {
		return nil, err
	}
	if ref.Kind == "Service" && ref.Group == "" {
		placed := o.DeepCopy()
		placed.SetNamespace(ref.Namespace)
		if services, err = convert[corev1.Service]([]*unstructured.Unstructured{placed}); err != nil {
			return nil, err
		}
	}
	for _, s := range services {
		root := ref.Kind == "Service" && ref.Group == "" && s.Name == ref.Name
		owned := o.GetUID() != "" && slices.ContainsFunc(s.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == o.GetUID() })
		if !root && !owned {
			continue
		}
		behind, err := w.behind(ctx, a, s)
		if err != nil {
			return nil, err
		}
		if e, ok := connection.ServicePort(s, behind, port); ok {
			return &provider{e, behind}, nil
		}
	}
	return nil, nil
}

// behind returns the workload of an app that a Service selects, or else what its selector and a pod
// of it say.
func (w *wiring) behind(ctx context.Context, a *system.App, s *corev1.Service) (*connection.Workload, error) {
	objects, err := w.objectsOf(ctx, a, system.End{})
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if workload, err := w.workloadOf(o); err != nil || workload != nil && connection.Serves(s, workload) {
			return workload, err
		}
	}
	out := &connection.Workload{Ref: object.Ref{Kind: "Service", Namespace: s.Namespace, Name: s.Name}, Selector: &metav1.LabelSelector{MatchLabels: s.Spec.Selector}}
	out.Template.Labels = s.Spec.Selector
	kind, ok := w.kinds.Kind(schema.GroupKind{Kind: "Pod"})
	if w.reader == nil || !ok || len(s.Spec.Selector) == 0 {
		return out, nil
	}
	w.reads = append(w.reads, permission.Permission{Verb: "list", Resource: kind.Plural, Namespace: s.Namespace, Optional: true})
	pods, err := w.reader.List(ctx, kind, s.Namespace, labels.SelectorFromSet(s.Spec.Selector).String())
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("list pods in %s: %w", s.Namespace, err)
	}
	if len(pods) > 0 {
		pod, err := connection.WorkloadOf(pods[0])
		if err != nil {
			return nil, err
		}
		out.Template = pod.Template
	}
	return out, nil
}

// newService makes the Service for the port of a connection.
func (w *wiring) newService(ctx context.Context, conn *system.Connection, workloads []*connection.Workload) (*provider, error) {
	var s *corev1.Service
	var p *provider
	var failed error
	for _, workload := range workloads {
		near, err := w.around(ctx, workload.Ref.Namespace)
		if err != nil {
			return nil, err
		}
		if err := near.unread["Service"]; err != nil {
			return nil, hint.With(fmt.Errorf("whether a Service serves port %s of %s is unknown: %w", conn.From.Port, workload.Ref, err), "name its Service with from.root")
		}
		name, err := w.serviceName(ctx, conn, workload)
		if err != nil {
			return nil, err
		}
		created, e, err := connection.NewService(name, workload, conn.From.Port)
		if err == nil {
			s, p = created, &provider{e, workload}
			break
		}
		failed = cmp.Or(failed, err)
	}
	if s == nil {
		return nil, failed
	}
	return p, w.create(ctx, w.ownerOf(conn), s, fmt.Sprintf("port %s of %s, which no Service serves", conn.From.Port, p.workload.Ref))
}

// serviceName is the name of a Service to make: the one that a StatefulSet names and that does not
// exist, or APP-PORT.
func (w *wiring) serviceName(ctx context.Context, conn *system.Connection, workload *connection.Workload) (string, error) {
	services, err := w.services(ctx, workload.Ref.Namespace)
	if err != nil {
		return "", err
	}
	governing := workload.ServiceName
	if governing == "" || slices.ContainsFunc(services, func(s *corev1.Service) bool { return s.Name == governing }) {
		return conn.From.App + "-" + conn.From.Port, nil
	}
	return governing, nil
}

// ownerOf is the app that creates an object beside the provider of a connection.
func (w *wiring) ownerOf(conn *system.Connection) string {
	if w.brings(conn.From.App) {
		return conn.From.App
	}
	return conn.To.App
}

// create adds an object of a connection to an app, once, and notes it in the plan unless an earlier
// run created it.
func (w *wiring) create(ctx context.Context, owner string, o any, purpose string) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{Object: fields}
	delete(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	ref := object.RefOf(u)
	for _, name := range w.sys.AppNames() {
		if w.created(name, ref) != nil {
			return nil
		}
	}
	w.resources[owner] = append(w.resources[owner], u)
	near, err := w.around(ctx, ref.Namespace)
	if err == nil && !near.own[ref] {
		w.notes = append(w.notes, fmt.Sprintf("%s: creates %s for %s", owner, ref, purpose))
	}
	return err
}
