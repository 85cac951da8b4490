package connection

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-sysop/kubectl-sysop/internal/netpolicy"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Workload is an object with a pod template, at an end of a connection by port.
type Workload struct {
	Ref object.Ref
	// Template is that of its pods, and TemplatePath where it is in the object; empty for a Pod.
	Template     corev1.PodTemplateSpec
	TemplatePath string
	// Selector selects its pods; nil where the object has none, as a CronJob.
	Selector *metav1.LabelSelector
	// ServiceName is that of the Service which a StatefulSet says governs it.
	ServiceName string
}

// templatePaths are the kinds with a pod template, and where it is.
var templatePaths = map[string]string{
	"Deployment.apps": "spec.template", "StatefulSet.apps": "spec.template", "DaemonSet.apps": "spec.template", "ReplicaSet.apps": "spec.template",
	"ReplicationController": "spec.template", "Job.batch": "spec.template", "CronJob.batch": "spec.jobTemplate.spec.template", "Pod": "",
}

// WorkloadOf returns the workload that an object is; nil for other objects.
func WorkloadOf(u *unstructured.Unstructured) (*Workload, error) {
	ref := object.RefOf(u)
	path, ok := templatePaths[ref.GroupKind().String()]
	if !ok {
		return nil, nil
	}
	w := &Workload{Ref: ref, TemplatePath: path}
	var spec struct {
		Template    corev1.PodTemplateSpec `json:"template"`
		JobTemplate struct {
			Spec struct {
				Template corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		} `json:"jobTemplate"`
		Selector    any    `json:"selector"`
		ServiceName string `json:"serviceName"`
	}
	fields, _ := u.Object["spec"].(map[string]any)
	into, from := any(&spec), fields
	if ref.Kind == "Pod" {
		into, from = any(&w.Template), u.Object
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from, into); err != nil {
		return nil, fmt.Errorf("read the pod template of %s: %w", ref, err)
	}
	switch ref.Kind {
	case "Pod":
		return w, nil
	case "CronJob":
		w.Template = spec.JobTemplate.Spec.Template
		return w, nil
	}
	w.Template, w.ServiceName = spec.Template, spec.ServiceName
	if selector, ok := spec.Selector.(map[string]any); ok {
		w.Selector = &metav1.LabelSelector{}
		var err error
		if ref.Kind == "ReplicationController" {
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"matchLabels": selector}, w.Selector)
		} else {
			err = runtime.DefaultUnstructuredConverter.FromUnstructured(selector, w.Selector)
		}
		if err != nil {
			return nil, fmt.Errorf("read the selector of %s: %w", ref, err)
		}
	}
	return w, nil
}

// PodSelector selects the pods of a workload: by its own selector, or by the labels of its template.
// It is nil where these have none.
func (w *Workload) PodSelector() *metav1.LabelSelector {
	switch {
	case w.Selector != nil && len(w.Selector.MatchLabels)+len(w.Selector.MatchExpressions) > 0:
		return w.Selector.DeepCopy()
	case len(w.Template.Labels) > 0:
		return &metav1.LabelSelector{MatchLabels: maps.Clone(w.Template.Labels)}
	}
	return nil
}

// serviceSelector is a selector of a Service, which has no expressions.
func (w *Workload) serviceSelector() map[string]string {
	if w.Selector != nil && len(w.Selector.MatchLabels) > 0 && len(w.Selector.MatchExpressions) == 0 {
		return maps.Clone(w.Selector.MatchLabels)
	}
	return maps.Clone(w.Template.Labels)
}

// Pod returns a pod of the workload for the rules of NetworkPolicies.
func (w *Workload) Pod(namespaceLabels map[string]string) netpolicy.Pod {
	return netpolicy.Pod{Namespace: w.Ref.Namespace, NamespaceLabels: namespaceLabels, Labels: w.Template.Labels, HostNetwork: w.Template.Spec.HostNetwork}
}

// containers returns the containers that run as long as the pod.
func (w *Workload) containers() []corev1.Container {
	all := slices.Clone(w.Template.Spec.Containers)
	for _, c := range w.Template.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, c)
		}
	}
	return all
}

// port returns the port of the pods that has a name or a number. A number need not be declared.
func (w *Workload) port(want string) (netpolicy.Port, bool) {
	number, err := strconv.ParseInt(want, 10, 32)
	p := netpolicy.Port{Protocol: corev1.ProtocolTCP, Number: int32(number)}
	found := err == nil
	for _, c := range w.containers() {
		for _, declared := range c.Ports {
			if err != nil && declared.Name == want && !found || err == nil && declared.ContainerPort == p.Number {
				found = true
				p.Number = declared.ContainerPort
				if declared.Protocol != "" {
					p.Protocol = declared.Protocol
				}
			}
		}
	}
	return w.named(p), found
}

// named fills in the names that containers give a port.
func (w *Workload) named(p netpolicy.Port) netpolicy.Port {
	for _, c := range w.containers() {
		for _, declared := range c.Ports {
			if declared.ContainerPort == p.Number && declared.Name != "" && protocolOf(declared.Protocol) == protocolOf(p.Protocol) {
				p.Names = append(p.Names, declared.Name)
			}
		}
	}
	return p
}

func protocolOf(p corev1.Protocol) corev1.Protocol {
	if p == "" {
		return corev1.ProtocolTCP
	}
	return p
}

// PortNames returns the names of the ports of the pods, in order.
func (w *Workload) PortNames() []string {
	var names []string
	for _, c := range w.containers() {
		for _, p := range c.Ports {
			if p.Name != "" {
				names = append(names, p.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Target returns the port of the pods with a name or number: one that a Service leads to, or
// that a container declares.
func (w *Workload) Target(services []*corev1.Service, want string) (netpolicy.Port, bool) {
	if e, ok := FindService(services, w, want); ok {
		return e.Target, true
	}
	p, ok := w.port(want)
	declared := func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Ports, func(d corev1.ContainerPort) bool { return d.ContainerPort == p.Number })
	}
	return p, ok && slices.ContainsFunc(w.containers(), declared)
}

// Endpoint is where a port is connected to.
type Endpoint struct {
	Service object.Ref
	// Port is the number to connect to, and Target the port of the pods behind it.
	Port   int32
	Target netpolicy.Port
}

// Host is the name of the Service as a namespace resolves it. Across namespaces it ends in .svc:
// the domain of the cluster is a setting of its DNS, and search domains add it.
func (e Endpoint) Host(from string) string {
	if from == e.Service.Namespace {
		return e.Service.Name
	}
	return e.Service.Name + "." + e.Service.Namespace + ".svc"
}

// FindService returns where Services serve a port of a workload, by name or number. A Service that
// leads to the port of the pods comes before one whose own port is called so, and one with an
// address before a headless one.
func FindService(services []*corev1.Service, w *Workload, want string) (Endpoint, bool) {
	services = slices.Clone(services)
	slices.SortFunc(services, func(a, b *corev1.Service) int {
		if x, y := isHeadless(a), isHeadless(b); x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Name, b.Name)
	})
	target, known := w.port(want)
	for _, s := range services {
		if !Serves(s, w) {
			continue
		}
		for _, p := range s.Spec.Ports {
			if behind, ok := w.behind(p); ok && known && behind.Number == target.Number && protocolOf(behind.Protocol) == protocolOf(target.Protocol) {
				return endpointOf(s, p, behind), true
			}
		}
	}
	for _, s := range services {
		if !Serves(s, w) {
			continue
		}
		if e, ok := ServicePort(s, w, want); ok {
			return e, true
		}
	}
	return Endpoint{}, false
}

// ServicePort returns the port of a Service that has a name or a number. The workload behind it may be
// nil: then the port of the pods is known only by its number.
func ServicePort(s *corev1.Service, w *Workload, want string) (Endpoint, bool) {
	for _, p := range s.Spec.Ports {
		if p.Name != want && strconv.Itoa(int(p.Port)) != want {
			continue
		}
		target := netpolicy.Port{Protocol: protocolOf(p.Protocol), Number: p.TargetPort.IntVal}
		switch {
		case w != nil:
			behind, ok := w.behind(p)
			if !ok {
				continue
			}
			target = behind
		case p.TargetPort.Type == intstr.String && p.TargetPort.StrVal != "":
			target.Names = []string{p.TargetPort.StrVal}
		case p.TargetPort.IntVal == 0:
			target.Number = p.Port
		}
		return endpointOf(s, p, target), true
	}
	return Endpoint{}, false
}

func endpointOf(s *corev1.Service, p corev1.ServicePort, target netpolicy.Port) Endpoint {
	e := Endpoint{Service: object.Ref{Kind: "Service", Namespace: s.Namespace, Name: s.Name}, Port: p.Port, Target: target}
	if isHeadless(s) && target.Number > 0 {
		e.Port = target.Number // its name resolves to the pods themselves
	}
	return e
}

// behind returns the port of the pods that a port of a Service leads to.
func (w *Workload) behind(p corev1.ServicePort) (netpolicy.Port, bool) {
	target := netpolicy.Port{Protocol: protocolOf(p.Protocol), Number: p.Port}
	switch {
	case p.TargetPort.Type == intstr.Int && p.TargetPort.IntVal != 0:
		target.Number = p.TargetPort.IntVal
	case p.TargetPort.Type == intstr.String && p.TargetPort.StrVal != "":
		named, ok := w.port(p.TargetPort.StrVal)
		if !ok {
			return target, false
		}
		target.Number = named.Number
	}
	return w.named(target), true
}

// Serves reports whether a Service leads to the pods of a workload.
func Serves(s *corev1.Service, w *Workload) bool {
	return s.Namespace == w.Ref.Namespace && s.Spec.Type != corev1.ServiceTypeExternalName && len(s.Spec.Selector) > 0 &&
		labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(w.Template.Labels))
}

func isHeadless(s *corev1.Service) bool { return s.Spec.ClusterIP == corev1.ClusterIPNone }

// NewService returns a Service for a port of a workload. It is headless for a StatefulSet, whose pods
// differ.
func NewService(name string, w *Workload, want string) (*corev1.Service, Endpoint, error) {
	target, ok := w.port(want)
	selector := w.serviceSelector()
	switch {
	case w.Ref.Kind == "Job" || w.Ref.Kind == "CronJob":
		return nil, Endpoint{}, fmt.Errorf("%s runs to its end: nothing can rely on its ports", w.Ref)
	case !ok:
		return nil, Endpoint{}, fmt.Errorf("no container of %s has a port %s%s", w.Ref, want, object.DidYouMean(object.Nearest(want, w.PortNames())))
	case len(selector) == 0:
		return nil, Endpoint{}, fmt.Errorf("the pods of %s have no labels that a Service could select", w.Ref)
	case len(name) > 63:
		return nil, Endpoint{}, fmt.Errorf("the name %s of the Service for port %s has more than 63 characters", name, want)
	}
	port := corev1.ServicePort{Name: want, Protocol: target.Protocol, Port: target.Number, TargetPort: intstr.FromInt32(target.Number)}
	if strconv.Itoa(int(target.Number)) == want {
		port.Name = strings.ToLower(string(target.Protocol)) + "-" + want
	} else {
		port.TargetPort = intstr.FromString(want)
	}
	s := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.Ref.Namespace},
		Spec:       corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{port}},
	}
	if w.Ref.Kind == "StatefulSet" {
		s.Spec.ClusterIP = corev1.ClusterIPNone
	}
	return s, endpointOf(s, port, target), nil
}

// AllowIngress returns the policy that lets the pods of a consumer connect to a port of a provider.
func AllowIngress(name string, provider, consumer *Workload, port netpolicy.Port) (*networkingv1.NetworkPolicy, error) {
	p, peer, err := allow(name, provider, consumer)
	if err != nil {
		return nil, err
	}
	p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{peer}, Ports: policyPorts(port)}}
	return p, nil
}

// AllowEgress returns the policy that lets the pods of a consumer leave for a port of a provider.
func AllowEgress(name string, provider, consumer *Workload, port netpolicy.Port) (*networkingv1.NetworkPolicy, error) {
	p, peer, err := allow(name, consumer, provider)
	if err != nil {
		return nil, err
	}
	p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}
	p.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{To: []networkingv1.NetworkPolicyPeer{peer}, Ports: policyPorts(port)}}
	return p, nil
}

// allow returns a policy of the pods of one workload, and the peer that the other one is.
func allow(name string, subject, other *Workload) (*networkingv1.NetworkPolicy, networkingv1.NetworkPolicyPeer, error) {
	own, peer := subject.PodSelector(), networkingv1.NetworkPolicyPeer{PodSelector: other.PodSelector()}
	for _, w := range []*Workload{subject, other} {
		if w.PodSelector() == nil {
			return nil, peer, fmt.Errorf("the pods of %s have no labels that a NetworkPolicy could select", w.Ref)
		}
	}
	if subject.Ref.Namespace != other.Ref.Namespace {
		peer.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: other.Ref.Namespace}}
	}
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: subject.Ref.Namespace},
		Spec:       networkingv1.NetworkPolicySpec{PodSelector: *own},
	}, peer, nil
}

func policyPorts(p netpolicy.Port) []networkingv1.NetworkPolicyPort {
	protocol, number := protocolOf(p.Protocol), intstr.FromInt32(p.Number)
	if p.Number == 0 && len(p.Names) > 0 {
		number = intstr.FromString(p.Names[0])
	}
	return []networkingv1.NetworkPolicyPort{{Protocol: &protocol, Port: &number}}
}
