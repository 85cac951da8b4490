package check

import (
	"fmt"
	"maps"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// coreosWebhooksOf returns the webhooks to which workloads of an operator answer, and those
// that are asked before objects of its kinds are stored and that nobody answers to.
func coreosWebhooksOf(o *Operator) []*coreosWebhook {
	groups := map[string]bool{}
	for _, gk := range o.Kinds {
		groups[gk.Group] = true
	}
	var out []*coreosWebhook
	for _, h := range o.World.admissionWebhooks() {
		behind := o.World.behindService(h.service)
		own := slices.ContainsFunc(behind, func(wl *Workload) bool { return slices.Contains(o.Workloads, wl) })
		left := len(behind) == 0 && len(h.rules) > 0 && !slices.ContainsFunc(h.rules, func(r admissionv1.RuleWithOperations) bool {
			return len(r.APIGroups) == 0 || slices.ContainsFunc(r.APIGroups, func(g string) bool { return !groups[g] })
		})
		if own || left {
			out = append(out, h)
		}
	}
	return out
}

func coreosReachable(o *Operator, r *Result) {
	for _, h := range coreosWebhooksOf(o) {
		if h.service == (object.Ref{}) {
			r.AddUnknown(h.config, fmt.Sprintf("webhook %s is called by URL, which is not checked", h.name))
			continue
		}
		severity := Warning
		then := "is skipped"
		if h.fails {
			severity, then = Error, "refuses every write that it matches"
		}
		if !h.ca && h.written {
			r.AddUnknown(h.config, coreosWritten)
		} else if !h.ca {
			r.AddFinding(Finding{
				Severity: Warning, Object: h.config, Field: h.field + ".clientConfig.caBundle",
				Message: fmt.Sprintf("webhook %s has no caBundle: the API server trusts it only with a certificate of a public authority", h.name), Related: []object.Ref{h.service},
			})
		}
		switch a := o.World.answers(h.service, h.port); {
		case a.wrong != "":
			r.AddFinding(Finding{
				Severity: severity, Object: h.config, Field: h.field + ".clientConfig.service", Value: h.service.Namespace + "/" + h.service.Name,
				Message: fmt.Sprintf("webhook %s %s: %s", h.name, then, a.wrong), Related: []object.Ref{h.service},
			})
		case a.unknown != "":
			r.AddUnknown(h.config, a.unknown)
		case h.ca || !h.written:
			r.Pass(h.config)
		}
	}
}

func coreosTimeouts(o *Operator, r *Result) {
	const long = 10
	for _, h := range coreosWebhooksOf(o) {
		if h.timeout <= long {
			r.Pass(h.config)
			continue
		}
		r.AddFinding(Finding{
			Object: h.config, Field: h.field + ".timeoutSeconds", Value: fmt.Sprint(h.timeout),
			Message: fmt.Sprintf("while webhook %s does not answer, each write that it matches waits %d seconds", h.name, h.timeout),
		})
	}
}

func coreosPodWebhooks(o *Operator, r *Result) {
	for _, h := range coreosWebhooksOf(o) {
		if !coreosAsksPods(h) {
			continue
		}
		if !h.fails {
			r.Pass(h.config)
			continue
		}
		coreosPodWebhook(o, h, r)
	}
}

// coreosAsksPods says that a webhook is asked before pods are made.
func coreosAsksPods(h *coreosWebhook) bool {
	return slices.ContainsFunc(h.rules, func(rule admissionv1.RuleWithOperations) bool {
		makes := slices.ContainsFunc(rule.Operations, func(op admissionv1.OperationType) bool {
			return op == admissionv1.Create || op == admissionv1.OperationAll
		})
		scoped := rule.Scope == nil || *rule.Scope != admissionv1.ClusterScope
		return makes && scoped && grantNames(rule.APIGroups, "") && grantNames(rule.APIVersions, "v1") &&
			(slices.Contains(rule.Resources, "pods") || slices.Contains(rule.Resources, "*") || slices.Contains(rule.Resources, "*/*"))
	})
}

// coreosPodWebhook says whose pods a webhook holds up when nobody answers: those of the
// operator, of its instances, or of others.
func coreosPodWebhook(o *Operator, h *coreosWebhook, r *Result) {
	if h.conditions > 0 {
		r.AddUnknown(h.config, fmt.Sprintf("webhook %s matches pods, and its matchConditions may exclude those that matter", h.name))
		return
	}
	instances := map[*Workload]bool{}
	for _, gk := range o.Kinds {
		for _, ref := range o.World.Instances(gk) {
			for _, wl := range o.World.workloadsOf(o.World.Owned(ref)) {
				instances[wl] = true
			}
		}
	}
	behind := o.World.behindService(h.service)
	var own, of, others []object.Ref
	for _, wl := range o.World.Workloads() {
		matched, known := o.World.matches(h, wl)
		switch {
		case !known:
			r.AddUnknown(h.config, fmt.Sprintf("webhook %s selects namespaces by labels, and namespaces could not be read", h.name))
			return
		case !matched:
		case slices.Contains(behind, wl):
			own = append(own, wl.Ref)
		case instances[wl], slices.Contains(o.Workloads, wl):
			of = append(of, wl.Ref)
		default:
			others = append(others, wl.Ref)
		}
	}
	f := Finding{Object: h.config, Field: h.field + ".failurePolicy", Value: "Fail"}
	switch {
	case len(own) > 0:
		f.Severity, f.Related = Error, own
		f.Message = fmt.Sprintf("webhook %s must admit the pods that serve it (%s): if all are lost, no new one can be created", h.name, coreosNames(own))
	case len(of) > 0:
		f.Related = of
		f.Message = fmt.Sprintf("while webhook %s does not answer, no pod of %s can be created", h.name, coreosNames(of))
	case len(others) > 0:
		f.Related = others[:min(len(others), 10)]
		f.Message = fmt.Sprintf("while webhook %s does not answer, no pod of %s can be created (%s)", h.name, object.Count(len(others), "other workload"), coreosNames(others))
	default:
		r.Pass(h.config)
		return
	}
	r.AddFinding(f)
}

// matches says whether a webhook would be asked about new pods of a workload, by its
// selectors; not known where the labels of its namespace were not read.
func (w *ClusterState) matches(h *coreosWebhook, wl *Workload) (matched, known bool) {
	var pod map[string]string
	switch {
	case wl.Template != nil:
		pod = wl.Template.Labels
	case len(wl.Pods) > 0:
		pod = wl.Pods[0].Labels
	}
	if !everything(h.objects) && !selects(h.objects, pod) {
		return false, true
	}
	if everything(h.namespaces) {
		return true, true
	}
	ns, ok := Of[*corev1.Namespace](w.Facts, object.Ref{Kind: "Namespace", Name: wl.Ref.Namespace})
	if !ok {
		return false, false
	}
	set := map[string]string{corev1.LabelMetadataName: ns.Name}
	maps.Copy(set, ns.Labels)
	return selects(h.namespaces, set), true
}

// everything says that a selector excludes nothing; one that is not set does not either.
func everything(s *metav1.LabelSelector) bool {
	return s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0
}
