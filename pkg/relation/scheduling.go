package relation

import (
	nodev1 "k8s.io/api/node/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// schedulingRules reads groups of pods that are scheduled together. Their versions, and with them
// their fields, still change.
func schedulingRules() []Rule {
	groups := from(podGroup, compositePodGroup)
	return []Rule{
		{Name: "workload-controller", From: from(workload), Relation: Serves, Via: Spec, To: "(controller)", Field: "spec.controllerRef", Untyped: true, Links: workloadController},
		{Name: "workload-class", From: from(workload), Relation: Needs, Via: Spec, To: "PriorityClass", Field: "spec.podGroupTemplates[].priorityClassName", Untyped: true, Links: workloadClasses},
		{Name: "workload-claim", From: from(workload), Relation: Needs, Via: Spec, To: "ResourceClaim", Field: "spec.podGroupTemplates[].resourceClaims[]", Untyped: true, Links: workloadClaims},
		{Name: "pod-group-workload", From: groups, Relation: Needs, Via: Spec, To: "Workload", Field: "spec.workloadRef.workloadName", Untyped: true, Links: podGroupWorkload},
		{Name: "pod-group-parent", From: groups, Relation: Needs, Via: Spec, To: "CompositePodGroup", Field: "spec.parentCompositePodGroupName", Untyped: true, Links: podGroupParent},
		{Name: "pod-group-class", From: groups, Relation: Needs, Via: Spec, To: "PriorityClass", Field: "spec.priorityClassName", Untyped: true, Links: podGroupClass},
		{Name: "pod-group-claim", From: from(podGroup), Relation: Needs, Via: Spec, To: "ResourceClaim", Field: "spec.resourceClaims[]", Untyped: true, Links: podGroupClaims},
		{Name: "runtime-class-node", From: from(runtimeClass), Relation: Needs, Via: Label, To: "Node", Field: "scheduling.nodeSelector", Peer: true, Links: on(runtimeClassNodes)},
	}
}

// workloadController: the Workload serves its controller, which works without it.
func workloadController(o object.Object, emit EmitFunc) {
	ref := part(o.Fields(), "spec", "controllerRef")
	t := local(ref, o.Namespace)
	t.Kind.Group, _ = part(ref, "apiGroup").(string)
	referred(emit, t, "spec.controllerRef")
}

// podGroupTemplates visits the templates of a Workload, including those of nested groups.
func podGroupTemplates(o object.Object, each func(template any, path string)) {
	const deepest = 4 // the server's limit
	var visit func(at any, path string, depth int)
	visit = func(in any, path string, depth int) {
		for i, t := range items(in, "podGroupTemplates") {
			each(t, at(path+"podGroupTemplates[", i, "]."))
		}
		for i, t := range items(in, "compositePodGroupTemplates") {
			prefix := at(path+"compositePodGroupTemplates[", i, "].")
			each(t, prefix)
			if depth < deepest {
				visit(t, prefix, depth+1)
			}
		}
	}
	visit(part(o.Fields(), "spec"), "spec.", 1)
}

func workloadClasses(o object.Object, emit EmitFunc) {
	podGroupTemplates(o, func(t any, path string) {
		name, _ := part(t, "priorityClassName").(string)
		named(emit, priorityClass, "", name, path+"priorityClassName")
	})
}

func workloadClaims(o object.Object, emit EmitFunc) {
	podGroupTemplates(o, func(t any, path string) { groupClaims(t, o.Namespace, path, emit) })
}

func groupClaims(group any, namespace, path string, emit EmitFunc) {
	for i, c := range items(group, "resourceClaims") {
		at := at(path+"resourceClaims[", i, "].")
		name, _ := part(c, "resourceClaimName").(string)
		named(emit, resourceClaim, namespace, name, at+"resourceClaimName")
		template, _ := part(c, "resourceClaimTemplateName").(string)
		named(emit, resourceClaimTemplate, namespace, template, at+"resourceClaimTemplateName")
	}
}

// podGroupWorkload: in v1alpha2 the reference is one level deeper.
func podGroupWorkload(o object.Object, emit EmitFunc) {
	spec := part(o.Fields(), "spec")
	name, _ := part(spec, "workloadRef", "workloadName").(string)
	named(emit, workload, o.Namespace, name, "spec.workloadRef.workloadName")
	old, _ := part(spec, "podGroupTemplateRef", "workload", "workloadName").(string)
	named(emit, workload, o.Namespace, old, "spec.podGroupTemplateRef.workload.workloadName")
}

func podGroupParent(o object.Object, emit EmitFunc) {
	name, _ := part(o.Fields(), "spec", "parentCompositePodGroupName").(string)
	named(emit, compositePodGroup, o.Namespace, name, "spec.parentCompositePodGroupName")
}

func podGroupClass(o object.Object, emit EmitFunc) {
	name, _ := part(o.Fields(), "spec", "priorityClassName").(string)
	named(emit, priorityClass, "", name, "spec.priorityClassName")
}

// podGroupClaims: only the status names claims that were generated from a template.
func podGroupClaims(o object.Object, emit EmitFunc) {
	groupClaims(part(o.Fields(), "spec"), o.Namespace, "spec.", emit)
	for i, s := range items(o.Fields(), "status", "resourceClaimStatuses") {
		name, _ := part(s, "resourceClaimName").(string)
		named(emit, resourceClaim, o.Namespace, name, at("status.resourceClaimStatuses[", i, "].resourceClaimName"))
	}
}

// runtimeClassNodes: an empty selector allows every node.
func runtimeClassNodes(c *nodev1.RuntimeClass, _ object.Ref, emit EmitFunc) {
	if c.Scheduling != nil && len(c.Scheduling.NodeSelector) > 0 {
		sel := &Selector{Labels: c.Scheduling.NodeSelector}
		emit(Link{Target: Target{Kind: node, Selector: sel}, Field: "scheduling.nodeSelector", Value: sel.String()})
	}
}
