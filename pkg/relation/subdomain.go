package relation

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// podSubdomain: the pod is found as hostname.subdomain by the records of a headless
// Service of that name; without a host name of its own there is none. The pods of an
// indexed Job get one each. A StatefulSet writes both into its pods from its own
// serviceName, so the topmost template alone is asked, as it is about affinity.
func podSubdomain(o object.Object, emit EmitFunc) {
	t := templateOf(o)
	if repeated(o) || t.spec == nil || t.spec.Subdomain == "" || t.spec.Hostname == "" && !indexed(o) {
		return
	}
	onTemplate(func(t template, emit EmitFunc) {
		emit(to(service, t.namespace, t.spec.Subdomain, t.in+"subdomain"))
	})(o, emit)
}

// indexed says whether an object makes pods that have an index in their host names.
func indexed(o object.Object) bool {
	switch b := o.Body.(type) {
	case *batchv1.Job:
		return value(b.Spec.CompletionMode) == batchv1.IndexedCompletion
	case *batchv1.CronJob:
		return value(b.Spec.JobTemplate.Spec.CompletionMode) == batchv1.IndexedCompletion
	}
	return false
}
