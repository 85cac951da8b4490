package check

// rbacTopics is the table of what roles should not give away. The dangers are those of
// https://kubernetes.io/docs/concepts/security/rbac-good-practices/.
func rbacTopics() []rbacTopic {
	return []rbacTopic{
		everythingTopic(), wildcardsTopic(), secretsTopic(), escalationTopic(), execTopic(), admissionTopic(), rolesTopic(),
	}
}

func everythingTopic() rbacTopic {
	return rbacTopic{
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
	}
}

func wildcardsTopic() rbacTopic {
	const why = "\"*\" also means verbs that are no reading and writing (escalate, impersonate), subresources such as pods/exec, and whatever is added later."
	const fix = "Write down the verbs, resources and groups that it uses."
	return rbacTopic{
		id: "wildcards", find: rbacWildcards,
		operator: rbacWords{Warning, "Roles of the operator name verbs, resources and groups", why, fix},
		pods:     rbacWords{Warning, "Roles of the application's pods name verbs, resources and groups", why, fix},
	}
}

func secretsTopic() rbacTopic {
	const why = "Who may list or watch secrets reads all of them: passwords, keys, and tokens of other service accounts."
	return rbacTopic{
		id: "secrets", find: rbacSecrets,
		operator: rbacWords{
			Warning, "The operator reads no secrets but those that it needs", why,
			"Name the secrets by resourceNames, or bind the role by RoleBindings in the namespaces where it works.",
		},
		pods: rbacWords{
			Error, "The pods of an application read no secrets of others", why,
			"Mount the secrets that the pod needs; or name them by resourceNames in a Role.",
		},
	}
}

func escalationTopic() rbacTopic {
	const why = "Each of these makes the rights of others one's own: escalate and bind hand out rights beyond one's own, impersonate acts as others, a token makes one another account."
	const fix = "Leave these verbs out, or narrow them by resourceNames to the roles and accounts that it hands out."
	return rbacTopic{
		id: "escalation", find: rbacEscalation,
		operator: rbacWords{Error, "The operator cannot give itself rights", why, fix},
		pods:     rbacWords{Error, "The pods of an application cannot give themselves rights", why, fix},
	}
}

func execTopic() rbacTopic {
	const why = "A command in a pod does what the pod may do, with its secrets and its rights; in a privileged pod, with the node."
	return rbacTopic{
		id: "exec", find: rbacExec,
		operator: rbacWords{
			Warning, "The operator cannot run commands in pods of others", why,
			"Give pods/exec by a Role in the namespaces where it works, or let a Job or the pod itself do the work. Give nodes/metrics and nodes/stats instead of nodes/proxy.",
		},
		pods: rbacWords{
			Warning, "The pods of an application cannot run commands in pods of others", why,
			"Give pods/exec by a Role in one namespace, if at all. Give nodes/metrics and nodes/stats instead of nodes/proxy.",
		},
	}
}

func admissionTopic() rbacTopic {
	const why = "A webhook reads and changes every object on its way in, secrets too; an APIService answers for a whole API; a definition's conversion webhook sees all objects of a kind."
	return rbacTopic{
		id: "admission", find: rbacAdmission,
		operator: rbacWords{
			Warning, "The operator cannot put itself in the way of all requests", why,
			"Install webhooks and definitions with the chart, and narrow update and patch to their names by resourceNames.",
		},
		pods: rbacWords{
			Warning, "The pods of an application cannot put themselves in the way of all requests", why,
			"Take these rights away: an application has no use for them.",
		},
	}
}

func rolesTopic() rbacTopic {
	return rbacTopic{
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
	}
}
