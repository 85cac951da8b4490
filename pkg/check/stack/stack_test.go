package stack

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

func TestOwners(t *testing.T) {
	owned := func(kind, name, more, owner string) string {
		return "---\napiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: ns, uid: u-" + name + ", labels: {" + more + "}, ownerReferences: [" + owner + "]}\n"
	}
	db := "---\napiVersion: db.example/v1\nkind: Database\nmetadata: {name: pg, namespace: ns, uid: pg, labels: {team: a}}\nspec: {serviceName: free}\n"
	by := "{apiVersion: db.example/v1, kind: Database, name: pg, uid: pg, controller: true, blockOwnerDeletion: true}"
	marks := "db.example/cluster: pg, app.kubernetes.io/managed-by: db-operator, team: a"
	// A Service that the operator made is in the stack by the pods that it selects.
	free := func(labels string) string {
		return checktest.ClusterOf("n1") + owned("ConfigMap", "conf", marks, by) + "---\napiVersion: v1\nkind: Service\nmetadata: {name: free, namespace: ns, uid: free, labels: {" + labels + "}}\nspec: {selector: {app: pg}}\n"
	}
	root := "Database.db.example/ns/pg"
	checktest.Run(t, Rules(), operator.Find, "owner-set", []checktest.Case{
		{Name: "has all the marks of what is owned", Root: root, YAML: db + free(marks), Wrong: []string{"warning Service/ns/free metadata.ownerReferences"}, Right: []string{"ConfigMap/ns/conf", "Pod/ns/pg-0"}, Says: []string{"db.example/cluster=pg"}},
		{Name: "has one mark", Root: root, YAML: db + free("db.example/cluster: pg"), Right: []string{"ConfigMap/ns/conf", "Pod/ns/pg-0"}},
		{Name: "was installed by Helm", Root: root, YAML: db + strings.Replace(free(marks), "uid: free,", "uid: free, annotations: {meta.helm.sh/release-name: x},", 1), Right: []string{"ConfigMap/ns/conf", "Pod/ns/pg-0"}},
		{
			Name: "labels that the resource hands on are no mark", Root: root, Right: []string{"ConfigMap/ns/conf", "Pod/ns/pg-0"},
			YAML: strings.Replace(db, "team: a", marks, 1) + free(marks),
		},
	})
	checktest.Run(t, Rules(), operator.Find, "owner-valid", []checktest.Case{
		{Name: "an owner that is there", Root: root, YAML: db + checktest.ClusterOf("n1"), Right: []string{"Pod/ns/pg-0"}},
		{
			Name: "one that is not", Root: "Deployment.apps/ns/x", Right: []string{"Pod/ns/x-0", "ReplicaSet.apps/ns/x-1"},
			YAML:  db + strings.Replace(checktest.App("x", 1, checktest.OneContainer, "n1"), "uid: d-x}", "uid: d-x, ownerReferences: [{apiVersion: db.example/v1, kind: Database, name: gone, uid: gone}]}", 1),
			Wrong: []string{"warning Deployment.apps/ns/x metadata.ownerReferences[0].uid = OwnerAbsent"},
		},
	})
	bare := strings.ReplaceAll(checktest.ClusterPods("n1"), ", controller: true, blockOwnerDeletion: true", "")
	checktest.Run(t, Rules(), operator.Find, "owner-controls", []checktest.Case{
		{Name: "controls", Root: root, YAML: checktest.ClusterPods("n1"), Right: []string{"Pod/ns/pg-0"}},
		{Name: "does not", Root: root, YAML: bare, Wrong: []string{"warning Pod/ns/pg-0 metadata.ownerReferences[0] = Database/pg"}, Says: []string{"does not set blockOwnerDeletion and controller", "kubectl drain"}},
		{Name: "does not block", Root: root, YAML: strings.Replace(checktest.ClusterPods("n1"), ", blockOwnerDeletion: true", "", 1), Wrong: []string{"info Pod/ns/pg-0 metadata.ownerReferences[0] = Database/pg"}},
	})
}

func TestBackup(t *testing.T) {
	data := checktest.App("web", 1, checktest.Mounts("d"), "n1") + checktest.Claim("d", "ReadWriteOnce", "")
	velero := func(spec string) string {
		return "---\napiVersion: velero.io/v1\nkind: Schedule\nmetadata: {name: s, namespace: velero, uid: s}\nspec: {" + spec + "}\n"
	}
	cron := func(name, spec string) string {
		return "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: " + name + ", namespace: ns, uid: cj}\nspec: {jobTemplate: {spec: {template: {spec: {" + spec + "}}}}}\n"
	}
	none := []string{"warning " + checktest.Web + " spec.template.spec.volumes"}
	db := func(spec string) string {
		return strings.Replace(checktest.ClusterPods("n1"), "spec: {}", "spec: {"+spec+"}", 1)
	}
	mounting := strings.Replace(db(""), checktest.OneContainer, checktest.Mounts("d"), 1) + checktest.Claim("d", "ReadWriteOnce", "")
	asking := func(spec string) string { return strings.Replace(mounting, "spec: {}", "spec: {"+spec+"}", 1) }
	pod := "Pod/ns/pg-0"
	checktest.Run(t, Rules(), operator.Find, "stack-backup", []checktest.Case{
		{Name: "none", YAML: data, Wrong: none, Says: []string{"stores data in 1 claim"}},
		{Name: "no data", YAML: checktest.App("web", 1, checktest.OneContainer, "n1")},
		{Name: "Velero takes the namespace", YAML: data + velero("template: {includedNamespaces: [ns]}"), Right: []string{checktest.Web}},
		{Name: "Velero takes all", YAML: data + velero("template: {}"), Right: []string{checktest.Web}},
		{Name: "Velero takes others", YAML: data + velero("template: {includedNamespaces: [other]}"), Wrong: none},
		{Name: "Velero leaves it out", YAML: data + velero("template: {excludedNamespaces: [ns]}"), Wrong: none},
		{Name: "Velero takes some of it", YAML: data + velero("template: {labelSelector: {matchLabels: {a: b}}}"), Open: []string{checktest.Web}},
		{Name: "Velero leaves volumes out", YAML: data + velero("template: {snapshotVolumes: false}"), Wrong: none},
		{Name: "Velero rests", YAML: data + velero("paused: true, template: {}"), Wrong: none},
		{Name: "a CronJob mounts the claim", YAML: data + cron("backup", checktest.Mounts("d")), Right: []string{checktest.Web}},
		{Name: "a CronJob that is called so", YAML: data + cron("nightly-backup", checktest.OneContainer), Open: []string{checktest.Web}},
		{Name: "a CronJob that puts its backups on a claim", YAML: data + cron("nightly-backup", checktest.Mounts("out")) + checktest.Claim("out", "ReadWriteOnce", ""), Open: []string{checktest.Web}},
		{Name: "a CronJob for the data of others", YAML: data + cron("nightly-backup", checktest.Mounts("other")) + checktest.Claim("other", "ReadWriteOnce", "") + checktest.App("app", 1, checktest.Mounts("other"), "n1"), Wrong: none},
		{Name: "a CronJob for something else", YAML: data + cron("report", checktest.OneContainer), Wrong: none},
		{Name: "CronJobs unread", YAML: data, Unread: []string{"CronJob"}, Open: []string{checktest.Web}},
		{Name: "a side-car", YAML: checktest.App("web", 1, strings.Replace(checktest.Mounts("d"), "}], v", "}, {name: pgbackrest, image: b}], v", 1), "n1") + checktest.Claim("d", "ReadWriteOnce", ""), Right: []string{checktest.Web}},
		{Name: "a custom resource of which it is not known what it backs up", YAML: data + "---\napiVersion: b.example/v1\nkind: NightlyBackup\nmetadata: {name: nightly, namespace: ns, uid: nb}\nspec: {}\n", Open: []string{checktest.Web}},
		{Name: "Longhorn's jobs", YAML: data + "---\napiVersion: longhorn.io/v1\nkind: RecurringJob\nmetadata: {name: jobs, namespace: longhorn, uid: lj}\nspec: {task: backup}\n", Open: []string{checktest.Web}},
		{Name: "an operator that was asked to", Root: "Database.db.example/ns/pg", YAML: asking("backup: {schedule: daily}"), Right: []string{pod}},
		{Name: "an operator that was told not to", Root: "Database.db.example/ns/pg", YAML: asking("backup: {enabled: false, schedule: daily}"), Wrong: []string{"warning " + pod + " spec.volumes"}},
		{Name: "an operator that only knows how", Root: "Database.db.example/ns/pg", YAML: asking("backup: {image: b, resources: {limits: {cpu: 1}}}"), Wrong: []string{"warning " + pod + " spec.volumes"}},
		{Name: "deeper in", Root: "Database.db.example/ns/pg", YAML: asking("storage: {backupSchedule: daily}"), Right: []string{pod}},
	})
}

func TestMetrics(t *testing.T) {
	svc := checktest.Service("web", "web", "")
	checktest.Run(t, Rules(), operator.Find, "stack-metrics", []checktest.Case{
		{Name: "none", YAML: checktest.App("web", 1, checktest.OneContainer, "n1"), Wrong: []string{"info " + checktest.Web}},
		{Name: "of the pods", YAML: strings.Replace(checktest.App("web", 1, checktest.OneContainer, "n1"), "uid: p-web-0,", "uid: p-web-0, annotations: {prometheus.io/scrape: 'true'},", 1), Right: []string{checktest.Web}},
		{Name: "of the Service", YAML: checktest.App("web", 1, checktest.OneContainer, "n1") + strings.Replace(svc, "uid: s-web", "uid: s-web, annotations: {prometheus.io/scrape: 'true'}", 1), Right: []string{checktest.Web}},
		{Name: "switched off", YAML: checktest.App("web", 1, checktest.OneContainer, "n1") + strings.Replace(svc, "uid: s-web", "uid: s-web, annotations: {prometheus.io/scrape: 'false'}", 1), Wrong: []string{"info " + checktest.Web}},
		{
			Name: "monitors unread", Unread: []string{"PodMonitor"}, Open: []string{checktest.Web},
			YAML: checktest.App("web", 1, checktest.OneContainer, "n1") + "---\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: m, namespace: ns, uid: m}\n",
		},
		{Name: "nothing lasts", Root: "Job.batch/ns/j", YAML: "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ns, uid: j}\nspec: {template: {spec: {" + checktest.OneContainer + "}}}\n"},
	})
}
