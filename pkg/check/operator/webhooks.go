package operator

import (
	"fmt"
	"maps"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// webhooksOf returns the webhooks that workloads of an operator answer, and those that admit
// objects of its kinds and that no workload answers.
func webhooksOf(o *check.Operator) []*check.Webhook {
	groups := map[string]bool{}
	for _, gk := range o.Kinds {
		groups[gk.Group] = true
	}
	var out []*check.Webhook
	for _, h := range o.World.Webhooks() {
		behind := o.World.WorkloadsBehind(h.Service)
		own := slices.ContainsFunc(behind, func(wl *check.Workload) bool { return slices.Contains(o.Workloads, wl) })
		unanswered := len(behind) == 0 && len(h.Rules) > 0 && !slices.ContainsFunc(h.Rules, func(r admissionv1.RuleWithOperations) bool {
			return len(r.APIGroups) == 0 || slices.ContainsFunc(r.APIGroups, func(g string) bool { return !groups[g] })
		})
		if own || unanswered {
			out = append(out, h)
		}
	}
	return out
}

func reachable(o *check.Operator, r *check.Result) {
	for _, h := range webhooksOf(o) {
		if h.Service == (object.Ref{}) {
			r.AddUnknown(h.Config, fmt.Sprintf("webhook %s is called by URL, which is not checked", h.Name))
			continue
		}
		severity := check.Warning
		then := "is skipped"
		if h.Fails {
			severity, then = check.Error, "refuses every write that it matches"
		}
		if !h.CA && h.Written {
			r.AddUnknown(h.Config, check.UnknownBundle)
		} else if !h.CA {
			r.AddFinding(check.Finding{
				Severity: check.Warning, Object: h.Config, Field: h.Field + ".clientConfig.caBundle",
				Message: fmt.Sprintf("webhook %s has no caBundle: the API server trusts it only with a certificate of a public authority", h.Name), Related: []object.Ref{h.Service},
			})
		}
		switch a := o.World.Answers(h.Service, h.Port); {
		case a.Wrong != "":
			r.AddFinding(check.Finding{
				Severity: severity, Object: h.Config, Field: h.Field + ".clientConfig.service", Value: h.Service.Namespace + "/" + h.Service.Name,
				Message: fmt.Sprintf("webhook %s %s: %s", h.Name, then, a.Wrong), Related: []object.Ref{h.Service},
			})
		case a.Unknown != "":
			r.AddUnknown(h.Config, a.Unknown)
		case h.CA || !h.Written:
			r.Pass(h.Config)
		}
	}
}

func timeouts(o *check.Operator, r *check.Result) {
	const long = 10
	for _, h := range webhooksOf(o) {
		if h.Timeout <= long {
			r.Pass(h.Config)
			continue
		}
		r.AddFinding(check.Finding{
			Object: h.Config, Field: h.Field + ".timeoutSeconds", Value: fmt.Sprint(h.Timeout),
			Message: fmt.Sprintf("while webhook %s does not answer, each write that it matches waits %d seconds", h.Name, h.Timeout),
		})
	}
}

func podWebhooks(o *check.Operator, r *check.Result) {
	for _, h := range webhooksOf(o) {
		if !matchesPods(h) {
			continue
		}
		if !h.Fails {
			r.Pass(h.Config)
			continue
		}
		podWebhook(o, h, r)
	}
}

// matchesPods reports whether a webhook admits the creation of pods.
func matchesPods(h *check.Webhook) bool {
	return slices.ContainsFunc(h.Rules, func(rule admissionv1.RuleWithOperations) bool {
		makes := slices.ContainsFunc(rule.Operations, func(op admissionv1.OperationType) bool {
			return op == admissionv1.Create || op == admissionv1.OperationAll
		})
		scoped := rule.Scope == nil || *rule.Scope != admissionv1.ClusterScope
		return makes && scoped && check.RuleHas(rule.APIGroups, "") && check.RuleHas(rule.APIVersions, "v1") &&
			(slices.Contains(rule.Resources, "pods") || slices.Contains(rule.Resources, "*") || slices.Contains(rule.Resources, "*/*"))
	})
}

// podWebhook reports the pods that cannot be created while a webhook does not answer: those of
// the operator, of its instances, or of other workloads.
func podWebhook(o *check.Operator, h *check.Webhook, r *check.Result) {
	if h.Conditions > 0 {
		r.AddUnknown(h.Config, fmt.Sprintf("webhook %s matches pods, and its matchConditions may exclude those that matter", h.Name))
		return
	}
	instances := map[*check.Workload]bool{}
	for _, gk := range o.Kinds {
		for _, ref := range o.World.Instances(gk) {
			for _, wl := range o.World.WorkloadsOf(o.World.Owned(ref)) {
				instances[wl] = true
			}
		}
	}
	behind := o.World.WorkloadsBehind(h.Service)
	var own, ofInstances, foreign []object.Ref
	for _, wl := range o.World.Workloads() {
		matched, known := webhookMatches(o.World, h, wl)
		switch {
		case !known:
			r.AddUnknown(h.Config, fmt.Sprintf("webhook %s selects namespaces by labels, and namespaces could not be read", h.Name))
			return
		case !matched:
		case slices.Contains(behind, wl):
			own = append(own, wl.Ref)
		case instances[wl], slices.Contains(o.Workloads, wl):
			ofInstances = append(ofInstances, wl.Ref)
		default:
			foreign = append(foreign, wl.Ref)
		}
	}
	f := check.Finding{Object: h.Config, Field: h.Field + ".failurePolicy", Value: "Fail"}
	switch {
	case len(own) > 0:
		f.Severity, f.Related = check.Error, own
		f.Message = fmt.Sprintf("webhook %s must admit the pods that serve it (%s): if all are lost, no new one can be created", h.Name, check.Names(own))
	case len(ofInstances) > 0:
		f.Related = ofInstances
		f.Message = fmt.Sprintf("while webhook %s does not answer, no pod of %s can be created", h.Name, check.Names(ofInstances))
	case len(foreign) > 0:
		f.Related = foreign[:min(len(foreign), 10)]
		f.Message = fmt.Sprintf("while webhook %s does not answer, no pod of %s can be created (%s)", h.Name, object.Count(len(foreign), "other workload"), check.Names(foreign))
	default:
		r.Pass(h.Config)
		return
	}
	r.AddFinding(f)
}

// webhookMatches reports whether a webhook would admit new pods of a workload, by its
// selectors; known is false where the labels of its namespace were not read.
func webhookMatches(w *check.ClusterState, h *check.Webhook, wl *check.Workload) (matched, known bool) {
	var pod map[string]string
	switch {
	case wl.Template != nil:
		pod = wl.Template.Labels
	case len(wl.Pods) > 0:
		pod = wl.Pods[0].Labels
	}
	if !check.SelectsEverything(h.Objects) && !check.Selects(h.Objects, pod) {
		return false, true
	}
	if check.SelectsEverything(h.Namespaces) {
		return true, true
	}
	ns, ok := check.Of[*corev1.Namespace](w.Facts, object.Ref{Kind: "Namespace", Name: wl.Ref.Namespace})
	if !ok {
		return false, false
	}
	set := map[string]string{corev1.LabelMetadataName: ns.Name}
	maps.Copy(set, ns.Labels)
	return check.Selects(h.Namespaces, set), true
}
