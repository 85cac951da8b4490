package preflight

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	psaapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// admission reports the results of dry runs, and evaluates Pod Security where no dry run
// did.
func (f *evaluation) admission() {
	if f.Admissions == nil && len(f.order) > 0 {
		f.add(Finding{
			Topic: Admitted, Verdict: verdictUnknown, Reason: "NoServer",
			Message: "no cluster: validation, webhooks and policies were not checked",
			Remedy:  "check against the cluster, not a snapshot",
		})
	}
	objects, pods := 0, 0
	for _, it := range f.order {
		if a := f.dryRuns[it.Ref]; a != nil {
			objects++
			f.object(it, a)
		}
	}
	for _, c := range f.podSets {
		if a := f.podDryRuns[c.item.Ref]; a != nil && c.by == "" {
			pods++
			f.podAdmission(c, a)
		}
	}
	switch {
	case pods > 0:
		f.checked[Admitted] = fmt.Sprintf("the API server would admit %s and the pods of %s", object.Count(objects, "object"), object.Count(pods, "template"))
	case objects > 0:
		f.checked[Admitted] = fmt.Sprintf("the API server would admit %s", object.Count(objects, "object"))
	}
	f.nodePorts()
	f.podSecurity()
}

func (f *evaluation) object(it *Item, a *Admission) {
	switch {
	case a.Unknown != "":
		f.add(Finding{Topic: Admitted, Verdict: verdictUnknown, Object: it.Ref, Reason: "NotTried", Message: a.Unknown})
	case a.Admitted != nil:
	case f.summed(Finding{Topic: Admitted, Object: it.Ref, Reason: a.Reason}, it.Ref.Namespace, a):
	case f.awaits(a).Name != "":
		f.note("the API server could not try %s, since it needs %s of the batch", plain(it.Ref), plain(f.awaits(a)))
	default:
		f.add(Finding{Topic: Admitted, Verdict: impossible, Object: it.Ref, Reason: a.Reason, Message: "the API server refuses it: " + trim(a.Message)})
		f.refuse(it)
	}
}

// podAdmission reports the dry run of a pod of a template. For quotas the server counts one pod and
// what exists: the needs of the whole batch are added up elsewhere.
func (f *evaluation) podAdmission(c *podSet, a *Admission) {
	j := Finding{Topic: Admitted, Verdict: impossible, Object: c.item.Ref, Field: c.template(), Reason: a.Reason}
	switch {
	case a.Unknown != "":
		j.Verdict, j.Reason, j.Message = verdictUnknown, "NotTried", "its pods: "+a.Unknown
	case a.Admitted != nil, f.summed(j, c.pod.Namespace, a):
		return
	case f.awaits(a).Name != "":
		f.note("the API server could not try the pods of %s, since they need %s of the batch: webhooks on pods were not asked", plain(c.of), plain(f.awaits(a)))
		return
	case c.missing() == 0 && !c.later:
		j.Verdict, j.Reason = verdictUnknown, "NewPodsRefused"
		j.Message = "its pods exist, but the API server would refuse new ones: " + trim(a.Message)
	default:
		j.Message = "the API server refuses its pods: " + trim(a.Message)
		c.refuse()
	}
	f.add(j)
}

// refusal is one of the API server for a quota.
type refusal struct {
	Finding
	quota object.Ref
}

// summed says that something was refused for a quota that was read: the totals explain that
// better, and j is kept in case they do not.
func (f *evaluation) summed(j Finding, namespace string, a *Admission) bool {
	_, after, ok := strings.Cut(a.Message, "exceeded quota: ")
	if !ok {
		return false
	}
	name, _, _ := strings.Cut(after, ",")
	ref := object.Ref{Kind: "ResourceQuota", Namespace: namespace, Name: name}
	if _, ok := check.Of[*corev1.ResourceQuota](f.World.Facts, ref); !ok {
		return false
	}
	j.Verdict, j.Message = verdictUnknown, "the API server refuses it now, although the computed total fits: "+trim(a.Message)
	f.byQuota = append(f.byQuota, refusal{j, ref})
	return true
}

// refusals reports refusals for quotas that the totals do not explain.
func (f *evaluation) refusals() {
	for _, r := range f.byQuota {
		reported := slices.ContainsFunc(f.found, func(j Finding) bool {
			return j.Topic == Quota && j.Object.Namespace == r.quota.Namespace && isWordOf(near(r.quota, r.quota.Namespace), j.Message)
		})
		if !reported {
			f.add(r.Finding)
		}
	}
}

// awaits returns the object of the batch for the want of which the API server could not try:
// it exists only once the batch does.
func (f *evaluation) awaits(a *Admission) object.Ref {
	lower := strings.ToLower(a.Message)
	for _, it := range f.order {
		switch it.Ref.GroupKind() {
		case accountKind, priorityKind, runtimeKind, namespaceKind:
		default:
			continue
		}
		kind := strings.ToLower(it.Ref.Kind)
		spoken := strings.Contains(lower, kind) || it.Ref.Kind == "ServiceAccount" && strings.Contains(lower, "service account")
		if !it.Exists && spoken && strings.Contains(lower, "found") && isWordOf(it.Ref.Name, a.Message) {
			return it.Ref
		}
	}
	return object.Ref{}
}

// podSecurity evaluates the Pod Security level that a namespace enforces by its labels, for
// pods that no dry run tried under these labels.
func (f *evaluation) podSecurity() {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return
	}
	open := psaapi.LevelVersion{Level: psaapi.LevelPrivileged, Version: psaapi.LatestVersion()}
	for _, c := range f.podSets {
		if a := f.podDryRuns[c.item.Ref]; a != nil && a.Admitted != nil && !f.inBatch(object.Ref{Kind: "Namespace", Name: c.pod.Namespace}) {
			continue
		}
		labels, known := f.labelsOf(c.pod.Namespace)
		if !known || c.lost || c.missing() == 0 && !c.later {
			continue
		}
		p, errs := psaapi.PolicyToEvaluate(labels, psaapi.Policy{Enforce: open, Audit: open, Warn: open})
		if len(errs) > 0 {
			f.add(Finding{Topic: Admitted, Verdict: verdictUnknown, Object: c.item.Ref, Reason: "PodSecurity", Message: fmt.Sprintf("the Pod Security labels of Namespace/%s cannot be read: %v", c.pod.Namespace, errs.ToAggregate())})
			continue
		}
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(p.Enforce, &c.pod.ObjectMeta, &c.pod.Spec))
		if result.Allowed {
			continue
		}
		j := Finding{
			Topic: Admitted, Verdict: impossible, Object: c.item.Ref, Reason: "PodSecurity",
			Message: fmt.Sprintf("Namespace/%s enforces Pod Security %q, which refuses its pods: %s", c.pod.Namespace, p.Enforce.Level, result.ForbiddenDetail()),
			Remedy:  "set the security context that the level requires, or run it in a namespace that allows it",
		}
		j.Field = c.template()
		f.addRefusal(j, c)
	}
}

// trim removes the full stop of a server's message.
func trim(s string) string { return strings.TrimSuffix(strings.TrimSpace(s), ".") }
