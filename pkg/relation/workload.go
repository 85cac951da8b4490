package relation

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// workloadRules reads the references of a workload outside of its pod template. Its children have
// owner references, including the jobs in CronJob.status.active and the revisions in
// StatefulSet.status. Its selector says which pods it would adopt, not which it owns.
func workloadRules() []Rule {
	return []Rule{
		{Name: "statefulset-service", From: from(statefulSet), Relation: Needs, Via: Spec, To: "Service", Field: "spec.serviceName", Links: on(statefulSetService)},
		{Name: "statefulset-claim", From: from(statefulSet), Relation: Owns, Via: Spec, To: "PersistentVolumeClaim", Field: "spec.volumeClaimTemplates[].metadata.name", Deletes: Never, Links: on(statefulSetClaims)},

		{Name: WorkloadSelector, From: from(deployment, replicaSet, statefulSet, daemonSet, replicationController, job), Relation: Owns, Via: Label, To: "Pod", Field: "spec.selector", Evidence: true, Links: workloadSelector},
		{Name: WorkloadTemplate, From: from(deployment, replicaSet, statefulSet, daemonSet, replicationController, job, cronJob), Relation: Owns, Via: Label, To: "Pod", Field: "spec.template.metadata.labels", Evidence: true, Links: workloadTemplate},
		{Name: WorkloadAtRest, From: from(deployment, replicaSet, statefulSet, replicationController), Relation: Owns, Via: Spec, To: "(itself)", Field: "spec.replicas", Evidence: true, Links: workloadAtRest},
	}
}

// Rules whose links are evidence.
const (
	// WorkloadSelector matches the pods that a workload would adopt.
	WorkloadSelector = "workload-selector"
	// WorkloadTemplate has the labels of the pods that a workload creates. Workloads that another
	// workload creates, as a Deployment does ReplicaSets, do not emit it.
	WorkloadTemplate = "workload-template"
	// PodFinished marks a pod that has ended and receives no traffic.
	PodFinished = "pod-finished"
	// WorkloadAtRest marks a workload that is scaled to 0.
	WorkloadAtRest = "workload-at-rest"
)

// workloadSelector skips ReplicaSets of a Deployment, whose selector has an added hash, and Jobs
// whose selector is generated from the UID: neither can match the pods of others, and there are
// many.
func workloadSelector(o object.Object, emit EmitFunc) {
	switch b := o.Body.(type) {
	case *appsv1.ReplicaSet:
		if metav1.GetControllerOfNoCopy(b) != nil {
			return
		}
	case *batchv1.Job:
		if !value(b.Spec.ManualSelector) {
			return
		}
	}
	if s := podSelector(o); s != nil && !everything(s) {
		emit(Link{Target: Target{Kind: pod, Namespace: o.Namespace, Selector: FromLabelSelector(s)}, Field: "spec.selector"})
	}
}

// podSelector returns the selector of a workload's pods, or nil if it has none.
func podSelector(o object.Object) *metav1.LabelSelector {
	switch b := o.Body.(type) {
	case *appsv1.Deployment:
		return b.Spec.Selector
	case *appsv1.StatefulSet:
		return b.Spec.Selector
	case *appsv1.DaemonSet:
		return b.Spec.Selector
	case *appsv1.ReplicaSet:
		return b.Spec.Selector
	case *corev1.ReplicationController:
		return &metav1.LabelSelector{MatchLabels: b.Spec.Selector}
	case *batchv1.Job:
		return b.Spec.Selector
	}
	return nil
}

// workloadTemplate: a finished Job creates no more pods. A ReplicaSet without its owner reference,
// as in many dumps, still has the hash of a Deployment.
func workloadTemplate(o object.Object, emit EmitFunc) {
	t := templateOf(o)
	if t.meta == nil || isGenerated(o) || retired(o) || finished(o) {
		return
	}
	if _, revision := o.Meta.GetLabels()[appsv1.DefaultDeploymentUniqueLabelKey]; revision {
		return
	}
	sel := &Selector{Labels: t.meta.Labels}
	emit(Link{Target: Target{Kind: pod, Namespace: o.Namespace, Selector: sel}, Field: t.at + "metadata.labels"})
}

// isGenerated reports whether another workload created this one.
func isGenerated(o object.Object) bool {
	owner := metav1.GetControllerOfNoCopy(o.Meta)
	return owner != nil && (owner.Kind == deployment.Kind || owner.Kind == cronJob.Kind)
}

// workloadAtRest: a workload that is scaled to 0 on purpose explains why it has no pods.
func workloadAtRest(o object.Object, emit EmitFunc) {
	var replicas *int32
	switch b := o.Body.(type) {
	case *appsv1.Deployment:
		replicas = b.Spec.Replicas
	case *appsv1.StatefulSet:
		replicas = b.Spec.Replicas
	case *appsv1.ReplicaSet:
		replicas = b.Spec.Replicas
	case *corev1.ReplicationController:
		replicas = b.Spec.Replicas
	}
	if replicas != nil && *replicas == 0 && !retired(o) {
		itself(o, "spec.replicas", "0", emit)
	}
}

// itself emits evidence that an object gives about itself.
func itself(o object.Object, field, value string, emit EmitFunc) {
	l := to(o.GroupKind(), o.Namespace, o.Name, field)
	l.Value = value
	emit(l)
}

func statefulSetService(s *appsv1.StatefulSet, self object.Ref, emit EmitFunc) {
	named(emit, service, self.Namespace, s.Spec.ServiceName, "spec.serviceName")
}

// maxOrdinals is the number of claims of a template that are linked by name; those above it are
// matched by pattern and label.
const maxOrdinals = 1000

// statefulSetClaims: claims have no owner reference unless the retention policy sets one, but their
// names are fixed: TEMPLATE-SET-ORDINAL. The controller uses the claims of its current ordinals by
// name, by any creator. Claims left over from a larger size must have the labels as well,
// which the controller copies from its selector: a name alone is ambiguous (template a-b of set c,
// template a of set b-c).
func statefulSetClaims(s *appsv1.StatefulSet, self object.Ref, emit EmitFunc) {
	start, replicas := 0, 1
	if s.Spec.Ordinals != nil {
		start = int(s.Spec.Ordinals.Start)
	}
	if s.Spec.Replicas != nil {
		replicas = int(*s.Spec.Replicas)
	}
	// A hostile object may request two billion replicas.
	exact := min(max(replicas, 0), maxOrdinals)
	for i := range s.Spec.VolumeClaimTemplates {
		name := s.Spec.VolumeClaimTemplates[i].Name
		prefix, field := name+"-"+self.Name+"-", at("spec.volumeClaimTemplates[", i, "].metadata.name")
		l := Link{Target: Target{Kind: claim, Namespace: self.Namespace, IfPresent: true}, Field: field, Value: name, Inferred: true}
		for n := start; n < start+exact; n++ {
			l.Target.Name = prefix + strconv.Itoa(n)
			emit(l)
		}
		l.Target.Name, l.Target.Selector = "", &Selector{Name: &NamePattern{Prefix: prefix, Start: start, End: start + exact}}
		if s.Spec.Selector != nil {
			l.Target.Selector.Labels = s.Spec.Selector.MatchLabels
		}
		emit(l)
	}
}
