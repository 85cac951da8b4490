package check

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// rbacTopics is the table of what roles should not give away. The dangers are those of
// https://kubernetes.io/docs/concepts/security/rbac-good-practices/.
func rbacTopics() []rbacTopic {
	return []rbacTopic{
		{
			id: "cluster-admin", find: rbacEverything,
			operator: rbacWords{
				Error, "The operator may not do everything",
				"Whoever takes over its pod owns the cluster; and so may, with some operators, whoever may write its custom resources.",
				"Bind a ClusterRole that names the groups, resources and verbs that it uses, in place of cluster-admin.",
			},
			pods: rbacWords{
				Error, "The pods of an application may not do everything",
				"Whoever takes over one of the pods owns the cluster, or the namespace.",
				"Bind a Role that names what the application asks the API for, or no role at all.",
			},
		},
		{
			id: "wildcards", find: rbacWildcards,
			operator: rbacWords{
				Warning, "Roles of the operator name verbs, resources and groups",
				"\"*\" also means verbs that are no reading and writing (escalate, impersonate), subresources such as pods/exec, and whatever is added later.",
				"Write down the verbs, resources and groups that it uses.",
			},
			pods: rbacWords{
				Warning, "Roles of the application's pods name verbs, resources and groups",
				"\"*\" also means verbs that are no reading and writing (escalate, impersonate), subresources such as pods/exec, and whatever is added later.",
				"Write down the verbs, resources and groups that it uses.",
			},
		},
		{
			id: "secrets", find: rbacSecrets,
			operator: rbacWords{
				Warning, "The operator reads no secrets but those that it needs",
				"Who may list or watch secrets reads all of them: passwords, keys, and tokens of other service accounts.",
				"Name the secrets by resourceNames, or bind the role by RoleBindings in the namespaces where it works.",
			},
			pods: rbacWords{
				Error, "The pods of an application read no secrets of others",
				"Who may list or watch secrets reads all of them: passwords, keys, and tokens of other service accounts.",
				"Mount the secrets that the pod needs; or name them by resourceNames in a Role.",
			},
		},
		{
			id: "escalation", find: rbacEscalation,
			operator: rbacWords{
				Error, "The operator cannot give itself rights",
				"Each of these makes everything else of somebody else: escalate and bind write roles beyond one's own, impersonate acts as others, a token makes one another account.",
				"Leave these verbs out, or narrow them by resourceNames to the roles and accounts that it hands out.",
			},
			pods: rbacWords{
				Error, "The pods of an application cannot give themselves rights",
				"Each of these makes everything else of somebody else: escalate and bind write roles beyond one's own, impersonate acts as others, a token makes one another account.",
				"Leave these verbs out, or narrow them by resourceNames to the roles and accounts that it hands out.",
			},
		},
		{
			id: "exec", find: rbacExec,
			operator: rbacWords{
				Warning, "The operator cannot run commands in pods of others",
				"A command in a pod does what the pod may do, with its secrets and its rights; in a privileged pod, with the node.",
				"Give pods/exec by a Role in the namespaces where it works, or let a Job or the pod itself do the work. Give nodes/metrics and nodes/stats instead of nodes/proxy.",
			},
			pods: rbacWords{
				Warning, "The pods of an application cannot run commands in pods of others",
				"A command in a pod does what the pod may do, with its secrets and its rights; in a privileged pod, with the node.",
				"Give pods/exec by a Role in one namespace, if at all. Give nodes/metrics and nodes/stats instead of nodes/proxy.",
			},
		},
		{
			id: "admission", find: rbacAdmission,
			operator: rbacWords{
				Warning, "The operator cannot put itself in the way of all requests",
				"A webhook reads and changes every object on its way in, secrets too; an APIService answers for a whole API; a definition's conversion webhook sees all objects of a kind.",
				"Install webhooks and definitions with the chart, and narrow get, update and patch to their names by resourceNames.",
			},
			pods: rbacWords{
				Warning, "The pods of an application cannot put themselves in the way of all requests",
				"A webhook reads and changes every object on its way in, secrets too; an APIService answers for a whole API; a definition's conversion webhook sees all objects of a kind.",
				"Take these rights away: an application has no use for them.",
			},
		},
		{
			id: "roles", find: rbacRolesWritten,
			operator: rbacWords{
				Info, "The operator writes no roles",
				"The API server lets it hand on no more than it has, so it has to have all that its applications need, everywhere.",
				"Ship the roles that applications need with the chart, and let the operator only bind them (verb bind, with resourceNames).",
			},
			pods: rbacWords{
				Warning, "The pods of an application write no roles",
				"Who may write bindings hands on what it has to whomever it likes.",
				"Ship roles and bindings with the manifests of the application.",
			},
		},
	}
}

var (
	rbacReading = []string{"get", "list", "watch"}
	rbacWriting = []string{"create", "update", "patch"}
)

func rbacHas(list []string, word string) bool { return slices.Contains(list, word) }

// everything says that a rule means every object of every kind, and more than reading it.
func (x *rbacHolding) everything() bool {
	return rbacHas(x.Rule.APIGroups, rbacv1.APIGroupAll) && rbacHas(x.Rule.Resources, rbacv1.ResourceAll) && len(x.Rule.ResourceNames) == 0 &&
		slices.ContainsFunc(rbacWriting, func(v string) bool { return grantNames(x.Rule.Verbs, v) })
}

func rbacEverything(_ *rbacHolder, x *rbacHolding) (rbacHit, bool) {
	if !x.everything() {
		return rbacHit{}, false
	}
	hit := rbacHit{severity: Error, field: "verbs", value: rbacValue(x.Rule.Verbs), what: "may do everything"}
	if !rbacHas(x.Rule.Verbs, rbacv1.VerbAll) {
		hit.what = fmt.Sprintf("may %s everything", securityAll(x.Rule.Verbs))
	}
	if !x.cluster {
		hit.severity = Warning
	}
	return hit, true
}

// rbacSecrets looks for reading by no name. In its own namespace an operator keeps secrets
// of its own, and an application may mount all of them anyhow.
func rbacSecrets(h *rbacHolder, x *rbacHolding) (rbacHit, bool) {
	verbs := x.may("", "secrets", rbacReading...)
	if len(verbs) == 0 || len(x.Rule.ResourceNames) > 0 || x.everything() {
		return rbacHit{}, false
	}
	hit := rbacHit{field: "resources", value: rbacValue(x.Rule.Resources), what: fmt.Sprintf("may %s every secret", securityAll(verbs))}
	abroad := x.abroad(h)
	switch {
	case x.cluster && h.operator:
		hit.severity = Warning
		if len(h.instances) > 0 && !h.instancesEverywhere() {
			hit.remedy = fmt.Sprintf("Its custom resources are in %s: bind the role there by RoleBindings, if it can be told to work there alone; or name the secrets by resourceNames.", securityList(h.instances))
		}
	case x.cluster:
		hit.severity = Error
	case len(abroad) > 0 && !h.operator:
		hit.severity = Warning
	case len(abroad) > 0, !h.operator:
		hit.severity = Info
	default:
		return rbacHit{}, false
	}
	return hit, true
}

// instancesEverywhere says that it would not help to name the namespaces.
func (h *rbacHolder) instancesEverywhere() bool { return len(h.instances) > 8 }

// rbacPower is a verb on a resource that is as good as another's rights.
type rbacPower struct {
	group, resource string
	verbs           []string
	// namespaced says that a Role can give it.
	namespaced bool
	what       string
}

func rbacEscalations() []rbacPower {
	const group = rbacv1.GroupName
	return []rbacPower{
		{group, "clusterroles", []string{"escalate"}, false, "write cluster roles beyond its own rights"},
		{group, "roles", []string{"escalate"}, true, "write roles beyond its own rights"},
		{group, "clusterroles", []string{"bind"}, true, "bind every cluster role"},
		{group, "roles", []string{"bind"}, true, "bind every role"},
		{"", "users", []string{"impersonate"}, false, "act as every user"},
		{"", "groups", []string{"impersonate"}, false, "act as every group"},
		{"", "serviceaccounts", []string{"impersonate"}, true, "act as every service account"},
		{"", "serviceaccounts/token", []string{"create"}, true, "make tokens of every service account"},
		{"certificates.k8s.io", "signers", []string{"approve"}, false, "approve certificates of every user"},
	}
}

// rbacEscalation looks for what is not narrowed by names. bind on a ClusterRole counts in a
// Role, too: a RoleBinding may name one.
func rbacEscalation(_ *rbacHolder, x *rbacHolding) (rbacHit, bool) {
	if x.everything() {
		return rbacHit{}, false
	}
	var can, verbs []string
	for _, p := range rbacEscalations() {
		if !x.cluster && !p.namespaced || len(x.may(p.group, p.resource, p.verbs...)) == 0 {
			continue
		}
		if len(x.Rule.ResourceNames) > 0 && !rbacSignsAll(&p, x.Rule.ResourceNames) {
			continue
		}
		can = append(can, p.what)
		verbs = append(verbs, p.verbs...)
	}
	if len(can) == 0 {
		return rbacHit{}, false
	}
	slices.Sort(verbs)
	verbs = slices.Compact(verbs)
	if rbacHas(x.Rule.Verbs, rbacv1.VerbAll) {
		verbs = []string{rbacv1.VerbAll}
	}
	hit := rbacHit{severity: Error, field: "verbs", value: rbacValue(verbs), what: "may " + securityList(can)}
	if !x.cluster {
		hit.severity = Warning
	}
	return hit, true
}

// rbacSignsAll says whether a narrowed right to approve certificates still makes users: the
// signer of the API server's own clients is among its names.
func rbacSignsAll(p *rbacPower, signers []string) bool {
	return p.resource == "signers" && slices.ContainsFunc(signers, func(s string) bool {
		return s == "kubernetes.io/*" || s == "kubernetes.io/kube-apiserver-client"
	})
}

// rbacExec: since Kubernetes 1.35 pods/exec has to be created, also where a WebSocket
// begins with a GET. Of nodes/proxy a GET is enough: behind it is all that the kubelet
// serves, its own way to run commands among it.
func rbacExec(_ *rbacHolder, x *rbacHolding) (rbacHit, bool) {
	if len(x.Rule.ResourceNames) > 0 || x.everything() {
		return rbacHit{}, false
	}
	var on []string
	for resource, verbs := range map[string][]string{
		"pods/exec": {"create"}, "pods/attach": {"create"}, "pods/ephemeralcontainers": {"update", "patch"},
		"nodes/proxy": {"create", "get"},
	} {
		if len(x.may("", resource, verbs...)) > 0 && (x.cluster || strings.HasPrefix(resource, "pods/")) {
			on = append(on, resource)
		}
	}
	if len(on) == 0 {
		return rbacHit{}, false
	}
	slices.Sort(on)
	hit := rbacHit{severity: Warning, field: "resources", value: rbacValue(x.Rule.Resources), what: fmt.Sprintf("may run commands in every pod (%s)", securityList(on))}
	if !x.cluster {
		hit.severity = Info
	}
	return hit, true
}

func rbacAdmission(_ *rbacHolder, x *rbacHolding) (rbacHit, bool) {
	if !x.cluster || len(x.Rule.ResourceNames) > 0 || x.everything() {
		return rbacHit{}, false
	}
	const webhooks = "admissionregistration.k8s.io"
	var on, do []string
	severity := Info
	for _, r := range [][2]string{
		{webhooks, "mutatingwebhookconfigurations"},
		{webhooks, "validatingwebhookconfigurations"},
		{webhooks, "mutatingadmissionpolicies"},
		{"apiregistration.k8s.io", "apiservices"},
		{"apiextensions.k8s.io", "customresourcedefinitions"},
	} {
		verbs := x.may(r[0], r[1], rbacWriting...)
		if len(verbs) == 0 {
			continue
		}
		// A rule has one list of verbs for all of its resources.
		on, do = append(on, r[1]), verbs
		if r[1] != "customresourcedefinitions" {
			severity = Warning
		}
	}
	if len(on) == 0 {
		return rbacHit{}, false
	}
	return rbacHit{severity: severity, field: "resources", value: rbacValue(x.Rule.Resources), what: fmt.Sprintf("may %s %s", securityAll(do), securityList(on))}, true
}

// rbacRolesWritten leaves out what is worse, and told as an escalation.
func rbacRolesWritten(h *rbacHolder, x *rbacHolding) (rbacHit, bool) {
	if _, worse := rbacEscalation(h, x); worse || x.everything() || len(x.Rule.ResourceNames) > 0 {
		return rbacHit{}, false
	}
	var on, do []string
	for _, r := range []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"} {
		if verbs := x.may(rbacv1.GroupName, r, rbacWriting...); len(verbs) > 0 && (x.cluster || !strings.HasPrefix(r, "cluster")) {
			on, do = append(on, r), verbs
		}
	}
	if len(on) == 0 {
		return rbacHit{}, false
	}
	return rbacHit{field: "resources", value: rbacValue(x.Rule.Resources), what: fmt.Sprintf("may %s %s", securityAll(do), securityList(on))}, true
}
