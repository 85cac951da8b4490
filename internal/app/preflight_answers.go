package app

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// recordDryRun keeps the part of a result that concerns the object, and not the place or the time
// of the trial.
func (a *Preflight) recordDryRun(t *dryRunTrial, result source.DryRunResult) {
	t.result.Admitted, t.result.Reason, t.result.Message, t.result.Unknown = result.Admitted, result.Reason, result.Message, result.Unknown
	ns := t.item.Ref.Namespace
	if admitted := t.result.Admitted; admitted != nil {
		if t.pod != nil {
			t.pod.restore(admitted, ns)
		} else if t.replacement != "" {
			admitted.SetNamespace(ns)
			admitted.SetName(t.item.Ref.Name)
			admitted.SetGenerateName(t.item.Object.GetGenerateName())
		}
		return
	}
	if result.Reason == "" {
		return
	}
	// A cached discovery knows kinds for hours after they are gone.
	if result.Code == http.StatusNotFound && strings.Contains(result.Message, "could not find the requested resource") {
		if crd := a.definitionOf(t.Resource); crd != nil {
			t.result = checkedBySchema(crd, t.item.Object)
			t.result.Ref, t.result.Pod = t.item.Ref, t.pod != nil
			return
		}
	}
	switch ofContent := result.Code == http.StatusBadRequest || result.Code == http.StatusUnprocessableEntity; {
	case t.replacement != "" && !ofContent:
		t.markUnknown("namespace %s does not exist yet; a dry run in %s instead was refused: %s", ns, t.replacement, result.Message)
	case ofQuota(result.Message) && (t.pod != nil && (t.item.Exists || t.item.Ref.Kind == "CronJob") || a.changes("ResourceQuota", ns) || a.changes("LimitRange", ns)):
		// The existing pods count, and the count changes: the totals of the quota decide.
		t.silent = true
	case strings.Contains(result.Message, "violates PodSecurity") && a.changesSecurity(ns):
		t.markUnknown("the batch changes which Pod Security Standard namespace %s enforces; now it is refused: %s", ns, result.Message)
	}
}

func (t *dryRunTrial) markUnknown(format string, args ...any) {
	t.result.Reason, t.result.Message, t.result.Unknown = "", "", fmt.Sprintf(format, args...)
}

// ofQuota recognizes a refusal by a ResourceQuota or a LimitRange by its message, since no field of
// the answer has it (k8s.io/apiserver, pkg/admission/plugin/resourcequota; k8s.io/kubernetes,
// plugin/pkg/admission/limitranger).
func ofQuota(message string) bool {
	return strings.Contains(message, "exceeded quota: ") || strings.Contains(message, "failed quota: ") ||
		strings.Contains(message, " usage per Container") || strings.Contains(message, " usage per Pod") || strings.Contains(message, " usage per PersistentVolumeClaim") ||
		strings.Contains(message, "limit to request ratio per ")
}

var limitRangeKind = schema.GroupKind{Kind: "LimitRange"}

// enforceLabel is the label of a namespace that names the Pod Security level it enforces.
const enforceLabel = "pod-security.kubernetes.io/enforce"

// changesSecurity reports that the batch changes the Pod Security standard of an existing
// namespace.
func (a *Preflight) changesSecurity(namespace string) bool {
	current, ok := a.namespaceOf(namespace)
	i := slices.IndexFunc(a.batch, func(it preflight.Item) bool { return it.Ref == object.Ref{Kind: "Namespace", Name: namespace} })
	return ok && i >= 0 && a.batch[i].Object.GetLabels()[enforceLabel] != current.Labels[enforceLabel]
}

// changes reports that the batch has an object of a kind in a namespace, or the namespace itself.
func (a *Preflight) changes(kind, namespace string) bool {
	return slices.ContainsFunc(a.batch, func(it preflight.Item) bool {
		return it.Ref.Group == "" && it.Ref.Kind == kind && it.Ref.Namespace == namespace
	})
}
