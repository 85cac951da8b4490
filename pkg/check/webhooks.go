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

// Webhook is one webhook of a configuration, with the API server's defaults.
type Webhook struct {
	Config object.Ref
	// field is its path: webhooks[2].
	Field string
	Name  string
	// service answers the calls; the zero Ref where a URL does.
	Service object.Ref
	Port    int32
	CA      bool
	// written is set where it was read from a manifest, and not from a cluster.
	Written    bool
	Rules      []admissionv1.RuleWithOperations
	Fails      bool
	Timeout    int32
	Namespaces *metav1.LabelSelector
	Objects    *metav1.LabelSelector
	Conditions int
}

// UnknownBundle is the reason why the CA bundle of a webhook in a manifest is unknown: many
// operators fill it in once they run, and so does cert-manager for others.
const UnknownBundle = "its manifest has no caBundle, and only a cluster shows what fills it in"

// IsManifest reports whether an object was never in a cluster: the API server gives each a
// UID.
func IsManifest(m *metav1.ObjectMeta) bool { return m.UID == "" && m.ResourceVersion == "" }

// Webhooks returns all admission webhooks, in the order of their configurations.
func (w *ClusterState) Webhooks() []*Webhook {
	var out []*Webhook
	add := func(kind string, config *metav1.ObjectMeta, i int, h *admissionv1.ValidatingWebhook) {
		one := &Webhook{
			Config: object.Ref{Group: admissionv1.GroupName, Kind: kind, Name: config.Name}, Written: IsManifest(config),
			Field: fmt.Sprintf("webhooks[%d]", i), Name: h.Name, CA: len(h.ClientConfig.CABundle) > 0,
			Rules: h.Rules, Fails: h.FailurePolicy == nil || *h.FailurePolicy == admissionv1.Fail,
			Timeout: 10, Namespaces: h.NamespaceSelector, Objects: h.ObjectSelector, Conditions: len(h.MatchConditions),
		}
		if h.TimeoutSeconds != nil {
			one.Timeout = *h.TimeoutSeconds
		}
		if s := h.ClientConfig.Service; s != nil {
			one.Service, one.Port = object.Ref{Kind: "Service", Namespace: s.Namespace, Name: s.Name}, 443
			if s.Port != nil {
				one.Port = *s.Port
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

// WorkloadsBehind returns the workloads whose pods a Service selects, in order; if none has
// pods, those whose template it would select.
func (w *ClusterState) WorkloadsBehind(service object.Ref) []*Workload {
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

// Answer is the reason why a Service does not answer, or why that is unknown. Both are empty
// where it has a ready pod.
type Answer struct{ Wrong, Unknown string }

// Answers checks a Service and the pods behind it.
func (w *ClusterState) Answers(service object.Ref, port int32) Answer {
	name := "Service " + service.Namespace + "/" + service.Name
	s, ok := Of[*corev1.Service](w.Facts, service)
	switch {
	case !ok && !w.Read(schema.GroupKind{Kind: "Service"}, service.Namespace):
		return Answer{Unknown: name + " was not read"}
	case !ok:
		return Answer{Wrong: name + " does not exist"}
	case !slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port }) && s.Spec.Type != corev1.ServiceTypeExternalName:
		return Answer{Wrong: fmt.Sprintf("%s has no port %d", name, port)}
	case len(s.Spec.Selector) == 0:
		return Answer{Unknown: name + " selects no pods, and its endpoints are not checked"}
	case !w.Read(schema.GroupKind{Kind: "Pod"}, service.Namespace):
		return Answer{Unknown: "the pods behind " + name + " were not read"}
	}
	sel := labels.SelectorFromSet(s.Spec.Selector)
	selected := 0
	for _, p := range All[*corev1.Pod](w.Facts, "", "Pod") {
		if p.Namespace != service.Namespace || !sel.Matches(labels.Set(p.Labels)) {
			continue
		}
		if selected++; PodReady(p) || s.Spec.PublishNotReadyAddresses {
			return Answer{}
		}
	}
	if selected == 0 {
		return Answer{Wrong: "no pod is behind " + name}
	}
	return Answer{Wrong: fmt.Sprintf("none of the %s behind %s is ready", object.Count(selected, "pod"), name)}
}
