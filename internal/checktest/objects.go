package checktest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

const (
	// WebhookPods are a Service and the Deployment behind it: the readiness of its pod, and its port.
	WebhookPods = `
apiVersion: v1
kind: Namespace
metadata: {name: ops, labels: {kind: system}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: runner-1, namespace: ops, labels: {app: runner}}
spec: {serviceAccountName: runner, containers: [{name: main, image: "acme/runner:1"}]}
status: {phase: Running, conditions: [{type: Ready, status: "%s"}]}
---
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: ops}
spec: {selector: {app: runner}, ports: [{port: %d}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, injected: "yes"}}
    spec: {containers: [{name: web, image: "acme/web:1"}]}
---
`
	// WebhookConfig is a configuration of one webhook that the Service answers to; more fields follow.
	WebhookConfig = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: one.example.com
  clientConfig: {service: {namespace: ops, name: hook}, caBundle: Y2E=}
  admissionReviewVersions: [v1]
  sideEffects: None
%s
---
`
)

// ClusterPods are pods that an operator made for a Database by itself.
func ClusterPods(nodes ...string) string {
	var b strings.Builder
	b.WriteString("---\napiVersion: db.example/v1\nkind: Database\nmetadata: {name: pg, namespace: ns, uid: pg}\nspec: {}\n")
	for i, n := range nodes {
		b.WriteString(Pod(fmt.Sprintf("pg-%d", i), "app: pg", "{apiVersion: db.example/v1, kind: Database, name: pg, uid: pg, controller: true, blockOwnerDeletion: true}", OneContainer, n))
	}
	return b.String()
}

// Pieces of small worlds. A workload is namespace/name, and its account is of that
// namespace.

// Definition is a CustomResourceDefinition.
func Definition(name, kind, meta string) string {
	plural, group, _ := strings.Cut(name, ".")
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s%s}
spec: {group: %s, scope: Namespaced, names: {plural: %s, kind: %s}, versions: [{name: v1, served: true, storage: true}]}
---`, name, meta, group, plural, kind)
}

// Deployment is a Deployment with one container.
func Deployment(ref, image, account, meta string) string {
	ns, name, _ := strings.Cut(ref, "/")
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: %s, name: %s%s}
spec:
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec: {serviceAccountName: %s, containers: [{name: main, image: "%s"}]}
---`, ns, name, meta, name, name, account, image)
}

// Grant is a ClusterRole and its binding.
func Grant(role, to, group, resources, verbs string) string {
	ns, name, _ := strings.Cut(to, "/")
	return fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %s}
rules:
- {apiGroups: ['%s'], resources: [%s], verbs: [%s]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %s-%s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}
subjects: [{kind: ServiceAccount, namespace: %s, name: %s}]
---`, role, group, resources, verbs, role, name, role, ns, name)
}

// AllVerbs are the verbs that an operator has for its own kinds.
const AllVerbs = "get, list, watch, create, update, patch, delete"

// ClusterOf are the pods of ClusterPods without their Database.
func ClusterOf(nodes ...string) string {
	_, pods, _ := strings.Cut(ClusterPods(nodes...), "spec: {}\n")
	return pods
}

// Web is the root of App("web").
const Web = "Deployment.apps/ns/web"

// ThreeNodes are three nodes in two zones.
var ThreeNodes = Node("n1", "a", "") + Node("n2", "a", "") + Node("n3", "b", "")

// Node writes a node; more are further fields of its spec, as "unschedulable: true".
func Node(name, zone, more string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Node
metadata: {name: %[1]s, uid: node-%[1]s, labels: {kubernetes.io/hostname: %[1]s, topology.kubernetes.io/zone: %[2]s}}
spec: {%[3]s}
status: {conditions: [{type: Ready, status: "True"}]}
`, name, zone, more)
}

// App writes a Deployment, its ReplicaSet and its pods, one a place: a node, or one
// with ! before it where the pod is not ready there, or nothing where it waits. The spec is
// of the pods, in one line without braces; the pods are labelled app: name.
func App(name string, replicas int, spec string, places ...string) string {
	return AppWith(name, replicas, spec, "", places...)
}

// AppWith adds further fields to the Deployment's spec.
func AppWith(name string, replicas int, spec, more string, places ...string) string {
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
		b.WriteString(Pod(fmt.Sprintf("%s-%d", name, i), "app: "+name, fmt.Sprintf("{apiVersion: apps/v1, kind: ReplicaSet, name: %[1]s-1, uid: r-%[1]s, controller: true}", name), spec, place))
	}
	return b.String()
}

// Pod writes one pod, with an owner reference or none.
func Pod(name, labels, owner, spec, place string) string {
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

// Budget writes a budget for the pods of an app, and what the controller made of it:
// allowed, healthy, desired and expected.
func Budget(name, app, spec string, status ...int) string {
	state := ""
	if len(status) == 4 {
		state = fmt.Sprintf("disruptionsAllowed: %d, currentHealthy: %d, desiredHealthy: %d, expectedPods: %d", status[0], status[1], status[2], status[3])
	}
	return fmt.Sprintf(`---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %s, namespace: ns, uid: b-%[1]s}
spec: {%[3]s, selector: {matchLabels: {app: %[2]s}}}
status: {%[4]s}
`, name, app, spec, state)
}

// Service is a Service in front of an app.
func Service(name, app, more string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: ns, uid: s-%[1]s}
spec: {selector: {app: %[2]s}, ports: [{port: 80, targetPort: 8080}]%[3]s}
`, name, app, more)
}

// Claim writes a claim and its volume; affinity are the expressions that its nodes
// match, in one line, or empty.
func Claim(name, mode, affinity string) string {
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
	// OneContainer is the spec of a pod with one container.
	OneContainer = "containers: [{name: c, image: c}]"
	// OnN1 is the node affinity of a volume of node n1.
	OnN1 = "{key: kubernetes.io/hostname, operator: In, values: [n1]}"
	// ZoneA is the node affinity of a volume of zone a.
	ZoneA = "{key: topology.kubernetes.io/zone, operator: In, values: [a]}"
)

// Mounts is a pod spec that mounts a claim.
func Mounts(claim string) string {
	return OneContainer + ", volumes: [{name: data, persistentVolumeClaim: {claimName: " + claim + "}}]"
}

// Stacks are the stacks of some roots.
func Stacks(t *testing.T, w *World, roots ...string) []*check.Stack {
	t.Helper()
	out := make([]*check.Stack, 0, len(roots))
	for _, r := range roots {
		out = append(out, w.Stack(r))
	}
	return out
}
