package rbac

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// Sentences that both rules of a topic share.
const (
	wildcardsWhy  = "\"*\" also means special verbs (escalate, impersonate), subresources such as pods/exec, and everything that is added later."
	wildcardsFix  = "Name the verbs, resources and groups that it uses."
	secretsWhy    = "Permission to list or watch secrets is permission to read all of them: passwords, keys, and tokens of other service accounts."
	escalationWhy = "Each of these gives access to the permissions of others: escalate and bind grant more than one's own permissions, impersonate acts as others, a token is that of another account."
	escalationFix = "Remove these verbs, or restrict them by resourceNames to the roles and accounts that it grants."
	execWhy       = "A command in a pod has the pod's secrets and permissions; in a privileged pod, also those of the node."
	admissionWhy  = "An admission webhook reads and changes every object that is written, secrets too; an APIService serves a whole API; a conversion webhook sees all objects of a kind."
)

// permissionTopics is the table of permissions that roles should not grant. The dangers are
// those of https://kubernetes.io/docs/concepts/security/rbac-good-practices/.
var permissionTopics = []permissionTopic{
	{
		id: "cluster-admin", find: everything,
		operator: words{
			check.Error, "The operator may not do everything",
			"An attacker in its pod owns the cluster; with some operators, so does any user who may write its custom resources.",
			"Bind a ClusterRole that names the groups, resources and verbs that it uses, in place of cluster-admin.",
		},
		pods: words{
			check.Error, "The pods of an application may not do everything",
			"An attacker in one of the pods owns the cluster, or the namespace.",
			"Bind a Role that names what the application uses of the API, or no role at all.",
		},
	},
	{
		id: "wildcards", find: wildcards,
		operator: words{check.Warning, "Roles of the operator name verbs, resources and groups", wildcardsWhy, wildcardsFix},
		pods:     words{check.Warning, "Roles of the application's pods name verbs, resources and groups", wildcardsWhy, wildcardsFix},
	},
	{
		id: "secrets", find: secrets,
		operator: words{
			check.Warning, "The operator may read only the secrets that it needs", secretsWhy,
			"Name the secrets by resourceNames, or bind the role by RoleBindings in the namespaces where it works.",
		},
		pods: words{
			check.Error, "The pods of an application may not read secrets of others", secretsWhy,
			"Mount the secrets that the pod needs; or name them by resourceNames in a Role.",
		},
	},
	{
		id: "escalation", find: escalation,
		operator: words{check.Error, "The operator cannot escalate its permissions", escalationWhy, escalationFix},
		pods:     words{check.Error, "The pods of an application cannot escalate their permissions", escalationWhy, escalationFix},
	},
	{
		id: "exec", find: exec,
		operator: words{
			check.Warning, "The operator cannot run commands in pods of others", execWhy,
			"Grant pods/exec by a Role in the namespaces where it works, or let a Job or the pod itself do the work. Grant nodes/metrics and nodes/stats instead of nodes/proxy.",
		},
		pods: words{
			check.Warning, "The pods of an application cannot run commands in pods of others", execWhy,
			"Grant pods/exec by a Role in one namespace, if at all. Grant nodes/metrics and nodes/stats instead of nodes/proxy.",
		},
	},
	{
		id: "admission", find: admission,
		operator: words{
			check.Warning, "The operator cannot intercept all requests", admissionWhy,
			"Install webhooks and CRDs with the chart, and restrict update and patch to their names by resourceNames.",
		},
		pods: words{
			check.Warning, "The pods of an application cannot intercept all requests", admissionWhy,
			"Remove these permissions: an application does not need them.",
		},
	},
	{
		id: "roles", find: rolesWritten,
		operator: words{
			check.Info, "The operator writes no roles",
			"The API server lets it grant no more than it has, so it must hold all permissions that its applications need, everywhere.",
			"Ship the roles that applications need with the chart, and let the operator only bind them (verb bind, with resourceNames).",
		},
		pods: words{
			check.Warning, "The pods of an application write no roles",
			"Permission to write bindings is permission to grant one's own permissions to anyone.",
			"Ship roles and bindings with the manifests of the application.",
		},
	},
}
