package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// many writes a snapshot with one stack of about n objects: app/big, of StatefulSets with three
// pods each, their claims, a Secret and a Service. Every fortieth pod fails.
func many(dir string, n int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var b strings.Builder
	id := 0
	// owner is the name and the UID of a StatefulSet, or empty.
	object := func(kind, name, owner, rest string) string {
		id++
		uid := fmt.Sprintf("00000000-0000-4000-8000-%012d", id)
		version := "v1"
		if kind == "StatefulSet" {
			version = "apps/v1"
		}
		labels := "app.kubernetes.io/instance: big"
		if owner != "" {
			set, uid, _ := strings.Cut(owner, " ")
			labels += fmt.Sprintf(", app: %[1]s}\n  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: %[1]s, uid: %[2]s, controller: true}]\n  annotations: {", set, uid)
		}
		fmt.Fprintf(&b, "---\napiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: big\n  uid: %s\n  creationTimestamp: \"2026-09-01T00:00:00Z\"\n  labels: {%s}\n%s", version, kind, name, uid, labels, rest)
		return uid
	}
	for set := 0; id < n; set++ {
		name := fmt.Sprintf("set-%d", set)
		selector := fmt.Sprintf("{app: %s}", name)
		secret := name + "-credentials"
		uid := object("StatefulSet", name, "", fmt.Sprintf(`spec:
  replicas: 3
  serviceName: %[1]s
  selector: {matchLabels: %[2]s}
  template: {metadata: {labels: %[2]s}, spec: {containers: [{name: main, image: example.com/main:1}]}}
status: {observedGeneration: 1, replicas: 3, readyReplicas: 3, availableReplicas: 3, updatedReplicas: 3, currentReplicas: 3}
`, name, selector))
		object("Service", name, "", fmt.Sprintf("spec: {clusterIP: 10.0.0.1, selector: %s, ports: [{port: 80}]}\n", selector))
		object("Secret", secret, "", "type: Opaque\n")
		for i := range 3 {
			claim := fmt.Sprintf("data-%s-%d", name, i)
			state := `status: {phase: Running, conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: main, ready: true, restartCount: 0, image: example.com/main:1, imageID: a, state: {running: {startedAt: "2026-09-01T00:00:00Z"}}}]}`
			if (set*3+i)%40 == 39 {
				state = `status: {phase: Running, conditions: [{type: Ready, status: "False"}], containerStatuses: [{name: main, ready: false, restartCount: 7, image: example.com/main:1, imageID: a, state: {waiting: {reason: CrashLoopBackOff, message: "back-off 5m0s restarting failed container"}}}]}`
			}
			object("Pod", fmt.Sprintf("%s-%d", name, i), name+" "+uid, fmt.Sprintf(`spec:
  nodeName: node-%d
  containers: [{name: main, image: "example.com/main:1", resources: {requests: {cpu: 100m, memory: 128Mi}}}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: %s}}, {name: credentials, secret: {secretName: %s}}]
%s
`, i, claim, secret, state))
			object("PersistentVolumeClaim", claim, "", fmt.Sprintf("spec: {accessModes: [ReadWriteOnce], storageClassName: standard, volumeName: pv-%s, resources: {requests: {storage: 1Gi}}}\nstatus: {phase: Bound, capacity: {storage: 1Gi}}\n", claim))
		}
	}
	return os.WriteFile(filepath.Join(dir, "big.yaml"), []byte(b.String()), 0o600)
}

// teams writes a snapshot of n stacks in namespaces of 17, and of three Deployments in platform that
// many of them name: orders-db, session-cache, and events, which fails. Every thirtieth stack fails.
// Two of three are part of the System apps store and blog. A status is partly written from right to left. All names
// begin with prefix.
func teams(dir string, n int, prefix string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var b strings.Builder
	id := 0
	object := func(version, kind, namespace, name, app, owner, rest string) string {
		id++
		uid := fmt.Sprintf("00000000-0000-4000-8000-%012d", id)
		fmt.Fprintf(&b, "---\napiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: %s, uid: %s, generation: 1, labels: {app: %s}%s}\n%s", version, kind, name, namespace, uid, app, owner, rest)
		return uid
	}
	owned := func(kind, name, uid string) string {
		return fmt.Sprintf(", ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: %s, controller: true}]", kind, name, uid)
	}
	app := func(namespace, name, system, address string, fails bool) {
		ready, state := 2, `ready: true, state: {running: {startedAt: "2026-09-01T00:00:00Z"}}`
		condition := "True"
		if fails {
			ready, state, condition = 0, `ready: false, state: {waiting: {reason: CrashLoopBackOff, message: "back-off 5m0s restarting failed container, שגיאה 12 קרסה"}}`, "False"
		}
		env := ""
		if address != "" {
			env = fmt.Sprintf(", env: [{name: ADDRESS, value: %q}]", address)
		}
		containers := fmt.Sprintf("containers: [{name: main, image: \"example.com/main:1\", resources: {requests: {cpu: 100m, memory: 128Mi}}%s}]", env)
		template := fmt.Sprintf("spec: {replicas: 2, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {%[2]s}}}\n", name, containers)
		status := fmt.Sprintf("observedGeneration: 1, replicas: 2, readyReplicas: %[1]d, availableReplicas: %[1]d, updatedReplicas: 2", ready)
		label := name
		if system != "" {
			label += ", app.kubernetes.io/part-of: " + system
		}
		uid := object("apps/v1", "Deployment", namespace, name, label, "", template+fmt.Sprintf("status: {%s, conditions: [{type: Available, status: %q}]}\n", status, condition))
		set := object("apps/v1", "ReplicaSet", namespace, name+"-abc", name, owned("Deployment", name, uid), template+fmt.Sprintf("status: {observedGeneration: 1, replicas: 2, fullyLabeledReplicas: 2, readyReplicas: %[1]d, availableReplicas: %[1]d}\n", ready))
		for i := range 2 {
			object("v1", "Pod", namespace, fmt.Sprintf("%s-abc-%d", name, i), name, owned("ReplicaSet", name+"-abc", set), fmt.Sprintf("spec: {nodeName: node-%d, %s}\nstatus: {phase: Running, conditions: [{type: Ready, status: %q}], containerStatuses: [{name: main, restartCount: 7, image: a, imageID: a, %s}]}\n", i, containers, condition, state))
		}
	}
	parts := []string{prefix + "orders-db", prefix + "session-cache", prefix + "events"}
	for _, part := range parts {
		app("platform", part, "", "", part == prefix+"events")
		object("v1", "Service", "platform", part, part, "", fmt.Sprintf("spec: {clusterIP: 10.0.0.1, selector: {app: %s}, ports: [{port: 80}]}\n", part))
	}
	for i := range n {
		address := ""
		if i%4 < len(parts) {
			address = parts[i%4] + ".platform.svc.cluster.local:80"
		}
		app(fmt.Sprintf("%steam-%02d", prefix, i/17), fmt.Sprintf("%sapp-%03d", prefix, i), []string{"store", "blog", ""}[i%3], address, i%30 == 29)
	}
	return os.WriteFile(filepath.Join(dir, "teams.yaml"), []byte(b.String()), 0o600)
}
