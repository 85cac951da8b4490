package check

import (
	"strings"
	"testing"
)

func TestRobustStorage(t *testing.T) {
	claim := "PersistentVolumeClaim/ns/d"
	runRobust(t, Rules(), findOperators, "pod-claim-update", []robustCase{
		{name: "a rolling update hangs", yaml: robustApp("web", 1, robustMounts("d"), "n1") + robustClaim("d", "ReadWriteOnce", ""), wrong: []string{"warning " + robustWeb + " spec.strategy.type = RollingUpdate"}, says: []string{"mounts PersistentVolumeClaim/d, which is ReadWriteOnce"}},
		{name: "recreate does not", yaml: robustAppMore("web", 1, robustMounts("d"), "strategy: {type: Recreate}", "n1") + robustClaim("d", "ReadWriteOnce", ""), right: []string{robustWeb}},
		{name: "nor where the old pod may go first", yaml: robustAppMore("web", 1, robustMounts("d"), "strategy: {rollingUpdate: {maxUnavailable: 1}}", "n1") + robustClaim("d", "ReadWriteOnce", ""), right: []string{robustWeb}},
		{name: "half of one is none", yaml: robustAppMore("web", 1, robustMounts("d"), "strategy: {rollingUpdate: {maxUnavailable: 50%}}", "n1") + robustClaim("d", "ReadWriteOnce", ""), wrong: []string{"warning " + robustWeb + " spec.strategy.type = RollingUpdate"}},
		{name: "nor where the new pod is put beside the volume", yaml: robustNodes3 + robustApp("web", 1, robustMounts("d"), "n1") + robustClaim("d", "ReadWriteOnce", robustOnN1), right: []string{robustWeb}},
		{name: "for many nodes", yaml: robustApp("web", 2, robustMounts("d"), "n1") + robustClaim("d", "ReadWriteMany", ""), right: []string{robustWeb}},
		{name: "for one node, and two replicas", yaml: robustApp("web", 2, robustMounts("d"), "n1", "n1") + robustClaim("d", "ReadWriteOnce", ""), wrong: []string{"warning " + robustWeb + " spec.replicas = 2"}},
		{name: "no claim", yaml: robustApp("web", 2, robustC, "n1")},
	})
	runRobust(t, Rules(), findOperators, "claim-node", []robustCase{
		{name: "on one node of three", yaml: robustNodes3 + robustApp("web", 1, robustMounts("d"), "n1") + robustClaim("d", "ReadWriteOnce", robustOnN1), wrong: []string{"warning " + claim + " spec.volumeName = pv-d"}, says: []string{"only n1 of 3 nodes"}},
		{name: "in a zone of one node", yaml: robustNodes3 + robustApp("web", 1, robustMounts("d"), "n3") + robustClaim("d", "ReadWriteOnce", strings.Replace(robustZoneA, "[a]", "[b]", 1)), right: []string{claim}},
		{name: "anywhere", yaml: robustNodes3 + robustApp("web", 1, robustMounts("d"), "n1") + robustClaim("d", "ReadWriteOnce", ""), right: []string{claim}},
		{name: "the volume is unread", yaml: robustNodes3 + robustApp("web", 1, robustMounts("d"), "n1") + robustClaim("d", "ReadWriteOnce", robustOnN1), unread: []string{"PersistentVolume"}, open: []string{claim}},
		{name: "a cluster of one node", yaml: robustNode("n1", "a", "") + robustApp("web", 1, robustMounts("d"), "n1") + robustClaim("d", "ReadWriteOnce", robustOnN1)},
	})
	runRobust(t, Rules(), findOperators, "pod-grace", []robustCase{
		{name: "the default", yaml: robustApp("web", 1, robustC, "n1"), right: []string{robustWeb}},
		{name: "none", yaml: robustApp("web", 1, robustC+", terminationGracePeriodSeconds: 0", "n1"), wrong: []string{"info " + robustWeb + " spec.template.spec.terminationGracePeriodSeconds = 0"}},
	})
}

func TestRobustOwners(t *testing.T) {
	owned := func(kind, name, more, owner string) string {
		return "---\napiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: ns, uid: u-" + name + ", labels: {" + more + "}, ownerReferences: [" + owner + "]}\n"
	}
	db := "---\napiVersion: db.example/v1\nkind: Database\nmetadata: {name: pg, namespace: ns, uid: pg, labels: {team: a}}\nspec: {serviceName: free}\n"
	by := "{apiVersion: db.example/v1, kind: Database, name: pg, uid: pg, controller: true, blockOwnerDeletion: true}"
	marks := "db.example/cluster: pg, app.kubernetes.io/managed-by: db-operator, team: a"
	// A Service that the operator made is in the stack by the pods that it selects.
	free := func(labels string) string {
		return robustClusterOf("n1") + owned("ConfigMap", "conf", marks, by) + "---\napiVersion: v1\nkind: Service\nmetadata: {name: free, namespace: ns, uid: free, labels: {" + labels + "}}\nspec: {selector: {app: pg}}\n"
	}
	root := "Database.db.example/ns/pg"
	runRobust(t, Rules(), findOperators, "owner-set", []robustCase{
		{name: "has all the marks of what is owned", root: root, yaml: db + free(marks), wrong: []string{"warning Service/ns/free metadata.ownerReferences"}, right: []string{"ConfigMap/ns/conf", "Pod/ns/pg-0"}, says: []string{"db.example/cluster=pg"}},
		{name: "has one mark", root: root, yaml: db + free("db.example/cluster: pg"), right: []string{"ConfigMap/ns/conf", "Pod/ns/pg-0"}},
		{name: "was installed by Helm", root: root, yaml: db + strings.Replace(free(marks), "uid: free,", "uid: free, annotations: {meta.helm.sh/release-name: x},", 1), right: []string{"ConfigMap/ns/conf", "Pod/ns/pg-0"}},
		{
			name: "labels that the resource hands on are no mark", root: root, right: []string{"ConfigMap/ns/conf", "Pod/ns/pg-0"},
			yaml: strings.Replace(db, "team: a", marks, 1) + free(marks),
		},
	})
	runRobust(t, Rules(), findOperators, "owner-valid", []robustCase{
		{name: "an owner that is there", root: root, yaml: db + robustClusterOf("n1"), right: []string{"Pod/ns/pg-0"}},
		{
			name: "one that is not", root: "Deployment.apps/ns/x", right: []string{"Pod/ns/x-0", "ReplicaSet.apps/ns/x-1"},
			yaml:  db + strings.Replace(robustApp("x", 1, robustC, "n1"), "uid: d-x}", "uid: d-x, ownerReferences: [{apiVersion: db.example/v1, kind: Database, name: gone, uid: gone}]}", 1),
			wrong: []string{"warning Deployment.apps/ns/x metadata.ownerReferences[0].uid = OwnerAbsent"},
		},
	})
	bare := strings.ReplaceAll(robustClusterPods("n1"), ", controller: true, blockOwnerDeletion: true", "")
	runRobust(t, Rules(), findOperators, "owner-controls", []robustCase{
		{name: "controls", root: root, yaml: robustClusterPods("n1"), right: []string{"Pod/ns/pg-0"}},
		{name: "does not", root: root, yaml: bare, wrong: []string{"warning Pod/ns/pg-0 metadata.ownerReferences[0] = Database/pg"}, says: []string{"does not set blockOwnerDeletion and controller", "kubectl drain"}},
		{name: "does not block", root: root, yaml: strings.Replace(robustClusterPods("n1"), ", blockOwnerDeletion: true", "", 1), wrong: []string{"info Pod/ns/pg-0 metadata.ownerReferences[0] = Database/pg"}},
	})
}

// robustClusterOf are the pods of robustClusterPods without their Database.
func robustClusterOf(nodes ...string) string {
	_, pods, _ := strings.Cut(robustClusterPods(nodes...), "spec: {}\n")
	return pods
}

func TestRobustInjected(t *testing.T) {
	app := robustApp("web", 1, robustC, "n1")
	// The pod is the last document, and the last line its status.
	inject := func(status string) string {
		i := strings.LastIndex(app, robustC)
		out := app[:i] + strings.Replace(app[i:], "image: c}]", "image: c}, {name: istio-proxy, image: p}]", 1)
		out = strings.Replace(out, "uid: p-web-0,", "uid: p-web-0, annotations: {sidecar.istio.io/status: x},", 1)
		return strings.TrimSuffix(out, "}\n") + ", containerStatuses: [" + status + "]}\n"
	}
	up := "{name: istio-proxy, restartCount: 0, state: {running: {startedAt: '2026-01-01T00:00:10Z'}}}"
	ended := func(at string) string {
		return "{name: c, restartCount: 1, lastState: {terminated: {exitCode: 1, finishedAt: '" + at + "'}}}, "
	}
	runRobust(t, Rules(), findOperators, "pod-injected", []robustCase{
		{name: "nothing", yaml: app, right: []string{robustWeb}},
		{name: "a proxy", yaml: inject(up), wrong: []string{"info " + robustWeb + " spec.template.spec.containers"}, says: []string{"into 1 pod of 1: its template lacks istio-proxy (Istio)"}},
		{name: "the ReplicaSet is unread", yaml: inject(up), unread: []string{"ReplicaSet"}},
		{name: "a pod of an operator has no template", root: "Database.db.example/ns/pg", yaml: robustClusterPods("n1")},
	})
	restarts := "pod-injected-restarts"
	at := func(c, value string) []string {
		return []string{"warning " + robustWeb + " status.containerStatuses[" + c + "].restartCount = " + value}
	}
	runRobust(t, Rules(), findOperators, restarts, []robustCase{
		{name: "no restart", yaml: inject("{name: c, restartCount: 0}, " + up), right: []string{robustWeb}},
		{name: "before the proxy was up", yaml: inject(ended("2026-01-01T00:00:12Z") + up), wrong: at("c", "1"), says: []string{"c ended with exit code 1 in pod web-0"}},
		{name: "long after", yaml: inject(ended("2026-01-01T01:00:00Z") + up), right: []string{robustWeb}},
		{name: "the proxy itself", yaml: inject("{name: c, restartCount: 0}, {name: istio-proxy, restartCount: 4, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}"), wrong: at("istio-proxy", "4"), says: []string{"4 times in pod web-0 (OOMKilled, exit code 137)"}},
		{name: "all of them, with the node", yaml: inject("{name: c, restartCount: 1}, {name: istio-proxy, restartCount: 1}"), right: []string{robustWeb}},
	})
	job := "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ns, uid: j}\nspec: {template: {spec: {restartPolicy: Never, " + robustC + "}}}\n" +
		strings.TrimSuffix(robustPod("j-0", "", "{apiVersion: batch/v1, kind: Job, name: j, uid: j, controller: true}", "restartPolicy: Never, containers: [{name: c, image: c}, {name: proxy, image: p}]", "n1"), "}\n") +
		", containerStatuses: [{name: c, state: {terminated: {exitCode: 0}}}, {name: proxy, state: {running: {startedAt: '2026-01-01T00:00:10Z'}}}]}\n"
	runRobust(t, Rules(), findOperators, restarts, []robustCase{
		{name: "a Job that does not end", root: "Job.batch/ns/j", yaml: job, wrong: []string{"warning Job.batch/ns/j status.containerStatuses[proxy].state = running"}, says: []string{"pod j-0 does not complete"}},
		{name: "a native side-car ends with the others", root: "Job.batch/ns/j", yaml: strings.NewReplacer(
			"image: c}, {name: proxy, image: p}]", "image: c}], initContainers: [{name: proxy, image: p, restartPolicy: Always}]",
			", {name: proxy, state", "], initContainerStatuses: [{name: proxy, state").Replace(job), right: []string{"Job.batch/ns/j"}},
	})
}

func TestRobustBackup(t *testing.T) {
	data := robustApp("web", 1, robustMounts("d"), "n1") + robustClaim("d", "ReadWriteOnce", "")
	velero := func(spec string) string {
		return "---\napiVersion: velero.io/v1\nkind: Schedule\nmetadata: {name: s, namespace: velero, uid: s}\nspec: {" + spec + "}\n"
	}
	cron := func(name, spec string) string {
		return "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: " + name + ", namespace: ns, uid: cj}\nspec: {jobTemplate: {spec: {template: {spec: {" + spec + "}}}}}\n"
	}
	none := []string{"warning " + robustWeb + " spec.template.spec.volumes"}
	db := func(spec string) string {
		return strings.Replace(robustClusterPods("n1"), "spec: {}", "spec: {"+spec+"}", 1)
	}
	mounting := strings.Replace(db(""), robustC, robustMounts("d"), 1) + robustClaim("d", "ReadWriteOnce", "")
	asking := func(spec string) string { return strings.Replace(mounting, "spec: {}", "spec: {"+spec+"}", 1) }
	pod := "Pod/ns/pg-0"
	runRobust(t, Rules(), findOperators, "stack-backup", []robustCase{
		{name: "none", yaml: data, wrong: none, says: []string{"stores data in 1 claim"}},
		{name: "no data", yaml: robustApp("web", 1, robustC, "n1")},
		{name: "Velero takes the namespace", yaml: data + velero("template: {includedNamespaces: [ns]}"), right: []string{robustWeb}},
		{name: "Velero takes all", yaml: data + velero("template: {}"), right: []string{robustWeb}},
		{name: "Velero takes others", yaml: data + velero("template: {includedNamespaces: [other]}"), wrong: none},
		{name: "Velero leaves it out", yaml: data + velero("template: {excludedNamespaces: [ns]}"), wrong: none},
		{name: "Velero takes some of it", yaml: data + velero("template: {labelSelector: {matchLabels: {a: b}}}"), open: []string{robustWeb}},
		{name: "Velero leaves volumes out", yaml: data + velero("template: {snapshotVolumes: false}"), wrong: none},
		{name: "Velero rests", yaml: data + velero("paused: true, template: {}"), wrong: none},
		{name: "a CronJob mounts the claim", yaml: data + cron("backup", robustMounts("d")), right: []string{robustWeb}},
		{name: "a CronJob that is called so", yaml: data + cron("nightly-backup", robustC), open: []string{robustWeb}},
		{name: "a CronJob that puts its backups on a claim", yaml: data + cron("nightly-backup", robustMounts("out")) + robustClaim("out", "ReadWriteOnce", ""), open: []string{robustWeb}},
		{name: "a CronJob for the data of others", yaml: data + cron("nightly-backup", robustMounts("other")) + robustClaim("other", "ReadWriteOnce", "") + robustApp("app", 1, robustMounts("other"), "n1"), wrong: none},
		{name: "a CronJob for something else", yaml: data + cron("report", robustC), wrong: none},
		{name: "CronJobs unread", yaml: data, unread: []string{"CronJob"}, open: []string{robustWeb}},
		{name: "a side-car", yaml: robustApp("web", 1, strings.Replace(robustMounts("d"), "}], v", "}, {name: pgbackrest, image: b}], v", 1), "n1") + robustClaim("d", "ReadWriteOnce", ""), right: []string{robustWeb}},
		{name: "a custom resource of which it is not known what it backs up", yaml: data + "---\napiVersion: b.example/v1\nkind: NightlyBackup\nmetadata: {name: nightly, namespace: ns, uid: nb}\nspec: {}\n", open: []string{robustWeb}},
		{name: "Longhorn's jobs", yaml: data + "---\napiVersion: longhorn.io/v1\nkind: RecurringJob\nmetadata: {name: jobs, namespace: longhorn, uid: lj}\nspec: {task: backup}\n", open: []string{robustWeb}},
		{name: "an operator that was asked to", root: "Database.db.example/ns/pg", yaml: asking("backup: {schedule: daily}"), right: []string{pod}},
		{name: "an operator that was told not to", root: "Database.db.example/ns/pg", yaml: asking("backup: {enabled: false, schedule: daily}"), wrong: []string{"warning " + pod + " spec.volumes"}},
		{name: "an operator that only knows how", root: "Database.db.example/ns/pg", yaml: asking("backup: {image: b, resources: {limits: {cpu: 1}}}"), wrong: []string{"warning " + pod + " spec.volumes"}},
		{name: "deeper in", root: "Database.db.example/ns/pg", yaml: asking("storage: {backupSchedule: daily}"), right: []string{pod}},
	})
}

func TestRobustMetrics(t *testing.T) {
	svc := robustService("web", "web", "")
	runRobust(t, Rules(), findOperators, "stack-metrics", []robustCase{
		{name: "none", yaml: robustApp("web", 1, robustC, "n1"), wrong: []string{"info " + robustWeb}},
		{name: "of the pods", yaml: strings.Replace(robustApp("web", 1, robustC, "n1"), "uid: p-web-0,", "uid: p-web-0, annotations: {prometheus.io/scrape: 'true'},", 1), right: []string{robustWeb}},
		{name: "of the Service", yaml: robustApp("web", 1, robustC, "n1") + strings.Replace(svc, "uid: s-web", "uid: s-web, annotations: {prometheus.io/scrape: 'true'}", 1), right: []string{robustWeb}},
		{name: "switched off", yaml: robustApp("web", 1, robustC, "n1") + strings.Replace(svc, "uid: s-web", "uid: s-web, annotations: {prometheus.io/scrape: 'false'}", 1), wrong: []string{"info " + robustWeb}},
		{
			name: "monitors unread", unread: []string{"PodMonitor"}, open: []string{robustWeb},
			yaml: robustApp("web", 1, robustC, "n1") + "---\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: m, namespace: ns, uid: m}\n",
		},
		{name: "nothing lasts", root: "Job.batch/ns/j", yaml: "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ns, uid: j}\nspec: {template: {spec: {" + robustC + "}}}\n"},
	})
}
