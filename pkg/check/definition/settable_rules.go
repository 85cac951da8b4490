package definition

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// settableRules are about the pod settings that a custom resource offers. Users must patch any
// other setting behind the operator's back, and the operator reverts it.
func settableRules() []check.Rule {
	rule := func(id string, c check.Category, s check.Severity, n int, subject setting, title, reason, fix string) check.Rule {
		return check.Rule{
			ID: id, Category: c, Severity: s, Guidelines: []check.Guideline{check.MaturityGuideline(n)}, Title: title, Why: reason, Fix: fix,
			Definition: func(d *check.Definition, r *check.Result) { settableRule(d, subject, r) },
		}
	}
	return []check.Rule{
		rule("crd-sets-resources", check.Robustness, check.Warning, 14, setsResources,
			"Requests and limits can be set in the custom resource",
			"If only the operator decides, its pods are too large for small clusters, or are killed in large ones.",
			"Accept a ResourceRequirements (resources) for each kind of pod, and pass it to the containers."),
		rule("crd-sets-nodes", check.Security, check.Info, 10, setsNodes,
			"Nodes can be chosen in the custom resource",
			"Without a node selector or node affinity, instances of different tenants cannot run on nodes of their own.",
			"Accept a nodeSelector or an affinity, and pass it to the pods."),
		rule("crd-sets-pod-affinity", check.Security, check.Info, 11, setsPodAffinity,
			"Pod affinity can be set in the custom resource",
			"Without it, pods that talk to each other cannot run together on a node or in a zone.",
			"Accept an affinity, and pass it to the pods."),
		rule("crd-sets-spread", check.Robustness, check.Info, 17, setsSpread,
			"Anti-affinity or topology spread can be set in the custom resource",
			"If neither can be set, all replicas may run on one node, and are lost with it.",
			"Accept an affinity or topologySpreadConstraints, and pass them to the pods."),
		rule("crd-sets-tolerations", check.Robustness, check.Info, 18, setsTolerations,
			"Tolerations can be set in the custom resource",
			"Without them, pods cannot run on nodes that are tainted for their purpose.",
			"Accept tolerations, and pass them to the pods."),
		rule("crd-sets-service-account", check.Security, check.Info, 7, setsServiceAccount,
			"The service account of the pods can be set, or is their own",
			"If pods share an account with others, permissions cannot be granted to one instance only.",
			"Accept a serviceAccountName, or create a service account for each instance."),
		rule("crd-sets-security-context", check.Security, check.Info, 8, setsSecurityContext,
			"The security context of the pods can be set in the custom resource",
			"Clusters differ in what they allow. A fixed context cannot be made to fit.",
			"Accept a securityContext for pods and one for containers, with defaults that follow the restricted standard."),
		rule("crd-sets-pod-labels", check.Security, check.Info, 12, setsPodLabels,
			"Labels of the pods can be set in the custom resource",
			"Network policies, budgets and cost reports select pods by labels. Labels that are set by hand are lost with the next pod.",
			"Accept labels for pods (podLabels, or the metadata of a pod template), and add them to the operator's own."),
	}
}

// settableWords are the names of a setting in messages, and its usual field.
var settableWords = [...]struct{ what, field string }{
	setsResources:       {"the requests and limits", "resources"},
	setsNodes:           {"the nodes", "nodeSelector"},
	setsPodAffinity:     {"the pod affinity", "affinity"},
	setsSpread:          {"the anti-affinity or spread", "topologySpreadConstraints"},
	setsTolerations:     {"the tolerations", "tolerations"},
	setsServiceAccount:  {"the service account", "serviceAccountName"},
	setsSecurityContext: {"the security context", "securityContext"},
	setsPodLabels:       {"the labels", "podLabels"},
}

func settableRule(d *check.Definition, subject setting, r *check.Result) {
	v := d.Storage()
	if !settableApplies(d) || schemaOf(v) == nil {
		return
	}
	at, auxiliary, ok := settableAt(d, subject)
	if ok && (!auxiliary || settableAuxiliaryName().MatchString(d.Kind.Kind)) {
		r.Pass(d.Ref)
		return
	}
	workloads := ownWorkloads(d)
	switch subject {
	case setsServiceAccount:
		if len(workloads) == 0 {
			r.AddUnknown(d.Ref, "no instance runs pods yet, so it is unknown whether each has an account of its own")
			return
		}
		if ownAccounts(d, workloads) {
			r.Pass(d.Ref)
			return
		}
	case setsSpread:
		if _, replicas := settable(d, setsReplicas); !replicas && !severalOf(workloads) {
			return
		}
	}
	words := settableWords[subject]
	if path, ok := settableOpen(d); ok {
		r.AddUnknown(d.Ref, path+" accepts fields that the schema does not know, so it is unknown whether "+words.what+" of pods can be set there")
		return
	}
	if ok {
		r.AddUnknown(d.Ref, at+" sets "+words.what+" of a part, and it is unknown whether any field does so for the other pods")
		return
	}
	f := check.Finding{
		Object: d.Ref, Field: schemaField(v),
		Message: "no field of " + d.Kind.Kind + " sets " + words.what + " of its pods",
		Remedy:  "Add a field such as spec." + words.field + ", and pass it to the pods.",
	}
	for _, w := range workloads {
		f.Related = append(f.Related, w.Ref)
	}
	if path, ok := settablePruned(d, subject); ok {
		f.Field, f.Value = schemaField(v), path
		f.Message = path + " has no fields in the schema, so labels there are pruned"
		f.Remedy = "Generate the schema with the fields of embedded metadata (controller-gen crd:generateEmbeddedObjectMeta=true)."
	}
	r.AddFinding(f)
}

// ownAccounts reports whether the pods of all workloads run as service accounts that instances
// own: then each instance has its own.
func ownAccounts(d *check.Definition, workloads []*check.Workload) bool {
	owned := map[string]bool{}
	for _, ref := range d.Instances {
		for _, o := range d.World.Owned(ref) {
			if o.Kind == "ServiceAccount" && o.Group == "" {
				owned[o.Namespace+"/"+o.Name] = true
			}
		}
	}
	for _, w := range workloads {
		for _, spec := range w.Specs() {
			if !owned[w.Ref.Namespace+"/"+spec.ServiceAccountName] {
				return false
			}
		}
	}
	return len(workloads) > 0
}

// severalOf reports whether a workload has replicas that may run on one node, which those of a
// DaemonSet never do.
func severalOf(workloads []*check.Workload) bool {
	return slices.ContainsFunc(workloads, func(w *check.Workload) bool {
		return w.Replicas > 1 && w.Ref.Kind != "DaemonSet" && w.IsLongRunning()
	})
}

// settablePruned returns the metadata of a pod template for which the schema has no fields:
// the server prunes what users write there.
func settablePruned(d *check.Definition, subject setting) (path string, ok bool) {
	if subject != setsPodLabels || d.CRD.Spec.PreserveUnknownFields {
		return "", false
	}
	for _, top := range schemaDesired(d.Storage()) {
		top.walk(func(n *schemaNode) bool {
			holder := n.holder()
			if !ok && n.name == "metadata" && holder != nil && strings.Contains(strings.ToLower(holder.name), "template") &&
				len(n.props.Properties) == 0 && n.props.AdditionalProperties == nil && !schemaOpen(n.props) && isPodTemplate(holder) {
				path, ok = n.path(), true
			}
			return !ok
		})
	}
	return path, ok
}

// isPodTemplate reports whether a template is that of pods.
func isPodTemplate(n *schemaNode) bool {
	spec := n.props.Properties["spec"]
	return settableHas(&spec, "containers")
}
