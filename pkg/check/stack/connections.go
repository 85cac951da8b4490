package stack

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/netpolicy"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

func connectionRules() []check.Rule {
	return []check.Rule{
		{
			ID: "stack-connection-allowed", Category: check.Security, Severity: check.Error, Guidelines: []check.Guideline{check.MaturityGuideline(12)},
			Title: "Network policies allow the connections that the System declares",
			Why:   "An app that a NetworkPolicy keeps from what it uses waits until its connections time out.",
			Fix:   "Run kubectl sysop upgrade -f FILE: it creates the rule that lets the app in. Or add a NetworkPolicy that allows the connection.",
			Stack: connectionsAllowed,
		},
		{
			ID: "stack-connection-declared", Category: check.Security, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(12)},
			Title: "The System declares the connections between its apps",
			Why:   "A connection that is not declared is forgotten when network policies are written, an app is moved to another namespace or its Service gets another name.",
			Fix:   "Add it to spec.connections: {from: {app: NAME, port: PORT}, to: {app: NAME, env: VARIABLE}}.",
			Stack: connectionsDeclared,
		},
	}
}

// appOf returns the app that a stack is; nil if it is none.
func appOf(s *check.Stack) *check.SystemApp {
	return s.World.System.App(func(root object.Ref) bool {
		return slices.ContainsFunc(s.Stack.Roots(), func(id graph.ID) bool { return s.World.Graph.Ref(id) == root })
	})
}

// objectsOf returns the roots of an app, what they own, and the pods behind its Services.
func objectsOf(w *check.ClusterState, a *check.SystemApp) []object.Ref {
	var out []object.Ref
	for _, root := range a.Roots {
		out = append(append(out, root), w.Owned(root)...)
	}
	for _, ref := range out {
		if ref.GroupKind() == check.ServiceKind {
			out = append(out, check.PodRefs(w.PodsBehind(ref))...)
		}
	}
	return out
}

// end is the workloads of an app as ends of a connection.
func end(w *check.ClusterState, a *check.SystemApp) []*connection.Workload {
	var out []*connection.Workload
	for _, wl := range w.WorkloadsOf(objectsOf(w, a)) {
		one := &connection.Workload{Ref: wl.Ref}
		switch {
		case wl.Template != nil:
			one.Template = *wl.Template
		case len(wl.Pods) > 0:
			one.Template.ObjectMeta, one.Template.Spec = wl.Pods[0].ObjectMeta, wl.Pods[0].Spec
		default:
			continue
		}
		out = append(out, one)
	}
	return out
}

// connectionsAllowed checks the connections by port to which the stack is the consumer.
func connectionsAllowed(s *check.Stack, r *check.Result) {
	a, w := appOf(s), s.World
	if a == nil {
		return
	}
	for _, c := range w.System.Connections {
		from := slices.IndexFunc(w.System.Apps, func(o check.SystemApp) bool { return o.Name == c.From })
		if c.To != a.Name || c.Port == "" || from < 0 {
			continue
		}
		for _, provider := range end(w, &w.System.Apps[from]) {
			port, ok := provider.Target(servicesIn(w, provider.Ref.Namespace), c.Port)
			if !ok {
				continue
			}
			for _, consumer := range end(w, a) {
				if c.Consumer == (object.Ref{}) || c.Consumer == consumer.Ref {
					allowed(w, consumer, provider, port, c.Port, r)
				}
			}
		}
	}
}

func servicesIn(w *check.ClusterState, namespace string) []*corev1.Service {
	return slices.DeleteFunc(slices.Clone(check.All[*corev1.Service](w.Facts, "", "Service")), func(s *corev1.Service) bool { return s.Namespace != namespace })
}

// allowed checks one connection in both namespaces.
func allowed(w *check.ClusterState, consumer, provider *connection.Workload, port netpolicy.Port, name string, r *check.Result) {
	policies := check.All[*networkingv1.NetworkPolicy](w.Facts, check.NetworkPolicyKind.Group, check.NetworkPolicyKind.Kind)
	from, to := podOf(w, consumer), podOf(w, provider)
	verdict := netpolicy.Allowed
	for _, answer := range []struct {
		netpolicy.Answer
		namespace, way, verb string
	}{
		{netpolicy.Ingress(policies, from, to, port), to.Namespace, " no pod of %s connect to port %s of %s", "let"},
		{netpolicy.Egress(policies, from, to, port), from.Namespace, " the pods of %s from leaving for port %s of %s", "keep"},
	} {
		switch {
		case answer.Verdict == netpolicy.Denied:
			related := []object.Ref{provider.Ref}
			for _, p := range answer.Policies {
				related = append(related, object.Ref{Group: check.NetworkPolicyKind.Group, Kind: check.NetworkPolicyKind.Kind, Namespace: p.Namespace, Name: p.Name})
			}
			verb := answer.verb
			if len(answer.Policies) == 1 {
				verb += "s"
			}
			if !w.Read(check.NetworkPolicyKind, answer.namespace) { // one that was not read may allow it
				r.AddUnknown(consumer.Ref, "the network policies of the namespace "+answer.namespace+" were not read")
				return
			}
			r.AddFinding(check.Finding{
				Object: consumer.Ref, Related: related,
				Message: check.DescribeAll(related[1:]) + " " + verb + fmt.Sprintf(answer.way, check.Describe(consumer.Ref), name, check.Describe(provider.Ref)),
			})
			return
		case !w.Read(check.NetworkPolicyKind, answer.namespace):
			r.AddUnknown(consumer.Ref, "the network policies of the namespace "+answer.namespace+" were not read")
			return
		case answer.Verdict == netpolicy.Unknown:
			verdict = netpolicy.Unknown
		}
		if other := w.OtherPolicies(answer.namespace); other != "" {
			r.AddUnknown(consumer.Ref, other)
			return
		}
	}
	if verdict == netpolicy.Unknown {
		r.AddUnknown(consumer.Ref, fmt.Sprintf("only an address range, or labels of a namespace that was not read, may let it connect to port %s of %s", name, check.Describe(provider.Ref)))
		return
	}
	r.Pass(consumer.Ref)
}

func podOf(w *check.ClusterState, wl *connection.Workload) netpolicy.Pod {
	return wl.Pod(w.Labels(object.Ref{Kind: "Namespace", Name: wl.Ref.Namespace}))
}

// connectionsDeclared looks for Services of other apps that the objects of the stack name.
func connectionsDeclared(s *check.Stack, r *check.Result) {
	a, w := appOf(s), s.World
	if a == nil || len(w.System.Connections) == 0 {
		return
	}
	appsOf := map[object.Ref]string{}
	for i := range w.System.Apps {
		if other := &w.System.Apps[i]; other.Name != a.Name {
			for _, ref := range objectsOf(w, other) {
				appsOf[ref] = other.Name
			}
		}
	}
	found := map[string]bool{}
	for _, e := range usesOf(s, objectsOf(w, a)) {
		service := w.Graph.Ref(e.To)
		app := appsOf[service]
		for _, pod := range check.PodRefs(w.PodsBehind(service)) {
			if app == "" {
				app = appsOf[pod]
			}
		}
		declared := slices.ContainsFunc(w.System.Connections, func(c check.SystemConnection) bool { return c.From == app && c.To == a.Name })
		if app == "" || declared || found[app] {
			continue
		}
		found[app] = true
		r.AddFinding(check.Finding{
			Object: w.Graph.Ref(e.From), Field: e.Field, Value: e.Value, Related: []object.Ref{service},
			Message: fmt.Sprintf("%s uses %s of %s, and no connection of the System declares it", a.Name, check.Describe(service), app),
		})
	}
	if len(found) == 0 {
		r.Pass(a.Roots[0])
	}
}

// usesOf returns the edges by which objects need a Service. Owned pods are omitted: their workload says
// the same.
func usesOf(s *check.Stack, own []object.Ref) []graph.Edge {
	return slices.DeleteFunc(s.Stack.Edges(), func(e graph.Edge) bool {
		from, to := s.World.Graph.Ref(e.From), s.World.Graph.Ref(e.To)
		if e.Relation != relation.Needs || e.Peer || to.GroupKind() != check.ServiceKind || !slices.Contains(own, from) {
			return true
		}
		_, owned := s.World.Owner(from)
		return owned && (from.Kind == "Pod" || from.Kind == "ReplicaSet" || from.Kind == "Job")
	})
}
