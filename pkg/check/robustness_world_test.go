package check

import (
	"fmt"
	"strings"
	"testing"
)

// robustNodes3 are three nodes in two zones.
var robustNodes3 = robustNode("n1", "a", "") + robustNode("n2", "a", "") + robustNode("n3", "b", "")

// robustNode writes a node; more are further fields of its spec, as "unschedulable: true".
func robustNode(name, zone, more string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Node
metadata: {name: %[1]s, uid: node-%[1]s, labels: {kubernetes.io/hostname: %[1]s, topology.kubernetes.io/zone: %[2]s}}
spec: {%[3]s}
status: {conditions: [{type: Ready, status: "True"}]}
`, name, zone, more)
}

// robustApp writes a Deployment, its ReplicaSet and its pods, one a place: a node, or one
// with ! before it where the pod is not ready there, or nothing where it waits. The spec is
// of the pods, in one line without braces; the pods are labelled app: name.
func robustApp(name string, replicas int, spec string, places ...string) string {
	return robustAppMore(name, replicas, spec, "", places...)
}

// robustAppMore adds further fields to the Deployment's spec.
func robustAppMore(name string, replicas int, spec, more string, places ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: ns, uid: d-%[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template: {metadata: {labels: {app: %[1]s}}, spec: {%[3]s}}
  %[4]s
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: %[1]s-1, namespace: ns, uid: r-%[1]s, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: %[1]s, uid: d-%[1]s, controller: true}]}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template: {metadata: {labels: {app: %[1]s}}, spec: {%[3]s}}
`, name, replicas, spec, more)
	for i, place := range places {
		b.WriteString(robustPod(fmt.Sprintf("%s-%d", name, i), "app: "+name, fmt.Sprintf("{apiVersion: apps/v1, kind: ReplicaSet, name: %[1]s-1, uid: r-%[1]s, controller: true}", name), spec, place))
	}
	return b.String()
}

// robustPod writes one pod, with an owner reference or none.
func robustPod(name, labels, owner, spec, place string) string {
	ready, phase, node := "True", "Running", strings.TrimPrefix(place, "!")
	if strings.HasPrefix(place, "!") {
		ready = "False"
	}
	if node == "" {
		ready, phase = "False", "Pending"
	} else {
		spec += ", nodeName: " + node
	}
	return fmt.Sprintf(`---
apiVersion: v1
kind: Pod
metadata: {name: %[1]s, namespace: ns, uid: p-%[1]s, labels: {%[2]s}, ownerReferences: [%[3]s]}
spec: {%[4]s}
status: {phase: %[5]s, conditions: [{type: Ready, status: "%[6]s"}]}
`, name, labels, owner, spec, phase, ready)
}

// robustBudget writes a budget for the pods of an app, and what the controller made of it:
// allowed, healthy, desired and expected.
func robustBudget(name, app, spec string, status ...int) string {
	said := ""
	if len(status) == 4 {
		said = fmt.Sprintf("disruptionsAllowed: %d, currentHealthy: %d, desiredHealthy: %d, expectedPods: %d", status[0], status[1], status[2], status[3])
	}
	return fmt.Sprintf(`---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %s, namespace: ns, uid: b-%[1]s}
spec: {%[3]s, selector: {matchLabels: {app: %[2]s}}}
status: {%[4]s}
`, name, app, spec, said)
}

func robustService(name, app, more string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: ns, uid: s-%[1]s}
spec: {selector: {app: %[2]s}, ports: [{port: 80, targetPort: 8080}]%[3]s}
`, name, app, more)
}

// robustClaim writes a claim and its volume; affinity are the expressions that its nodes
// match, in one line, or empty.
func robustClaim(name, mode, affinity string) string {
	nodes := ""
	if affinity != "" {
		nodes = fmt.Sprintf(", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [%s]}]}}", affinity)
	}
	return fmt.Sprintf(`---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %[1]s, namespace: ns, uid: c-%[1]s}
spec: {accessModes: [%[2]s], volumeName: pv-%[1]s, resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-%[1]s, uid: v-%[1]s}
spec: {accessModes: [%[2]s], capacity: {storage: 1Gi}, csi: {driver: d, volumeHandle: h}, claimRef: {namespace: ns, name: %[1]s, uid: c-%[1]s}%[3]s}
`, name, mode, nodes)
}

const (
	robustC     = "containers: [{name: c, image: c}]"
	robustOnN1  = "{key: kubernetes.io/hostname, operator: In, values: [n1]}"
	robustZoneA = "{key: topology.kubernetes.io/zone, operator: In, values: [a]}"
)

func robustMounts(claim string) string {
	return robustC + ", volumes: [{name: data, persistentVolumeClaim: {claimName: " + claim + "}}]"
}

// robustStacks are the stacks of some roots.
func robustStacks(t *testing.T, w *testWorld, roots ...string) []*Stack {
	t.Helper()
	out := make([]*Stack, 0, len(roots))
	for _, r := range roots {
		out = append(out, w.stack(r))
	}
	return out
}
