package rbac

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func accountRules() []check.Rule {
	return []check.Rule{
		{
			ID: "operator-service-account", Category: check.Security, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(6)},
			Title:    "The operator's pods have a service account of their own",
			Why:      "Pods without an account run as default, and then every other pod of the namespace without an account has the operator's permissions.",
			Fix:      "Create a ServiceAccount for the operator, name it in spec.template.spec.serviceAccountName, and bind its roles to it.",
			Operator: accountOfOperator,
		},
		{
			ID: "pod-service-account", Category: check.Security, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(7)},
			Title: "Pods have a service account of their own, or no token",
			Why:   "All pods of the namespace without an account share the account default: what is granted to one of them, all have.",
			Fix:   "Set serviceAccountName; or automountServiceAccountToken: false, where the pod does not talk to the API.",
			Stack: accountOfPods,
		},
	}
}

var serviceAccountKind = object.Ref{Kind: "ServiceAccount"}.GroupKind()

// accountTokenIn reports whether a volume holds a service account's token for the API server.
func accountTokenIn(volumes []corev1.Volume) bool {
	return slices.ContainsFunc(volumes, func(v corev1.Volume) bool {
		return v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool {
			// A token for another audience is not accepted by the API server.
			return s.ServiceAccountToken != nil && s.ServiceAccountToken.Audience == ""
		})
	})
}

// holdsToken reports whether containers get a token of their service account. The pod's
// setting takes precedence over the account's; the default is true. Static pods never do.
func holdsToken(w *check.ClusterState, sa object.Ref, v check.PodView) (mounted, known bool) {
	switch {
	case accountTokenIn(v.Spec.Volumes):
		return true, true
	case check.IsMirrorPod(v.Meta):
		return false, true
	}
	if auto := v.Spec.AutomountServiceAccountToken; auto != nil {
		return *auto, true
	}
	if a, ok := check.Of[*corev1.ServiceAccount](w.Facts, sa); ok {
		return a.AutomountServiceAccountToken == nil || *a.AutomountServiceAccountToken, true
	}
	return true, w.Read(serviceAccountKind, sa.Namespace)
}

// accountViews returns one pod of a workload for each account: during a rollout there may be
// two.
func accountViews(wl *check.Workload) []check.PodView {
	var out []check.PodView
	for _, v := range check.PodViews(wl) {
		if !slices.ContainsFunc(out, func(o check.PodView) bool { return o.Spec.ServiceAccountName == v.Spec.ServiceAccountName }) {
			out = append(out, v)
		}
	}
	return out
}

func accountOfOperator(o *check.Operator, r *check.Result) {
	if len(o.Workloads) == 0 {
		r.AddUnknown(o.Ref(), cmp.Or(o.Unknown, "the workload that runs it is unknown"))
	}
	for _, wl := range o.Workloads {
		for _, v := range accountViews(wl) {
			sa := check.ServiceAccount(wl.Ref.Namespace, v.Spec.ServiceAccountName)
			f := check.Finding{Object: wl.Ref, Field: wl.SpecPath() + ".serviceAccountName", Value: v.Spec.ServiceAccountName, Related: []object.Ref{sa}}
			if sa.Name == "default" {
				f.Message = fmt.Sprintf("it runs as the account default of the namespace %s, as do all pods there without an account", sa.Namespace)
				if bound := o.World.OwnBindings(sa); len(bound) > 0 {
					f.Severity = check.Error
					f.Message = fmt.Sprintf("it runs as the account default of the namespace %s, and %s gives its permissions to every pod there without an account", sa.Namespace, check.Describe(bound[0].Object))
					f.Related = append(f.Related, bound[0].Object)
				}
				r.AddFinding(f)
				continue
			}
			if sharers := sharing(o, sa); len(sharers) > 0 {
				f.Related = append(f.Related, sharers...)
				f.Message = fmt.Sprintf("its account %s is also that of %s, which has all permissions of the operator", sa.Name, check.DescribeAll(sharers))
				f.Remedy = fmt.Sprintf("Give %s an account of its own.", check.DescribeAll(sharers))
				r.AddFinding(f)
				continue
			}
			r.Pass(wl.Ref)
		}
	}
}

// sharing returns the long-running workloads of others that run as an account. Workloads of
// the same release or application as the operator are parts of it.
func sharing(o *check.Operator, sa object.Ref) []object.Ref {
	var out []object.Ref
	for _, wl := range o.World.Workloads() {
		if wl.Ref.Namespace != sa.Namespace || !wl.IsLongRunning() || slices.ContainsFunc(o.Workloads, func(own *check.Workload) bool { return own.Ref == wl.Ref || sameRelease(o.World, own.Ref, wl.Ref) }) {
			continue
		}
		if slices.ContainsFunc(check.PodViews(wl), func(v check.PodView) bool { return check.ServiceAccount(sa.Namespace, v.Spec.ServiceAccountName) == sa }) {
			out = append(out, wl.Ref)
		}
	}
	return out
}

// releaseNotes are the labels and annotations that identify parts of one installation.
var releaseNotes = []string{"app.kubernetes.io/instance", "app.kubernetes.io/part-of", "release", "olm.owner", "meta.helm.sh/release-name"}

func sameRelease(w *check.ClusterState, a, b object.Ref) bool {
	say := func(ref object.Ref, key string) string {
		if id, ok := w.Graph.Find(ref); ok {
			if v, ok := w.Graph.Label(id, key); ok {
				return v
			}
		}
		v, _ := w.Facts.Annotation(ref, key)
		return v
	}
	return slices.ContainsFunc(releaseNotes, func(key string) bool {
		v := say(a, key)
		return v != "" && v == say(b, key)
	})
}

func accountOfPods(s *check.Stack, r *check.Result) {
	operated := s.World.OperatorWorkloads()
	for _, wl := range s.Workloads() {
		if operated[wl.Ref] {
			continue
		}
		for _, v := range accountViews(wl) {
			accountOfPod(s.World, wl, v, r)
		}
	}
}

func accountOfPod(w *check.ClusterState, wl *check.Workload, v check.PodView, r *check.Result) {
	sa := check.ServiceAccount(wl.Ref.Namespace, v.Spec.ServiceAccountName)
	if sa.Name != "default" {
		r.Pass(wl.Ref)
		return
	}
	mounted, known := holdsToken(w, sa, v)
	switch {
	case !known:
		r.AddUnknown(wl.Ref, fmt.Sprintf("%s could not be read: it is unknown whether its pods get its token", check.Describe(sa)))
		return
	case !mounted:
		r.Pass(wl.Ref)
		return
	}
	f := check.Finding{
		Severity: check.Info, Object: wl.Ref, Field: wl.SpecPath() + ".serviceAccountName", Value: v.Spec.ServiceAccountName, Related: []object.Ref{sa},
		Message: fmt.Sprintf("its pods run as the account default of the namespace %s, with its token", sa.Namespace),
	}
	f.Remedy = w.RemedyFor(wl, "Set serviceAccountName; or automountServiceAccountToken: false, where the pods do not talk to the API.")
	if bound := w.OwnBindings(sa); len(bound) > 0 {
		f.Severity = check.Warning
		f.Message = fmt.Sprintf("%s; %s gives that account %s", f.Message, check.Describe(bound[0].Object), bound[0].Role.Kind+" "+bound[0].Role.Name)
		f.Related = append(f.Related, bound[0].Object)
	}
	if _, custom := w.CustomOwner(wl); !custom && wl.Template != nil {
		f.Patch = check.PodPatch(wl, "automountServiceAccountToken: false")
	}
	r.AddFinding(f)
}
