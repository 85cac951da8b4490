package relation

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// carriers lists the kinds that have a pod spec; templateOf finds it in each.
func carriers() []schema.GroupKind {
	return from(pod, deployment, replicaSet, statefulSet, daemonSet, replicationController, job, cronJob, podTemplate)
}

// podRules reads the references of a pod spec outside of its containers, and the fields of a pod
// that no template has.
func podRules() []Rule {
	carriers := carriers()
	return carried([]Rule{
		{Name: "pod-service-account", From: carriers, Relation: Needs, Via: Spec, To: "ServiceAccount", Field: "spec.serviceAccountName", template: podServiceAccount},
		{Name: "pod-pull-secret", From: carriers, Relation: Needs, Via: Spec, To: "Secret", Field: "spec.imagePullSecrets[].name", template: podPullSecrets},
		{Name: "pod-priority-class", From: carriers, Relation: Needs, Via: Spec, To: "PriorityClass", Field: "spec.priorityClassName", template: podPriorityClass},
		{Name: "pod-runtime-class", From: carriers, Relation: Needs, Via: Spec, To: "RuntimeClass", Field: "spec.runtimeClassName", template: podRuntimeClass},
		{Name: "pod-resource-claim", From: carriers, Relation: Needs, Via: Spec, To: "ResourceClaim", Field: "spec.resourceClaims[].resourceClaimName", template: podResourceClaims},
		{Name: "pod-resource-claim-template", From: carriers, Relation: Needs, Via: Spec, To: "ResourceClaimTemplate", Field: "spec.resourceClaims[].resourceClaimTemplateName", template: podResourceClaimTemplates},
		{Name: "pod-group", From: carriers, Relation: Needs, Via: Spec, To: "PodGroup", Field: "spec.schedulingGroup.podGroupName", template: podGroups},
		{Name: "pod-network", From: carriers, Relation: Needs, Via: Annotation, To: "NetworkAttachmentDefinition", Field: annotation(networksKey), template: podNetworks},

		{Name: "pod-subdomain", From: carriers, Relation: Needs, Via: Spec, To: "Service", Field: "spec.subdomain", Links: podSubdomain},
		{Name: "pod-node", From: from(pod), Relation: Needs, Via: Spec, To: "Node", Field: "spec.nodeName", Links: on(podNode)},
		{Name: "pod-nominated-node", From: from(pod), Relation: Needs, Via: Spec, To: "Node", Field: "status.nominatedNodeName", Links: on(podNominatedNode)},
		{Name: "pod-owner-label", From: from(pod), Relation: Owns, Via: Label, To: "(owner)", Backward: true, Field: "metadata.labels", Metadata: true, Links: podOwnerLabels},
		{Name: PodFinished, From: from(pod), Relation: Owns, Via: Spec, To: "(itself)", Field: "status.phase", Evidence: true, Links: podFinished},
		{Name: "pod-resource-claim-status", From: from(pod), Relation: Needs, Via: Spec, To: "ResourceClaim", Field: "status.resourceClaimStatuses[].resourceClaimName", Links: on(podClaimStatus)},
	})
}

// template is the pod spec of a carrier.
type template struct {
	spec      *corev1.PodSpec
	meta      *metav1.ObjectMeta
	namespace string
	// at is the path of the template in its carrier, and in the path of the pod spec, each with the
	// final dot: empty and "spec." for a pod.
	at, in string
	// part is set for a part of a custom resource, whose operator may set what it omits; container
	// if it is one container alone.
	part, container bool
}

// carried completes the rules that read a pod spec, for every carrier.
func carried(rules []Rule) []Rule {
	for i := range rules {
		if r := &rules[i]; r.template != nil {
			r.Links = onTemplate(r.template)
		}
	}
	return rules
}

// onTemplate returns the function of a rule that reads a pod spec, for every carrier.
func onTemplate(read func(template, EmitFunc)) func(object.Object, EmitFunc) {
	return func(o object.Object, emit EmitFunc) {
		t := templateOf(o)
		if t.spec == nil {
			return
		}
		needed := emit
		switch retired := retired(o); {
		case retired || finished(o):
			emit = func(l Link) { l.Optional, l.Inactive = l.Optional || retired, true; needed(l) }
		case runs(o):
			emit = func(l Link) { l.Settled = true; needed(l) }
		}
		read(t, emit)
	}
}

// retired reports whether a Deployment keeps a ReplicaSet at 0 replicas for rollback. Its
// references may be deleted already, and nothing breaks by that today.
func retired(o object.Object) bool {
	rs, ok := o.Body.(*appsv1.ReplicaSet)
	return ok && rs.Spec.Replicas != nil && *rs.Spec.Replicas == 0 && metav1.GetControllerOfNoCopy(rs) != nil
}

// finished reports whether a pod or a Job has ended and does not restart.
func finished(o object.Object) bool {
	switch b := o.Body.(type) {
	case *corev1.Pod:
		return b.Status.Phase == corev1.PodSucceeded || b.Status.Phase == corev1.PodFailed
	case *batchv1.Job:
		return slices.ContainsFunc(b.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
		})
	}
	return false
}

// runs reports whether all containers of a pod have started.
func runs(o object.Object) bool {
	p, ok := o.Body.(*corev1.Pod)
	return ok && p.Status.Phase == corev1.PodRunning && !slices.ContainsFunc(p.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.State.Running == nil
	})
}

func podFinished(o object.Object, emit EmitFunc) {
	if p, ok := o.Body.(*corev1.Pod); ok && finished(o) {
		itself(o, "status.phase", string(p.Status.Phase), emit)
	}
}

// templateOf returns the pod spec of every kind that has one.
func templateOf(o object.Object) template {
	const inSpec, inPodSpec = "spec.template.", "spec.template.spec."
	switch b := o.Body.(type) {
	case *corev1.Pod:
		return template{spec: &b.Spec, meta: &b.ObjectMeta, namespace: o.Namespace, in: "spec."}
	case *appsv1.ReplicaSet:
		return templateAt(&b.Spec.Template, o, inSpec, inPodSpec)
	case *appsv1.Deployment:
		return templateAt(&b.Spec.Template, o, inSpec, inPodSpec)
	case *appsv1.StatefulSet:
		return templateAt(&b.Spec.Template, o, inSpec, inPodSpec)
	case *appsv1.DaemonSet:
		return templateAt(&b.Spec.Template, o, inSpec, inPodSpec)
	case *batchv1.Job:
		return templateAt(&b.Spec.Template, o, inSpec, inPodSpec)
	case *batchv1.CronJob:
		return templateAt(&b.Spec.JobTemplate.Spec.Template, o, "spec.jobTemplate.spec.template.", "spec.jobTemplate.spec.template.spec.")
	case *corev1.ReplicationController:
		return templateAt(b.Spec.Template, o, inSpec, inPodSpec)
	case *corev1.PodTemplate:
		return templateAt(&b.Template, o, "template.", "template.spec.")
	}
	return template{}
}

func templateAt(t *corev1.PodTemplateSpec, o object.Object, at, in string) template {
	if t == nil {
		return template{}
	}
	return template{spec: &t.Spec, meta: &t.ObjectMeta, namespace: o.Namespace, at: at, in: in}
}

// podServiceAccount: a template without a name uses default. A pod without a name bypassed the
// admission plugin of the API server: it is a mirror pod, which has no account, or a manifest,
// whose pod would use default.
func podServiceAccount(t template, emit EmitFunc) {
	name, field := t.spec.ServiceAccountName, "serviceAccountName"
	if name == "" && t.spec.DeprecatedServiceAccount != "" {
		name, field = t.spec.DeprecatedServiceAccount, "serviceAccount"
	}
	stood := name
	if name == "" {
		if _, mirror := t.meta.Annotations[corev1.MirrorPodAnnotationKey]; mirror || t.part {
			return
		}
		name = "default"
	}
	l := to(serviceAccount, t.namespace, name, t.in+field)
	l.Value = stood
	emit(l)
}

func podPullSecrets(t template, emit EmitFunc) {
	for i, r := range t.spec.ImagePullSecrets {
		if r.Name != "" {
			emit(to(secret, t.namespace, r.Name, t.in+"imagePullSecrets["+strconv.Itoa(i)+"].name"))
		}
	}
}

func podPriorityClass(t template, emit EmitFunc) {
	if t.spec.PriorityClassName != "" {
		emit(to(priorityClass, "", t.spec.PriorityClassName, t.in+"priorityClassName"))
	}
}

func podRuntimeClass(t template, emit EmitFunc) {
	if name := value(t.spec.RuntimeClassName); name != "" {
		emit(to(runtimeClass, "", name, t.in+"runtimeClassName"))
	}
}

func podResourceClaims(t template, emit EmitFunc) {
	for i := range t.spec.ResourceClaims {
		if name := value(t.spec.ResourceClaims[i].ResourceClaimName); name != "" {
			emit(to(resourceClaim, t.namespace, name, t.in+"resourceClaims["+strconv.Itoa(i)+"].resourceClaimName"))
		}
	}
}

func podResourceClaimTemplates(t template, emit EmitFunc) {
	for i := range t.spec.ResourceClaims {
		if name := value(t.spec.ResourceClaims[i].ResourceClaimTemplateName); name != "" {
			emit(to(resourceClaimTemplate, t.namespace, name, t.in+"resourceClaims["+strconv.Itoa(i)+"].resourceClaimTemplateName"))
		}
	}
}

func podGroups(t template, emit EmitFunc) {
	if g := t.spec.SchedulingGroup; g != nil && value(g.PodGroupName) != "" {
		emit(to(podGroup, t.namespace, *g.PodGroupName, t.in+"schedulingGroup.podGroupName"))
	}
}

const networksKey = "k8s.v1.cni.cncf.io/networks"

// podNetworks reads the networks that Multus attaches, in either format:
// [namespace/]name[@interface],... or a JSON list.
func podNetworks(t template, emit EmitFunc) {
	text := strings.TrimSpace(t.meta.Annotations[networksKey])
	if text == "" {
		return
	}
	field := t.at + annotation(networksKey)
	if text[0] == '[' {
		var list []struct{ Name, Namespace string }
		if json.Unmarshal([]byte(text), &list) != nil {
			return
		}
		for _, n := range list {
			if n.Namespace == "" {
				n.Namespace = t.namespace
			}
			named(emit, networkAttachment, n.Namespace, n.Name, field)
		}
		return
	}
	for item := range strings.SplitSeq(text, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(item), "@")
		namespace, name := inNamespace(name, t.namespace)
		named(emit, networkAttachment, namespace, name, field)
	}
}

// inNamespace splits [namespace/]name.
func inNamespace(text, namespace string) (string, string) {
	if ns, name, ok := strings.Cut(text, "/"); ok {
		return ns, name
	}
	return namespace, text
}

func podNode(p *corev1.Pod, _ object.Ref, emit EmitFunc) {
	named(emit, node, "", p.Spec.NodeName, "spec.nodeName")
}

// podNominatedNode: the scheduler preempts pods on this node; the pod may still run on another.
func podNominatedNode(p *corev1.Pod, _ object.Ref, emit EmitFunc) {
	if p.Spec.NodeName == "" && p.Status.NominatedNodeName != "" {
		l := to(node, "", p.Status.NominatedNodeName, "status.nominatedNodeName")
		l.Optional = true
		emit(l)
	}
}

// podOwnerLabels reads the labels that controllers set on their pods. They are the only trace of
// the owner in a dump without owner references.
func podOwnerLabels(o object.Object, emit EmitFunc) {
	if metav1.GetControllerOfNoCopy(o.Meta) != nil {
		return
	}
	marks := o.Meta.GetLabels()
	guess := func(k schema.GroupKind, name, key string) {
		l := to(k, o.Namespace, name, "metadata.labels["+key+"]")
		l.Value, l.Backward, l.Inferred, l.Target.IfPresent = marks[key], true, true, true
		emit(l)
	}
	if name := marks[batchv1.JobNameLabel]; name != "" {
		guess(job, name, batchv1.JobNameLabel)
	}
	stem := o.Name[:max(strings.LastIndexByte(o.Name, '-'), 0)]
	if hash := marks[appsv1.DefaultDeploymentUniqueLabelKey]; hash != "" && strings.HasSuffix(stem, "-"+hash) {
		guess(replicaSet, stem, appsv1.DefaultDeploymentUniqueLabelKey)
	}
	if name := marks[appsv1.StatefulSetPodNameLabel]; name != "" && name == o.Name && number(o.Name[len(stem)+min(len(stem), 1):]) {
		guess(statefulSet, stem, appsv1.StatefulSetPodNameLabel)
	}
}

// podClaimStatus: only the status names claims that were generated from a template, or by the
// scheduler for an extended resource.
func podClaimStatus(p *corev1.Pod, self object.Ref, emit EmitFunc) {
	for i := range p.Status.ResourceClaimStatuses {
		if name := value(p.Status.ResourceClaimStatuses[i].ResourceClaimName); name != "" {
			emit(to(resourceClaim, self.Namespace, name, at("status.resourceClaimStatuses[", i, "].resourceClaimName")))
		}
	}
	if s := p.Status.ExtendedResourceClaimStatus; s != nil {
		named(emit, resourceClaim, self.Namespace, s.ResourceClaimName, "status.extendedResourceClaimStatus.resourceClaimName")
	}
	for i := range p.Status.NodeAllocatableResourceClaimStatuses {
		name := p.Status.NodeAllocatableResourceClaimStatuses[i].ResourceClaimName
		named(emit, resourceClaim, self.Namespace, name, at("status.nodeAllocatableResourceClaimStatuses[", i, "].resourceClaimName"))
	}
}
