package check

import (
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// coreosWebhook is one webhook of a configuration, with the API server's defaults.
type coreosWebhook struct {
	config object.Ref
	// field is its place: webhooks[2].
	field string
	name  string
	// service is who answers; the zero Ref where it is asked by a URL.
	service object.Ref
	port    int32
	ca      bool
	// written says that it was read from a manifest, and not from a cluster.
	written    bool
	rules      []admissionv1.RuleWithOperations
	fails      bool
	timeout    int32
	namespaces *metav1.LabelSelector
	objects    *metav1.LabelSelector
	conditions int
}

// coreosWritten is what is not known of a webhook in a manifest: many an operator, and
// cert-manager for others, fills in the bundle once it runs.
const coreosWritten = "its manifest has no caBundle, and only a cluster shows what fills it in"

// manifestOnly says that an object was never in a cluster: the API server gives each a UID.
func manifestOnly(m *metav1.ObjectMeta) bool { return m.UID == "" && m.ResourceVersion == "" }

// admissionWebhooks returns all webhooks that are asked before objects are stored, in the
// order of their configurations.
func (w *ClusterState) admissionWebhooks() []*coreosWebhook {
	var out []*coreosWebhook
	add := func(kind string, config *metav1.ObjectMeta, i int, h *admissionv1.ValidatingWebhook) {
		one := &coreosWebhook{
			config: object.Ref{Group: admissionv1.GroupName, Kind: kind, Name: config.Name}, written: manifestOnly(config),
			field: fmt.Sprintf("webhooks[%d]", i), name: h.Name, ca: len(h.ClientConfig.CABundle) > 0,
			rules: h.Rules, fails: h.FailurePolicy == nil || *h.FailurePolicy == admissionv1.Fail,
			timeout: 10, namespaces: h.NamespaceSelector, objects: h.ObjectSelector, conditions: len(h.MatchConditions),
		}
		if h.TimeoutSeconds != nil {
			one.timeout = *h.TimeoutSeconds
		}
		if s := h.ClientConfig.Service; s != nil {
			one.service, one.port = object.Ref{Kind: "Service", Namespace: s.Namespace, Name: s.Name}, 443
			if s.Port != nil {
				one.port = *s.Port
			}
		}
		out = append(out, one)
	}
	for _, c := range All[*admissionv1.MutatingWebhookConfiguration](w.Facts, admissionv1.GroupName, "MutatingWebhookConfiguration") {
		for i := range c.Webhooks {
			h := &c.Webhooks[i]
			add("MutatingWebhookConfiguration", &c.ObjectMeta, i, &admissionv1.ValidatingWebhook{
				Name: h.Name, ClientConfig: h.ClientConfig, Rules: h.Rules, FailurePolicy: h.FailurePolicy, TimeoutSeconds: h.TimeoutSeconds,
				NamespaceSelector: h.NamespaceSelector, ObjectSelector: h.ObjectSelector, MatchConditions: h.MatchConditions,
			})
		}
	}
	for _, c := range All[*admissionv1.ValidatingWebhookConfiguration](w.Facts, admissionv1.GroupName, "ValidatingWebhookConfiguration") {
		for i := range c.Webhooks {
			add("ValidatingWebhookConfiguration", &c.ObjectMeta, i, &c.Webhooks[i])
		}
	}
	return out
}

// behindService returns the workloads whose pods a Service selects, in order; of none that
// has pods, those whose template it would select.
func (w *ClusterState) behindService(service object.Ref) []*Workload {
	s, ok := Of[*corev1.Service](w.Facts, service)
	if !ok || len(s.Spec.Selector) == 0 {
		return nil
	}
	sel := labels.SelectorFromSet(s.Spec.Selector)
	var out []*Workload
	for _, wl := range w.workloads {
		if wl.Ref.Namespace != service.Namespace {
			continue
		}
		live := slices.ContainsFunc(wl.Pods, func(p *corev1.Pod) bool { return sel.Matches(labels.Set(p.Labels)) })
		if live || wl.Template != nil && sel.Matches(labels.Set(wl.Template.Labels)) {
			out = append(out, wl)
		}
	}
	return out
}

// coreosAnswer says why a Service does not answer, or why that is not known. Of neither it
// has a ready pod behind it.
type coreosAnswer struct{ wrong, unknown string }

// answers looks at a Service and the pods behind it.
func (w *ClusterState) answers(service object.Ref, port int32) coreosAnswer {
	name := "Service " + service.Namespace + "/" + service.Name
	s, ok := Of[*corev1.Service](w.Facts, service)
	switch {
	case !ok && !w.Read(schema.GroupKind{Kind: "Service"}, service.Namespace):
		return coreosAnswer{unknown: name + " was not read"}
	case !ok:
		return coreosAnswer{wrong: name + " does not exist"}
	case !slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port }) && s.Spec.Type != corev1.ServiceTypeExternalName:
		return coreosAnswer{wrong: fmt.Sprintf("%s has no port %d", name, port)}
	case len(s.Spec.Selector) == 0:
		return coreosAnswer{unknown: name + " selects no pods, and its endpoints are not checked"}
	case !w.Read(schema.GroupKind{Kind: "Pod"}, service.Namespace):
		return coreosAnswer{unknown: "the pods behind " + name + " were not read"}
	}
	sel := labels.SelectorFromSet(s.Spec.Selector)
	selected := 0
	for _, p := range All[*corev1.Pod](w.Facts, "", "Pod") {
		if p.Namespace != service.Namespace || !sel.Matches(labels.Set(p.Labels)) {
			continue
		}
		if selected++; podReady(p) || s.Spec.PublishNotReadyAddresses {
			return coreosAnswer{}
		}
	}
	if selected == 0 {
		return coreosAnswer{wrong: "no pod is behind " + name}
	}
	return coreosAnswer{wrong: fmt.Sprintf("none of the %s behind %s is ready", object.Count(selected, "pod"), name)}
}
