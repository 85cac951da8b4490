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

// RecordDryRun keeps the part of a result that concerns the object, and not the place or the time
// of the trial.
func (a *Preflight) RecordDryRun(t *DryRunTrial, result source.DryRunResult) {
	t.Said.Admitted, t.Said.Reason, t.Said.Message, t.Said.Unknown = result.Admitted, result.Reason, result.Message, result.Unknown
	ns := t.Item.Ref.Namespace
	if admitted := t.Said.Admitted; admitted != nil {
		if t.Pod != nil {
			t.Pod.Restore(admitted, ns)
		} else if t.Instead != "" {
			admitted.SetNamespace(ns)
			admitted.SetName(t.Item.Ref.Name)
			admitted.SetGenerateName(t.Item.Object.GetGenerateName())
		}
		return
	}
	if result.Reason == "" {
		return
	}
	// A cached discovery knows kinds for hours after they are gone.
	if result.Code == http.StatusNotFound && strings.Contains(result.Message, "could not find the requested resource") {
		if crd := a.definitionOf(t.Resource); crd != nil {
			t.Said = CheckedBySchema(crd, t.Item.Object)
			t.Said.Ref, t.Said.Pod = t.Item.Ref, t.Pod != nil
			return
		}
	}
	switch ofContent := result.Code == http.StatusBadRequest || result.Code == http.StatusUnprocessableEntity; {
	case t.Instead != "" && !ofContent:
		t.markUnknown("namespace %s does not exist yet; a dry run in %s instead was refused: %s", ns, t.Instead, result.Message)
	case ofQuota(result.Message) && (t.Pod != nil && (t.Item.Exists || t.Item.Ref.Kind == "CronJob") || a.changes("ResourceQuota", ns) || a.changes("LimitRange", ns)):
		// The existing pods count, and the count changes: the totals of the quota decide.
		t.Silent = true
	case strings.Contains(result.Message, "violates PodSecurity") && a.changesSecurity(ns):
		t.markUnknown("the batch changes which Pod Security Standard namespace %s enforces; now it is refused: %s", ns, result.Message)
	}
}

func (t *DryRunTrial) markUnknown(format string, args ...any) {
	t.Said.Reason, t.Said.Message, t.Said.Unknown = "", "", fmt.Sprintf(format, args...)
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

// EnforceLabel is the label of a namespace that names the Pod Security level it enforces.
const EnforceLabel = "pod-security.kubernetes.io/enforce"

// changesSecurity reports that the batch changes the Pod Security standard of an existing
// namespace.
func (a *Preflight) changesSecurity(namespace string) bool {
	current, ok := a.namespaceOf(namespace)
	i := slices.IndexFunc(a.Batch, func(it preflight.Item) bool { return it.Ref == object.Ref{Kind: "Namespace", Name: namespace} })
	return ok && i >= 0 && a.Batch[i].Object.GetLabels()[EnforceLabel] != current.Labels[EnforceLabel]
}

// changes reports that the batch has an object of a kind in a namespace, or the namespace itself.
func (a *Preflight) changes(kind, namespace string) bool {
	return slices.ContainsFunc(a.Batch, func(it preflight.Item) bool {
		return it.Ref.Group == "" && it.Ref.Kind == kind && it.Ref.Namespace == namespace
	})
}
