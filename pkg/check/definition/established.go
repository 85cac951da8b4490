package definition

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func established(d *check.Definition, r *check.Result) {
	conditions := map[apiextensionsv1.CustomResourceDefinitionConditionType]apiextensionsv1.CustomResourceDefinitionCondition{}
	for _, c := range d.CRD.Status.Conditions {
		conditions[c.Type] = c
	}
	if len(conditions) == 0 {
		r.AddUnknown(d.Ref, "its status has no conditions")
		return
	}
	for _, want := range []struct {
		is   apiextensionsv1.CustomResourceDefinitionConditionType
		text string
	}{
		{apiextensionsv1.NamesAccepted, "its names are not accepted"},
		{apiextensionsv1.Established, "it is not served"},
	} {
		if c, ok := conditions[want.is]; ok && c.Status != apiextensionsv1.ConditionTrue {
			f := check.Finding{Object: d.Ref, Field: fmt.Sprintf("status.conditions[%s].status", want.is), Value: string(c.Status), Message: want.text}
			if c.Message != "" {
				f.Message += ": " + c.Message
			}
			r.AddFinding(f)
		}
	}
	if len(r.Findings) == 0 {
		r.Pass(d.Ref)
	}
}

// builtIns checks the pods that run until they are deleted. A pod that runs to completion (a
// step of a workflow) need not be replaced.
func builtIns(d *check.Definition, r *check.Result) {
	for _, ref := range d.Instances {
		var bare, held []object.Ref
		for _, wl := range d.World.WorkloadsOf(d.World.Owned(ref)) {
			switch {
			case wl.Ref.Kind == "Pod" && isKeptUp(wl):
				bare = append(bare, wl.Ref)
			case wl.IsLongRunning():
				held = append(held, wl.Ref)
			}
		}
		switch {
		case len(bare) > 0:
			r.AddFinding(check.Finding{
				Object: ref, Related: bare,
				Message: fmt.Sprintf("the operator itself creates %s of it (%s): while it is down, lost ones are not replaced", object.Count(len(bare), "pod"), check.Names(bare)),
			})
		case len(held) > 0:
			r.Pass(ref)
		}
	}
}

// isKeptUp reports whether a bare pod runs until it is deleted.
func isKeptUp(wl *check.Workload) bool {
	return len(wl.Pods) > 0 && wl.Pods[0].Spec.RestartPolicy != corev1.RestartPolicyNever && wl.Pods[0].Spec.RestartPolicy != corev1.RestartPolicyOnFailure
}
