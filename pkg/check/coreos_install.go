package check

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func coreosInstalled(o *Operator, r *Result) {
	if len(o.Workloads) == 0 {
		r.AddUnknown(o.Ref(), "the workload that runs it is unknown: "+o.Unknown)
		return
	}
	main := o.Workloads[0]
	var others []object.Ref
	for _, wl := range o.Workloads {
		if wl.Ref.Kind == "Pod" {
			r.AddFinding(Finding{
				Object: wl.Ref, Field: "metadata.ownerReferences",
				Message: "a bare pod runs the operator: nothing recreates it if its node is lost",
				Remedy:  "run it by a Deployment",
			})
			continue
		}
		r.Pass(wl.Ref)
		if wl.Ref != main.Ref && wl.Ref.Namespace != main.Ref.Namespace && coreosSameImage(main, wl) && o.World.Top(wl.Ref) == wl.Ref {
			others = append(others, wl.Ref)
		}
	}
	if len(others) > 0 {
		r.AddFinding(Finding{
			Severity: Info, Object: main.Ref, Field: "metadata.namespace", Value: main.Ref.Namespace, Related: others,
			Message: fmt.Sprintf("the same operator is installed %s more, in %s, and all act on the same CRDs; unless each is restricted to namespaces of its own, they revert each other's changes", object.Count(len(others), "time"), others[0].Namespace),
		})
	}
}

func coreosSameImage(a, b *Workload) bool {
	other := b.Images()
	return slices.ContainsFunc(a.Images(), func(i Image) bool {
		return slices.ContainsFunc(other, func(o Image) bool { return o.Repository == i.Repository })
	})
}

func coreosEstablished(d *Definition, r *Result) {
	said := map[apiextensionsv1.CustomResourceDefinitionConditionType]apiextensionsv1.CustomResourceDefinitionCondition{}
	for _, c := range d.CRD.Status.Conditions {
		said[c.Type] = c
	}
	if len(said) == 0 {
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
		if c, ok := said[want.is]; ok && c.Status != apiextensionsv1.ConditionTrue {
			f := Finding{Object: d.Ref, Field: fmt.Sprintf("status.conditions[%s].status", want.is), Value: string(c.Status), Message: want.text}
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

// coreosBuiltIns looks at the pods that are to run on and on. One that runs to its end (a
// step of a workflow) needs nobody to make it again.
func coreosBuiltIns(d *Definition, r *Result) {
	for _, ref := range d.Instances {
		var bare, held []object.Ref
		for _, wl := range d.World.workloadsOf(d.World.Owned(ref)) {
			switch {
			case wl.Ref.Kind == "Pod" && coreosKeptUp(wl):
				bare = append(bare, wl.Ref)
			case wl.IsLongRunning():
				held = append(held, wl.Ref)
			}
		}
		switch {
		case len(bare) > 0:
			r.AddFinding(Finding{
				Object: ref, Related: bare,
				Message: fmt.Sprintf("the operator itself creates %s of it (%s): while it is down, lost ones are not replaced", object.Count(len(bare), "pod"), coreosNames(bare)),
			})
		case len(held) > 0:
			r.Pass(ref)
		}
	}
}

// coreosKeptUp says that a bare pod is to run until somebody ends it.
func coreosKeptUp(wl *Workload) bool {
	return len(wl.Pods) > 0 && wl.Pods[0].Spec.RestartPolicy != corev1.RestartPolicyNever && wl.Pods[0].Spec.RestartPolicy != corev1.RestartPolicyOnFailure
}

func coreosNames(refs []object.Ref) string {
	var names []string
	for _, r := range refs {
		names = append(names, r.Name)
	}
	return object.ShortList(names)
}
