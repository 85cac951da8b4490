package installer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/netpolicy"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

const gatewayGroup = "gateway.networking.k8s.io"

// isBackendRef reports whether a field is a reference to a backend in a route of the Gateway API.
func isBackendRef(to object.Ref, path string) bool {
	_, last, ok := cutLast(path, "backendRefs[")
	return ok && to.Group == gatewayGroup && strings.HasSuffix(to.Kind, "Route") && strings.Index(last, "]") == len(last)-1
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// setBackend sets the reference of a route to a Service. Into another namespace it needs a grant
// there.
func (w *wiring) setBackend(conn *system.Connection, p *provider, target *unstructured.Unstructured, to object.Ref, path string) error {
	fields := map[string]any{}
	if was, err := connection.Resolve(target, path); err == nil {
		if was, ok := was.(map[string]any); ok {
			fields = was
		}
	}
	delete(fields, "namespace")
	fields["name"], fields["port"] = p.Service.Name, int64(p.Port)
	if p.Service.Namespace != to.Namespace {
		fields["namespace"] = p.Service.Namespace
		w.grant(conn, p, to)
	}
	return connection.Set(target, path, fields)
}

// grant adds the ReferenceGrant that lets a route refer to a Service of another namespace.
func (w *wiring) grant(conn *system.Connection, p *provider, to object.Ref) {
	version := "v1beta1"
	if slices.Contains(w.apis, gatewayGroup+"/v1/ReferenceGrant") {
		version = "v1"
	}
	ref := object.Ref{Group: gatewayGroup, Kind: "ReferenceGrant", Namespace: p.Service.Namespace, Name: p.Service.Name + "-from-" + strings.ToLower(to.Kind) + "-" + to.Namespace}
	owner := w.ownerOf(conn)
	if w.created(owner, ref) != nil {
		return
	}
	w.resources[owner] = append(w.resources[owner], &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gatewayGroup + "/" + version, "kind": ref.Kind,
		"metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace},
		"spec": map[string]any{
			"from": []any{map[string]any{"group": gatewayGroup, "kind": to.Kind, "namespace": to.Namespace}},
			"to":   []any{map[string]any{"group": "", "kind": "Service", "name": p.Service.Name}},
		},
	}})
	w.noteOnce("%s: creates %s, because %s refers to another namespace", owner, ref, to)
}

// permit makes the rules that let the consumers reach a provider, where NetworkPolicies restrict them.
func (w *wiring) permit(ctx context.Context, conn *system.Connection, p *provider, to object.Ref) error {
	if len(p.workload.Template.Labels) == 0 {
		return nil // a Service without a selector: its pods are unknown
	}
	consumers, err := w.consumers(conn, to)
	if err != nil {
		return err
	}
	for _, namespace := range append([]string{p.workload.Ref.Namespace}, namespacesOf(consumers)...) {
		near, err := w.around(ctx, namespace)
		if err != nil {
			return err
		}
		if err := near.unread["NetworkPolicy"]; err != nil {
			w.noteOnce("%s: whether NetworkPolicies restrict it in %s is unknown: %v", conn.To.App, namespace, err)
		}
	}
	for _, consumer := range consumers {
		if err := w.permitIngress(ctx, conn, p, consumer); err != nil {
			return err
		}
		if err := w.permitEgress(ctx, conn, p, consumer); err != nil {
			return err
		}
	}
	return nil
}

func namespacesOf(workloads []*connection.Workload) (out []string) {
	for _, w := range workloads {
		out = append(out, w.Ref.Namespace)
	}
	return out
}

func (w *wiring) noteOnce(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(w.notes, text) {
		w.notes = append(w.notes, text)
	}
}

// consumers are the workloads that use the value: the one that it is written to, or all of the app.
func (w *wiring) consumers(conn *system.Connection, to object.Ref) ([]*connection.Workload, error) {
	var out []*connection.Workload
	for _, o := range w.resources[conn.To.App] {
		workload, err := w.workloadOf(o)
		if err != nil {
			return nil, err
		}
		if workload == nil {
			continue
		}
		if workload.Ref == to {
			return []*connection.Workload{workload}, nil
		}
		out = append(out, workload)
	}
	return out, nil
}

// policies returns the NetworkPolicies of a namespace but for those of connections.
func (w *wiring) policies(ctx context.Context, namespace string) ([]*networkingv1.NetworkPolicy, map[string]string, error) {
	near, err := w.around(ctx, namespace)
	if err != nil {
		return nil, nil, err
	}
	created, err := desired[networkingv1.NetworkPolicy](w, schema.GroupKind{Group: networkingv1.GroupName, Kind: "NetworkPolicy"}, namespace)
	if err != nil {
		return nil, nil, err
	}
	created = slices.DeleteFunc(created, func(p *networkingv1.NetworkPolicy) bool { return p.Annotations[connectionAnnotation] != "" })
	return append(created, near.policies...), near.labels, nil
}

// connectionAnnotation is on the NetworkPolicies of connections: who connects to what.
const connectionAnnotation = "sysop.dev/connection"

func (w *wiring) permitIngress(ctx context.Context, conn *system.Connection, p *provider, consumer *connection.Workload) error {
	policies, inside, err := w.policies(ctx, p.workload.Ref.Namespace)
	if err != nil {
		return err
	}
	near, err := w.around(ctx, consumer.Ref.Namespace)
	if err != nil {
		return err
	}
	answer := netpolicy.Ingress(policies, consumer.Pod(near.labels), p.workload.Pod(inside), p.Target)
	if answer.Verdict == netpolicy.Allowed {
		return nil
	}
	if consumer.Template.Spec.HostNetwork {
		w.noteOnce("%s: the pods of %s use the network of their nodes, and %s restricts %s: whether they may connect is unknown", conn.To.App, consumer.Ref, names(answer.Policies), p.workload.Ref)
		return nil
	}
	name := conn.From.App + "-" + conn.From.Port + "-from-" + consumer.Ref.Name
	rule, err := connection.AllowIngress(w.policyName(name, p.workload.Ref.Namespace, conn, consumer), p.workload, consumer, p.Target)
	if err != nil {
		return err
	}
	return w.createPolicy(ctx, w.ownerOf(conn), conn, rule, consumer, fmt.Sprintf("%s, which %s keeps from port %s of %s", consumer.Ref, names(answer.Policies), conn.From.Port, p.workload.Ref))
}

// permitEgress lets the consumer leave for the port, and says whether it reaches the DNS.
func (w *wiring) permitEgress(ctx context.Context, conn *system.Connection, p *provider, consumer *connection.Workload) error {
	policies, inside, err := w.policies(ctx, consumer.Ref.Namespace)
	if err != nil {
		return err
	}
	near, err := w.around(ctx, p.workload.Ref.Namespace)
	if err != nil {
		return err
	}
	from := consumer.Pod(inside)
	answer := netpolicy.Egress(policies, from, p.workload.Pod(near.labels), p.Target)
	if len(answer.Policies) == 0 {
		return nil
	}
	dns := netpolicy.Pod{Namespace: "kube-system", Labels: map[string]string{"k8s-app": "kube-dns"}}
	if netpolicy.Egress(policies, from, dns, netpolicy.Port{Protocol: corev1.ProtocolUDP, Number: 53, Names: []string{"dns"}}).Verdict != netpolicy.Allowed {
		w.noteOnce("%s: %s restricts what %s connects to, and does not surely allow the DNS (UDP 53 of kube-system): %s may not be resolved", conn.To.App, names(answer.Policies), consumer.Ref, p.Host(consumer.Ref.Namespace))
	}
	if answer.Verdict == netpolicy.Allowed {
		return nil
	}
	if p.workload.Template.Spec.HostNetwork {
		w.noteOnce("%s: the pods of %s use the network of their nodes, and %s restricts what %s connects to: whether it may connect is unknown", conn.To.App, p.workload.Ref, names(answer.Policies), consumer.Ref)
		return nil
	}
	name := consumer.Ref.Name + "-to-" + conn.From.App + "-" + conn.From.Port
	rule, err := connection.AllowEgress(w.policyName(name, consumer.Ref.Namespace, conn, consumer), p.workload, consumer, p.Target)
	if err != nil {
		return err
	}
	return w.createPolicy(ctx, conn.To.App, conn, rule, consumer, fmt.Sprintf("%s, which %s keeps from leaving for port %s of %s", consumer.Ref, names(answer.Policies), conn.From.Port, p.workload.Ref))
}

// purposeOf identifies what a policy of a connection allows.
func purposeOf(conn *system.Connection, consumer *connection.Workload) string {
	return consumer.Ref.String() + " to " + conn.From.App + ":" + conn.From.Port
}

// policyName returns a name, or one with the kind of the consumer if another one has it.
func (w *wiring) policyName(name, namespace string, conn *system.Connection, consumer *connection.Workload) string {
	ref := object.Ref{Group: networkingv1.GroupName, Kind: "NetworkPolicy", Namespace: namespace, Name: name}
	for _, app := range w.sys.AppNames() {
		if o := w.created(app, ref); o != nil && o.GetAnnotations()[connectionAnnotation] != purposeOf(conn, consumer) {
			return name + "-" + strings.ToLower(consumer.Ref.Kind)
		}
	}
	return name
}

func (w *wiring) createPolicy(ctx context.Context, owner string, conn *system.Connection, rule *networkingv1.NetworkPolicy, consumer *connection.Workload, purpose string) error {
	rule.Annotations = map[string]string{connectionAnnotation: purposeOf(conn, consumer)}
	return w.create(ctx, owner, rule, purpose)
}

func names(policies []*networkingv1.NetworkPolicy) string {
	var out []string
	for _, p := range policies {
		out = append(out, "NetworkPolicy/"+p.Name)
	}
	slices.SortFunc(out, cmp.Compare[string])
	return strings.Join(out, ", ")
}
