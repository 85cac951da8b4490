// Package monitoring reads the stacks of a System or of roots from a cluster or a snapshot, and answers
// how they are monitored: package monitor plans from what is read here. A request goes in and a
// result comes out.
package monitoring

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Request says what is monitored: a System, or the stacks of roots.
type Request struct {
	System *system.System
	Roots  []string
	// Desired are objects of the apps that may not be in the cluster yet, by app. Those of the
	// manifest are among them already.
	Desired map[string][]*unstructured.Unstructured
}

// everywhere are the kinds that are read in all namespaces.
var everywhere = []schema.GroupKind{
	{Kind: "Namespace"},
	{Group: monitor.OperatorGroup, Kind: "Prometheus"},
	{Group: monitor.OperatorGroup, Kind: "PrometheusAgent"},
	{Group: monitor.OperatorGroup, Kind: "ServiceMonitor"},
	{Group: monitor.OperatorGroup, Kind: "PodMonitor"},
	{Group: monitor.OperatorGroup, Kind: "ScrapeConfig"},
	{Group: "grafana.integreatly.org", Kind: "Grafana"},
}

// New reads the stacks of a request, and plans their monitoring. The session, and the graph that it
// made, are for the notes of the command.
func New(ctx context.Context, input *app.Input, req Request) (*monitor.Plan, *app.Session, *graph.Graph, error) {
	in := *input
	in.Extract = slices.Clone(in.Extract)
	r := &reading{in: &in, req: req, objects: map[object.Ref]*unstructured.Unstructured{}, known: map[schema.GroupKind]bool{}}
	if err := r.read(ctx); err != nil {
		return nil, nil, nil, err
	}
	scope := r.scope()
	r.readPrices(ctx, &scope)
	return monitor.Make(scope), r.session, r.graph, nil
}

// Installation is the name of the installation that has the monitors of a root: TYPE/NAME,
// TYPE/NAMESPACE/NAME, or the NAME of a System.
func Installation(ctx context.Context, input *app.Input, root string) (string, error) {
	if !strings.Contains(root, "/") {
		return monitor.Installation(root), nil
	}
	in := *input
	session, err := in.Open(ctx)
	if err != nil {
		return "", err
	}
	roots, err := app.ParseRoots([]string{root}, session.Kinds)
	if err != nil {
		return "", err
	}
	return monitor.Installation(monitor.NameOf(cmp.Or(roots[0].Group, roots[0].Kind.Kind), roots[0].Name)), nil
}

// reading reads a scope.
type reading struct {
	in      *app.Input
	req     Request
	session *app.Session
	graph   *graph.Graph

	mu      sync.Mutex
	objects map[object.Ref]*unstructured.Unstructured
	known   map[schema.GroupKind]bool

	apps  []monitor.App
	nodes [][]graph.ID
	// first names the scope where no System does.
	first string
	gaps  []object.Gap
}

func (r *reading) read(ctx context.Context) error {
	if err := r.findSystem(ctx); err != nil {
		return err
	}
	r.in.CollectWhole(r.collect)
	var err error
	if r.session, err = r.in.Open(ctx); err != nil {
		return err
	}
	s := r.session
	roots, apps, err := r.roots()
	if err != nil {
		return err
	}
	ask := s.Query(roots)
	for _, gk := range everywhere {
		if _, served := s.Kinds.Kind(gk); served && !ask.All && !slices.Contains(ask.Kinds, gk) {
			ask.Kinds = append(ask.Kinds, gk)
		}
	}
	if r.graph, err = s.Read(ctx, ask, func(g *graph.Graph) []graph.ID { return s.Resolve(g, roots, nil) }, r.in.StackOptions()); err != nil {
		return err
	}
	if r.req.System == nil {
		if err := s.Missing(r.graph, roots, nil); err != nil {
			return err
		}
	}
	r.group(roots, apps)
	return nil
}

// findSystem takes the manifest of an adopted System where that is the one root.
func (r *reading) findSystem(ctx context.Context) error {
	var err error
	if name, adopted := strings.CutPrefix(strings.Join(r.req.Roots, " "), graph.BySystem+"/"); r.req.System == nil && adopted && !strings.ContainsAny(name, " /") {
		if r.req.System, err = systems.Named(ctx, r.in, name); err != nil {
			return err
		}
	}
	if r.req.System == nil {
		return nil
	}
	r.req.Roots = nil
	return systems.Enter(r.in, r.req.System)
}

// roots are those of the apps, each with the name of its app; empty where it is not of a System.
func (r *reading) roots() (roots []app.Root, apps []string, err error) {
	if r.req.System == nil {
		roots, err = app.ParseRoots(r.req.Roots, r.session.Kinds)
		return roots, make([]string, len(roots)), err
	}
	for i := range r.req.System.Apps {
		a := &r.req.System.Apps[i]
		for _, root := range a.Roots {
			one, err := app.ParseRoots([]string{root.String()}, r.session.Kinds)
			if err != nil {
				r.gaps = append(r.gaps, object.Gap{Resource: root.String(), Reason: "NotServed", Message: err.Error()})
				continue
			}
			roots, apps = append(roots, one...), append(apps, a.Name)
		}
	}
	return roots, apps, nil
}

// group makes the apps, with their roots.
func (r *reading) group(roots []app.Root, apps []string) {
	if r.req.System != nil {
		for i := range r.req.System.Apps {
			a := &r.req.System.Apps[i]
			r.apps, r.nodes = append(r.apps, monitor.App{Name: a.Name, Setting: a.Monitoring}), append(r.nodes, nil)
		}
	}
	for i, root := range roots {
		nodes := r.session.Nodes(r.graph, root, nil)
		if apps[i] != "" {
			at := slices.IndexFunc(r.apps, func(a monitor.App) bool { return a.Name == apps[i] })
			r.nodes[at] = append(r.nodes[at], nodes...)
			continue
		}
		for _, stack := range r.session.StacksOf(r.graph, root, nodes) {
			name := stack.Ref.Name
			r.first = cmp.Or(r.first, monitor.NameOf(stack.Ref.Kind, name))
			if slices.ContainsFunc(r.apps, func(a monitor.App) bool { return a.Name == name }) {
				name = strings.ToLower(stack.Ref.Kind) + "-" + name
			}
			r.apps, r.nodes = append(r.apps, monitor.App{Name: name}), append(r.nodes, stack.Roots)
		}
	}
}

// scope divides what was read among the apps. What several need, and none has as its own part, is an
// app of its own.
func (r *reading) scope() monitor.Scope {
	g, o := r.graph, r.in.StackOptions()
	s := monitor.Scope{Namespace: r.session.Namespace, Cluster: monitor.Cluster{Gaps: slices.Concat(r.gaps, g.Gaps())}}
	s.Cluster.Serves = func(kind string) bool {
		_, served := r.session.Kinds.Kind(schema.ParseGroupKind(kind))
		return served
	}
	groups := slices.DeleteFunc(slices.Clone(r.nodes), func(ids []graph.ID) bool { return len(ids) == 0 })
	part := g.Divide(groups, nil, o)
	shared := r.divide(part)
	r.addDesired(&s)
	s.Apps = r.apps
	if len(shared.Objects) > 0 {
		s.Apps = append(s.Apps, shared)
	}
	for _, o := range r.objects {
		s.Cluster.Objects = append(s.Cluster.Objects, o)
	}
	r.name(&s)
	return s
}

// divide hands the objects to the apps, and returns those that several apps need and none owns. What
// one app alone needs is its own.
func (r *reading) divide(part map[graph.ID]graph.ID) monitor.App {
	g, o := r.graph, r.in.StackOptions()
	var order []graph.ID
	users := map[graph.ID][]int{}
	for i, ids := range r.nodes {
		if len(ids) == 0 {
			continue
		}
		stack := g.Stack(ids, o)
		for _, id := range stack.Members() {
			_, read := r.objects[g.Ref(id)]
			root, own := part[id]
			if !read || stack.Boundary(id) || g.State(id) != graph.Present || own && root != ids[0] {
				continue
			}
			if users[id] == nil {
				order = append(order, id)
			}
			users[id] = append(users[id], i)
		}
	}
	shared := monitor.App{Name: r.unused("shared"), Parts: map[object.Ref][]string{}}
	for _, id := range order {
		found := r.objects[g.Ref(id)]
		if all := users[id]; len(all) == 1 {
			r.apps[all[0]].Objects = append(r.apps[all[0]].Objects, found)
			continue
		}
		shared.Objects = append(shared.Objects, found)
		if !isMonitored(found) {
			continue
		}
		for _, i := range users[id] {
			name := r.apps[i].Name
			shared.Parts[object.RefOf(found)] = append(shared.Parts[object.RefOf(found)], name)
			if !slices.Contains(shared.UsedBy, name) {
				shared.UsedBy = append(shared.UsedBy, name)
			}
		}
	}
	if len(shared.UsedBy) == 0 {
		return monitor.App{}
	}
	return shared
}

// unused is a name that no app has: the name itself, else with a number.
func (r *reading) unused(name string) string {
	out := name
	for n := 2; slices.ContainsFunc(r.apps, func(a monitor.App) bool { return a.Name == out }); n++ {
		out = fmt.Sprintf("%s-%d", name, n)
	}
	return out
}

// isMonitored says whether targets or alerts may be about an object.
func isMonitored(o *unstructured.Unstructured) bool {
	switch object.RefOf(o).GroupKind().String() {
	case "Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "Pod", "PersistentVolumeClaim", "Job.batch", "CronJob.batch", "Certificate.cert-manager.io":
		return true
	}
	return false
}

// addDesired adds the objects of the manifest: those that the cluster has get the fields that they
// will have, as the ports of a template.
func (r *reading) addDesired(s *monitor.Scope) {
	if r.req.System == nil {
		return
	}
	for i := range r.req.System.Apps {
		a := &r.req.System.Apps[i]
		for _, o := range slices.Concat(a.Resources, r.req.Desired[a.Name]) {
			o = o.DeepCopy()
			if o.GetNamespace() == "" {
				o.SetNamespace(s.Namespace)
			}
			switch ref := object.RefOf(o); {
			case !r.interests(ref.GroupKind()):
			case r.objects[ref] != nil:
				overlay(r.objects[ref].Object, o.Object)
			default:
				r.objects[ref] = o
				r.apps[i].Objects = append(r.apps[i].Objects, o)
			}
		}
	}
}

// overlay sets the fields of an object that another one states. Lists are replaced.
func overlay(fields, stated map[string]any) {
	for key, value := range stated {
		inner, isMap := value.(map[string]any)
		if has, ok := fields[key].(map[string]any); isMap && ok {
			overlay(has, inner)
			continue
		}
		fields[key] = value
	}
}

// name names the scope after the System, or the first root.
func (r *reading) name(s *monitor.Scope) {
	if sys := r.req.System; sys != nil {
		s.Name, s.System, s.Settings = sys.Name, true, sys.Monitoring
	} else {
		s.Name = r.first
	}
	for _, ids := range r.nodes {
		if s.Namespace == "" && len(ids) > 0 {
			s.Namespace = r.graph.Ref(ids[0]).Namespace
		}
	}
}

// readPrices reads the price book of the System, or the default one.
func (r *reading) readPrices(ctx context.Context, s *monitor.Scope) {
	name := ""
	if r.req.System != nil {
		name = r.req.System.Chargeback.Prices
	}
	book, err := app.ReadPrices(ctx, name)
	if err != nil {
		s.Cluster.Gaps = append(s.Cluster.Gaps, object.Gap{Resource: "spec.chargeback.prices", Reason: "Unread", Message: err.Error() + ", so the dashboard has no costs"})
		return
	}
	rates := book.Node(nil, s.Namespace)
	s.Prices = &monitor.Prices{CPU: rates.CPU.Net.String(), Memory: rates.Memory.Net.String(), Currency: book.Currency}
}

// collect keeps the objects that a plan reads; of other custom resources who owns them.
func (r *reading) collect(o object.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gk := o.GroupKind()
	if !r.interests(gk) {
		if strings.Contains(gk.Group, ".") && !strings.HasSuffix(gk.Group, ".k8s.io") {
			u := &unstructured.Unstructured{Object: map[string]any{}}
			u.SetGroupVersionKind(gk.WithVersion(o.Version))
			u.SetNamespace(o.Namespace)
			u.SetName(o.Name)
			u.SetOwnerReferences(o.Meta.GetOwnerReferences())
			r.objects[o.Ref] = u
		}
		return
	}
	var fields map[string]any
	if fields = o.Fields(); fields != nil {
		fields = runtime.DeepCopyJSON(fields)
	} else {
		var err error
		if fields, err = runtime.DefaultUnstructuredConverter.ToUnstructured(o.Body); err != nil {
			r.gaps = append(r.gaps, object.Gap{Resource: o.String(), Reason: "Malformed", Message: fmt.Sprintf("cannot be read: %v", err)})
			return
		}
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(gk.WithVersion(o.Version))
	r.objects[o.Ref] = u
}

// interests says whether a plan reads the objects of a kind.
func (r *reading) interests(gk schema.GroupKind) bool {
	switch gk.String() {
	case "Pod", "Service", "Namespace", "PersistentVolumeClaim", "ReplicationController", "Certificate.cert-manager.io",
		"Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "Job.batch", "CronJob.batch", "HorizontalPodAutoscaler.autoscaling":
		return true
	}
	if slices.Contains(everywhere, gk) {
		return true
	}
	known, looked := r.known[gk]
	if !looked {
		_, known = catalog.MonitoringOf(gk)
		r.known[gk] = known
	}
	return known
}
