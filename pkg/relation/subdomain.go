package relation

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// podSubdomain: DNS has the pod as hostname.subdomain if a headless Service has the name of the
// subdomain and the pod has a host name. The pods of an indexed Job each have one. A StatefulSet
// copies both from its serviceName into its pods, so only the topmost template is read, as for
// affinity.
func podSubdomain(o object.Object, emit EmitFunc) {
	t := templateOf(o)
	if repeated(o) || t.spec == nil || t.spec.Subdomain == "" || t.spec.Hostname == "" && !indexed(o) {
		return
	}
	onTemplate(func(t template, emit EmitFunc) {
		emit(to(service, t.namespace, t.spec.Subdomain, t.in+"subdomain"))
	})(o, emit)
}

// indexed reports whether an object creates pods with an index in their host names.
func indexed(o object.Object) bool {
	switch b := o.Body.(type) {
	case *batchv1.Job:
		return value(b.Spec.CompletionMode) == batchv1.IndexedCompletion
	case *batchv1.CronJob:
		return value(b.Spec.JobTemplate.Spec.CompletionMode) == batchv1.IndexedCompletion
	}
	return false
}
