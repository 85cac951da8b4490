package autoscale

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// The kinds of scalers.
var (
	horizontalKind   = schema.GroupKind{Group: "autoscaling", Kind: Horizontal}
	verticalKind     = schema.GroupKind{Group: "autoscaling.k8s.io", Kind: Vertical}
	scaledObjectKind = schema.GroupKind{Group: "keda.sh", Kind: "ScaledObject"}
)

// target is the object whose scale is set: a workload, or the custom resource whose operator sizes
// it.
func (p *planner) target(wl *check.Workload) (object.Ref, *Refusal) {
	owner, custom := p.State.CustomOwner(wl)
	if !custom {
		return wl.Ref, nil
	}
	if kind, ok := p.State.Kinds.Kind(owner.GroupKind()); ok && kind.Scalable {
		return owner, nil
	}
	operator := "its operator"
	if p.State.Catalogued != nil {
		if name, known := p.State.Catalogued(owner.GroupKind()); known {
			operator = "the operator " + name
		}
	}
	return wl.Ref, &Refusal{
		Reason: "Operator", Message: fmt.Sprintf("%s sizes it for %s, which has no subresource scale: a scaler would be reverted", operator, short(owner)),
		Hint: fmt.Sprintf("set its replicas in %s (kubectl sysop man %s shows the fields)", short(owner), owner.Kind),
	}
}

// refuse is why a target must not be scaled; nil for no reason.
func (p *planner) refuse(app *App, r *Proposal) *Refusal {
	signal := app.Held
	if signal == "" {
		signal = p.Held[r.Target]
	}
	if signal == "" {
		signal = p.Held[r.workload.Ref]
	}
	switch {
	case signal != "":
		return &Refusal{Reason: "Held", Message: fmt.Sprintf("regulation holds it (%s), and restores its replicas afterwards", signal), Hint: "kubectl sysop regulate status shows why; run this again when it has recovered"}
	case r.workload.Replicas == 0:
		return &Refusal{Reason: "Zero", Message: "it is scaled to 0, and a HorizontalPodAutoscaler does nothing at 0 replicas", Hint: "kubectl scale --replicas=1 starts it"}
	}
	if !app.IgnoreGitOps {
		if k := p.manager(r.Target); k.By == "argocd" || k.By == "flux" {
			return &Refusal{
				Reason: "GitOps", Message: fmt.Sprintf("it is managed by %s, which reverts its replicas", k),
				Hint: "leave spec.replicas out of its manifest in Git; then write gitops: ignore for its app in a System, or put the scaler into Git",
			}
		}
	}
	return nil
}

// manager is the GitOps tool of an object, by its marks and by the graph.
func (p *planner) manager(ref object.Ref) install.Manager {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: ref.Group, Kind: ref.Kind})
	u.SetName(ref.Name)
	u.SetNamespace(ref.Namespace)
	u.SetLabels(p.State.Labels(ref))
	const tracking = "argocd.argoproj.io/tracking-id"
	if note, ok := p.State.Facts.Annotation(ref, tracking); ok {
		u.SetAnnotations(map[string]string{tracking: note})
	}
	k := install.ManagerOf(u)
	id, ok := p.Graph.Find(ref)
	if k.By == "argocd" || k.By == "flux" || !ok {
		return k
	}
	for _, m := range p.Graph.ManagersOf(id) {
		switch tool := p.Graph.Ref(m); {
		case tool.Group == "argoproj.io":
			return install.Manager{By: "argocd", Name: tool.Name, Namespace: tool.Namespace, Reverts: true}
		case strings.HasSuffix(tool.Group, ".toolkit.fluxcd.io"):
			return install.Manager{By: "flux", Kind: tool.Kind, Name: tool.Name, Namespace: tool.Namespace, Reverts: true}
		}
	}
	return k
}

// scaledAlready refuses a second scaler. One of ours is changed instead.
func (p *planner) scaledAlready(r *Proposal) *Refusal {
	for _, ref := range slices.Compact([]object.Ref{r.Target, r.workload.Ref}) {
		id, ok := p.Graph.Find(ref)
		if !ok {
			continue
		}
		for e := range p.Graph.In(id) {
			scaler := p.Graph.Ref(e.From)
			gk := scaler.GroupKind()
			if p.Graph.State(e.From) != graph.Present || gk != horizontalKind && gk != verticalKind && gk != scaledObjectKind {
				continue
			}
			if maker, ok := p.State.Owner(scaler); ok && maker.GroupKind() == scaledObjectKind {
				continue // the HPA that KEDA makes for a ScaledObject
			}
			if name, _ := p.Graph.Label(e.From, regulate.InstalledLabel); name == p.System {
				r.Exists = scaler
				continue
			}
			if system := StatedBy(p.State, scaler); system != "" {
				return &Refusal{
					Reason: "Stated", Message: fmt.Sprintf("%s scales it already, as the manifest of the System %s says", short(scaler), system),
					Hint: "kubectl sysop upgrade -f FILE sets what its autoscaling says",
				}
			}
			if gk == verticalKind && p.updateMode(scaler) == "Off" {
				r.Reasons = append(r.Reasons, fmt.Sprintf("%s recommends its requests, and changes nothing", short(scaler)))
				continue
			}
			return secondScaler(scaler, e.Why(), fmt.Sprintf("keep that one, and write autoscaling: false for the app; or delete it first: kubectl delete %s/%s -n %s", strings.ToLower(scaler.Kind), scaler.Name, scaler.Namespace))
		}
	}
	return nil
}

// replaced refuses an HPA beside a ScaledObject of ours, which goes only after it is made.
func replaced(r *Proposal) *Refusal {
	if r.Scaler != Horizontal || r.Exists.GroupKind() != scaledObjectKind {
		return nil
	}
	return &Refusal{
		Reason: "Scaled", Message: fmt.Sprintf("%s of an earlier run scales it by a queue or by requests, which are unknown now: an HPA beside it would undo its changes", short(r.Exists)),
		Hint: "kubectl sysop autoscale remove deletes it; then apply again",
	}
}

// StatedBy is the System that set up a scaler as its manifest says; empty for another scaler.
func StatedBy(state *check.ClusterState, scaler object.Ref) string {
	name := state.Labels(scaler)[regulate.InstalledLabel]
	release, _ := state.Facts.Annotation(scaler, graph.HelmName)
	if name == "" || release != name+"-"+system.ScalersApp || strings.HasSuffix(name, Suffix) {
		return ""
	}
	return name
}

func secondScaler(scaler object.Ref, reason, hint string) *Refusal {
	return &Refusal{Reason: "Scaled", Message: fmt.Sprintf("%s scales it already (%s): two scalers undo each other's changes", short(scaler), reason), Hint: hint}
}

// short names an object within its namespace.
func short(ref object.Ref) string { return ref.Kind + "/" + ref.Name }

// updateMode is that of a VPA; Auto is the default.
func (p *planner) updateMode(vpa object.Ref) string {
	if mode, ok, _ := unstructured.NestedString(p.Fields(vpa), "spec", "updatePolicy", "updateMode"); ok {
		return mode
	}
	return "Auto"
}

func pinnedBy(claim string) string {
	return fmt.Sprintf("its pods share the claim %s, which is ReadWriteOnce: a second pod on another node does not start", claim)
}

func sharedClaim(claim string) *Refusal {
	return &Refusal{Reason: "Claim", Message: pinnedBy(claim), Hint: "use a claim that is ReadWriteMany, or a StatefulSet with a claim for each pod"}
}
