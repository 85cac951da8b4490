package stack

import (
	"fmt"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

// TestPodsPortable holds what is said of pods of a stack.
func TestPodsPortable(t *testing.T) {
	const node = "\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {kubernetes.io/arch: %s}}\n---"
	one, two := fmt.Sprintf(node, "a", "amd64"), fmt.Sprintf(node, "a", "amd64")+fmt.Sprintf(node, "b", "arm64")
	ready := func(on string) string {
		return fmt.Sprintf("\napiVersion: v1\nkind: Pod\nmetadata: {name: web-%s, namespace: shop, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: 40000000-0000-0000-0000-000000000012, controller: true}]}\nspec: {nodeName: %s, containers: [{name: web, image: x}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: 'True'}]}\n---", on, on)
	}
	const set = "\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-1, namespace: shop, uid: 40000000-0000-0000-0000-000000000012, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: 40000000-0000-0000-0000-000000000011, controller: true}]}\nspec: {template: {spec: {containers: [{name: web, image: x}]}}}\n---"
	for name, c := range map[string]struct{ id, spec, notes, around, unread, want string }{
		"one architecture":    {id: "stack-platforms", around: one, want: "fine web"},
		"two":                 {id: "stack-platforms", around: two, want: "open web"},
		"two, and chosen":     {id: "stack-platforms", around: two, spec: "nodeSelector: {kubernetes.io/arch: amd64}, ", want: "fine web"},
		"two, and required":   {id: "stack-platforms", around: two, spec: "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}}, ", want: "fine web"},
		"runs on one of two":  {id: "stack-platforms", around: two + set + ready("a"), want: "open web"},
		"runs on both":        {id: "stack-platforms", around: two + set + ready("a") + ready("b"), want: "fine web"},
		"nodes unread":        {id: "stack-platforms", around: two, unread: "Node", want: "open web"},
		"nothing old":         {id: "stack-deprecated-fields", spec: "nodeSelector: {kubernetes.io/os: linux}, ", want: "fine web"},
		"an old selector":     {id: "stack-deprecated-fields", spec: "nodeSelector: {beta.kubernetes.io/os: linux}, ", want: "info web spec.template.spec.nodeSelector=beta.kubernetes.io/os"},
		"an old toleration":   {id: "stack-deprecated-fields", spec: "tolerations: [{key: node-role.kubernetes.io/master, operator: Exists}], ", want: "fine web"},
		"an old spread":       {id: "stack-deprecated-fields", spec: "topologySpreadConstraints: [{topologyKey: failure-domain.beta.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}], ", want: "warning web spec.template.spec.topologySpreadConstraints[0].topologyKey=failure-domain.beta.kubernetes.io/zone"},
		"an old annotation":   {id: "stack-deprecated-fields", notes: "container.seccomp.security.alpha.kubernetes.io/web: runtime/default", want: "warning web spec.template.metadata.annotations=container.seccomp.security.alpha.kubernetes.io/web"},
		"an old volume":       {id: "stack-deprecated-fields", spec: "volumes: [{name: v, cephfs: {monitors: [a]}}], ", want: "warning web spec.template.spec.volumes[0]=cephfs"},
		"preferred affinity":  {id: "stack-deprecated-fields", spec: "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname}}]}}, ", want: "fine web"},
		"everything but that": {id: "stack-deprecated-fields", notes: "seccomp.security.alpha.kubernetes.io/other: x", want: "fine web"},
	} {
		t.Run(name, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, c.around+fmt.Sprintf("\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop, uid: 40000000-0000-0000-0000-000000000011}\nspec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}, annotations: {%s}}, spec: {%scontainers: [{name: web, image: x}]}}}\n", c.notes, c.spec), c.unread)
			checktest.ExpectResult(t, checktest.Only(t, Rules(), c.id, w.Stack("Deployment.apps/shop/web").Check), c.want)
		})
	}
}
