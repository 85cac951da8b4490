package rbac

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// permissionTopics is the table of what roles should not give away. The dangers are those of
// https://kubernetes.io/docs/concepts/security/rbac-good-practices/.
func permissionTopics() []permissionTopic {
	return []permissionTopic{
		everythingTopic(), wildcardsTopic(), secretsTopic(), escalationTopic(), execTopic(), admissionTopic(), rolesTopic(),
	}
}

func everythingTopic() permissionTopic {
	return permissionTopic{
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
	}
}

func wildcardsTopic() permissionTopic {
	const why = "\"*\" also means special verbs (escalate, impersonate), subresources such as pods/exec, and everything that is added later."
	const fix = "Name the verbs, resources and groups that it uses."
	return permissionTopic{
		id: "wildcards", find: wildcards,
		operator: words{check.Warning, "Roles of the operator name verbs, resources and groups", why, fix},
		pods:     words{check.Warning, "Roles of the application's pods name verbs, resources and groups", why, fix},
	}
}

func secretsTopic() permissionTopic {
	const why = "Permission to list or watch secrets is permission to read all of them: passwords, keys, and tokens of other service accounts."
	return permissionTopic{
		id: "secrets", find: secrets,
		operator: words{
			check.Warning, "The operator may read only the secrets that it needs", why,
			"Name the secrets by resourceNames, or bind the role by RoleBindings in the namespaces where it works.",
		},
		pods: words{
			check.Error, "The pods of an application may not read secrets of others", why,
			"Mount the secrets that the pod needs; or name them by resourceNames in a Role.",
		},
	}
}

func escalationTopic() permissionTopic {
	const why = "Each of these gives access to the permissions of others: escalate and bind grant more than one's own permissions, impersonate acts as others, a token is that of another account."
	const fix = "Remove these verbs, or restrict them by resourceNames to the roles and accounts that it grants."
	return permissionTopic{
		id: "escalation", find: escalation,
		operator: words{check.Error, "The operator cannot escalate its permissions", why, fix},
		pods:     words{check.Error, "The pods of an application cannot escalate their permissions", why, fix},
	}
}

func execTopic() permissionTopic {
	const why = "A command in a pod has the pod's secrets and permissions; in a privileged pod, also those of the node."
	return permissionTopic{
		id: "exec", find: exec,
		operator: words{
			check.Warning, "The operator cannot run commands in pods of others", why,
			"Grant pods/exec by a Role in the namespaces where it works, or let a Job or the pod itself do the work. Grant nodes/metrics and nodes/stats instead of nodes/proxy.",
		},
		pods: words{
			check.Warning, "The pods of an application cannot run commands in pods of others", why,
			"Grant pods/exec by a Role in one namespace, if at all. Grant nodes/metrics and nodes/stats instead of nodes/proxy.",
		},
	}
}

func admissionTopic() permissionTopic {
	const why = "An admission webhook reads and changes every object that is written, secrets too; an APIService serves a whole API; a conversion webhook sees all objects of a kind."
	return permissionTopic{
		id: "admission", find: admission,
		operator: words{
			check.Warning, "The operator cannot intercept all requests", why,
			"Install webhooks and CRDs with the chart, and restrict update and patch to their names by resourceNames.",
		},
		pods: words{
			check.Warning, "The pods of an application cannot intercept all requests", why,
			"Remove these permissions: an application does not need them.",
		},
	}
}

func rolesTopic() permissionTopic {
	return permissionTopic{
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
	}
}
