package workload

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

func TestStorage(t *testing.T) {
	claim := "PersistentVolumeClaim/ns/d"
	checktest.Run(t, Rules(), operator.Find, "pod-claim-update", []checktest.Case{
		{Name: "a rolling update hangs", YAML: checktest.App("web", 1, checktest.Mounts("d"), "n1") + checktest.Claim("d", "ReadWriteOnce", ""), Wrong: []string{"warning " + checktest.Web + " spec.strategy.type = RollingUpdate"}, Says: []string{"mounts PersistentVolumeClaim/d, which is ReadWriteOnce"}},
		{Name: "recreate does not", YAML: checktest.AppWith("web", 1, checktest.Mounts("d"), "strategy: {type: Recreate}", "n1") + checktest.Claim("d", "ReadWriteOnce", ""), Right: []string{checktest.Web}},
		{Name: "nor where the old pod may go first", YAML: checktest.AppWith("web", 1, checktest.Mounts("d"), "strategy: {rollingUpdate: {maxUnavailable: 1}}", "n1") + checktest.Claim("d", "ReadWriteOnce", ""), Right: []string{checktest.Web}},
		{Name: "half of one is none", YAML: checktest.AppWith("web", 1, checktest.Mounts("d"), "strategy: {rollingUpdate: {maxUnavailable: 50%}}", "n1") + checktest.Claim("d", "ReadWriteOnce", ""), Wrong: []string{"warning " + checktest.Web + " spec.strategy.type = RollingUpdate"}},
		{Name: "nor where the new pod is put beside the volume", YAML: checktest.ThreeNodes + checktest.App("web", 1, checktest.Mounts("d"), "n1") + checktest.Claim("d", "ReadWriteOnce", checktest.OnN1), Right: []string{checktest.Web}},
		{Name: "for many nodes", YAML: checktest.App("web", 2, checktest.Mounts("d"), "n1") + checktest.Claim("d", "ReadWriteMany", ""), Right: []string{checktest.Web}},
		{Name: "for one node, and two replicas", YAML: checktest.App("web", 2, checktest.Mounts("d"), "n1", "n1") + checktest.Claim("d", "ReadWriteOnce", ""), Wrong: []string{"warning " + checktest.Web + " spec.replicas = 2"}},
		{Name: "no claim", YAML: checktest.App("web", 2, checktest.OneContainer, "n1")},
	})
	checktest.Run(t, Rules(), operator.Find, "claim-node", []checktest.Case{
		{Name: "on one node of three", YAML: checktest.ThreeNodes + checktest.App("web", 1, checktest.Mounts("d"), "n1") + checktest.Claim("d", "ReadWriteOnce", checktest.OnN1), Wrong: []string{"warning " + claim + " spec.volumeName = pv-d"}, Says: []string{"only n1 of 3 nodes"}},
		{Name: "in a zone of one node", YAML: checktest.ThreeNodes + checktest.App("web", 1, checktest.Mounts("d"), "n3") + checktest.Claim("d", "ReadWriteOnce", strings.Replace(checktest.ZoneA, "[a]", "[b]", 1)), Right: []string{claim}},
		{Name: "anywhere", YAML: checktest.ThreeNodes + checktest.App("web", 1, checktest.Mounts("d"), "n1") + checktest.Claim("d", "ReadWriteOnce", ""), Right: []string{claim}},
		{Name: "the volume is unread", YAML: checktest.ThreeNodes + checktest.App("web", 1, checktest.Mounts("d"), "n1") + checktest.Claim("d", "ReadWriteOnce", checktest.OnN1), Unread: []string{"PersistentVolume"}, Open: []string{claim}},
		{Name: "a cluster of one node", YAML: checktest.Node("n1", "a", "") + checktest.App("web", 1, checktest.Mounts("d"), "n1") + checktest.Claim("d", "ReadWriteOnce", checktest.OnN1)},
	})
	checktest.Run(t, Rules(), operator.Find, "pod-grace", []checktest.Case{
		{Name: "the default", YAML: checktest.App("web", 1, checktest.OneContainer, "n1"), Right: []string{checktest.Web}},
		{Name: "none", YAML: checktest.App("web", 1, checktest.OneContainer+", terminationGracePeriodSeconds: 0", "n1"), Wrong: []string{"info " + checktest.Web + " spec.template.spec.terminationGracePeriodSeconds = 0"}},
	})
}

func TestInjected(t *testing.T) {
	app := checktest.App("web", 1, checktest.OneContainer, "n1")
	// The pod is the last document, and the last line its status.
	inject := func(status string) string {
		i := strings.LastIndex(app, checktest.OneContainer)
		out := app[:i] + strings.Replace(app[i:], "image: c}]", "image: c}, {name: istio-proxy, image: p}]", 1)
		out = strings.Replace(out, "uid: p-web-0,", "uid: p-web-0, annotations: {sidecar.istio.io/status: x},", 1)
		return strings.TrimSuffix(out, "}\n") + ", containerStatuses: [" + status + "]}\n"
	}
	up := "{name: istio-proxy, restartCount: 0, state: {running: {startedAt: '2026-01-01T00:00:10Z'}}}"
	ended := func(at string) string {
		return "{name: c, restartCount: 1, lastState: {terminated: {exitCode: 1, finishedAt: '" + at + "'}}}, "
	}
	checktest.Run(t, Rules(), operator.Find, "pod-injected", []checktest.Case{
		{Name: "nothing", YAML: app, Right: []string{checktest.Web}},
		{Name: "a proxy", YAML: inject(up), Wrong: []string{"info " + checktest.Web + " spec.template.spec.containers"}, Says: []string{"into 1 pod of 1: its template lacks istio-proxy (Istio)"}},
		{Name: "the ReplicaSet is unread", YAML: inject(up), Unread: []string{"ReplicaSet"}},
		{Name: "a pod of an operator has no template", Root: "Database.db.example/ns/pg", YAML: checktest.ClusterPods("n1")},
	})
	restarts := "pod-injected-restarts"
	at := func(c, value string) []string {
		return []string{"warning " + checktest.Web + " status.containerStatuses[" + c + "].restartCount = " + value}
	}
	checktest.Run(t, Rules(), operator.Find, restarts, []checktest.Case{
		{Name: "no restart", YAML: inject("{name: c, restartCount: 0}, " + up), Right: []string{checktest.Web}},
		{Name: "before the proxy was up", YAML: inject(ended("2026-01-01T00:00:12Z") + up), Wrong: at("c", "1"), Says: []string{"c ended with exit code 1 in pod web-0"}},
		{Name: "long after", YAML: inject(ended("2026-01-01T01:00:00Z") + up), Right: []string{checktest.Web}},
		{Name: "the proxy itself", YAML: inject("{name: c, restartCount: 0}, {name: istio-proxy, restartCount: 4, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}"), Wrong: at("istio-proxy", "4"), Says: []string{"4 times in pod web-0 (OOMKilled, exit code 137)"}},
		{Name: "all of them, with the node", YAML: inject("{name: c, restartCount: 1}, {name: istio-proxy, restartCount: 1}"), Right: []string{checktest.Web}},
	})
	job := "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ns, uid: j}\nspec: {template: {spec: {restartPolicy: Never, " + checktest.OneContainer + "}}}\n" +
		strings.TrimSuffix(checktest.Pod("j-0", "", "{apiVersion: batch/v1, kind: Job, name: j, uid: j, controller: true}", "restartPolicy: Never, containers: [{name: c, image: c}, {name: proxy, image: p}]", "n1"), "}\n") +
		", containerStatuses: [{name: c, state: {terminated: {exitCode: 0}}}, {name: proxy, state: {running: {startedAt: '2026-01-01T00:00:10Z'}}}]}\n"
	checktest.Run(t, Rules(), operator.Find, restarts, []checktest.Case{
		{Name: "a Job that does not end", Root: "Job.batch/ns/j", YAML: job, Wrong: []string{"warning Job.batch/ns/j status.containerStatuses[proxy].state = running"}, Says: []string{"pod j-0 does not complete"}},
		{Name: "a native side-car ends with the others", Root: "Job.batch/ns/j", YAML: strings.NewReplacer(
			"image: c}, {name: proxy, image: p}]", "image: c}], initContainers: [{name: proxy, image: p, restartPolicy: Always}]",
			", {name: proxy, state", "], initContainerStatuses: [{name: proxy, state").Replace(job), Right: []string{"Job.batch/ns/j"}},
	})
}
