package relation

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// workloadRules reads what a workload names beside its pod template. What it
// made stands on the other side, as owner references: the jobs of
// CronJob.status.active and the revisions of StatefulSet.status as well. A workload's
// own selector says whom it would adopt, and not whom it owns.
func workloadRules() []Rule {
	return []Rule{
		{Name: "statefulset-service", From: from(statefulSet), Relation: Needs, Via: Spec, To: "Service", Field: "spec.serviceName", Links: on(statefulSetService)},
		{Name: "statefulset-claim", From: from(statefulSet), Relation: Owns, Via: Spec, To: "PersistentVolumeClaim", Field: "spec.volumeClaimTemplates[].metadata.name", Links: on(statefulSetClaims)},
	}
}

func statefulSetService(s *appsv1.StatefulSet, self object.Ref, emit Emit) {
	named(emit, service, self.Namespace, s.Spec.ServiceName, "spec.serviceName")
}

// mostOrdinals is how many claims of a template are linked by their very names;
// those above it are found by pattern and label.
const mostOrdinals = 1000

// statefulSetClaims: claims carry no owner reference unless the retention policy
// asks for one, but their names are fixed: TEMPLATE-SET-ORDINAL. The controller
// takes the claims of its present ordinals by name, whoever made them. What is
// left over from a larger size must carry the labels as well, which the
// controller copies from its selector: a name alone can be read in two ways
// (template a-b of set c, template a of set b-c).
func statefulSetClaims(s *appsv1.StatefulSet, self object.Ref, emit Emit) {
	start, replicas := 0, 1
	if s.Spec.Ordinals != nil {
		start = int(s.Spec.Ordinals.Start)
	}
	if s.Spec.Replicas != nil {
		replicas = int(*s.Spec.Replicas)
	}
	// A hostile object may claim two thousand million replicas.
	exact := min(max(replicas, 0), mostOrdinals)
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
