package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// wall writes a snapshot of one stack of 1,506 objects: 100 Deployments of 11 pods in eight parts of
// an app, each with its Service; all pods need the same four objects, and three of shop-01-api fail.
func wall(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var b strings.Builder
	id := 0
	object := func(version, kind, name, labels, owner, rest string) string {
		id++
		uid, namespace := fmt.Sprintf("00000000-0000-4000-8000-%012d", id), ", namespace: app"
		if kind == "PersistentVolume" {
			namespace = ""
		}
		fmt.Fprintf(&b, "---\napiVersion: %s\nkind: %s\nmetadata: {name: %s%s, uid: %s, generation: 1, labels: {app.kubernetes.io/instance: shop-01%s}%s}\n%s", version, kind, name, namespace, uid, labels, owner, rest)
		return uid
	}
	owned := func(kind, name, uid string) string {
		return fmt.Sprintf(", ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: %s, controller: true}]", kind, name, uid)
	}
	object("v1", "ConfigMap", "shop-01-config", "", "", "data: {a: b}\n")
	object("v1", "Secret", "shop-01-secret", "", "", "type: Opaque\n")
	object("v1", "ServiceAccount", "shop-01", "", "", "")
	object("v1", "PersistentVolumeClaim", "shop-01-data", "", "", "spec: {accessModes: [ReadWriteMany], storageClassName: standard, volumeName: pv-shop, resources: {requests: {storage: 1Gi}}}\nstatus: {phase: Bound, capacity: {storage: 1Gi}}\n")
	object("v1", "PersistentVolume", "pv-shop", "", "", "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteMany], storageClassName: standard, persistentVolumeReclaimPolicy: Delete, claimRef: {kind: PersistentVolumeClaim, namespace: app, name: shop-01-data}}\nstatus: {phase: Bound}\n")
	object("networking.k8s.io/v1", "Ingress", "shop-01", "", "", "spec: {rules: [{host: shop-01.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: shop-01-web, port: {number: 80}}}}]}}]}\nstatus: {loadBalancer: {ingress: [{ip: 10.0.0.9}]}}\n")
	const spec = `serviceAccountName: shop-01, containers: [{name: main, image: "example.com/main:1", envFrom: [{configMapRef: {name: shop-01-config}}, {secretRef: {name: shop-01-secret}}], resources: {requests: {cpu: 100m, memory: 128Mi}}}], volumes: [{name: data, persistentVolumeClaim: {claimName: shop-01-data}}]`
	parts := []string{"web", "api", "worker", "cache", "search", "mail", "billing", "auth"}
	for i := range 100 {
		name := "shop-01-" + parts[i%len(parts)]
		if i >= len(parts) {
			name += fmt.Sprint(i)
		}
		well, available := 11, "True"
		if name == "shop-01-api" {
			well, available = 8, "False"
		}
		labels, set := ", app: "+name, fmt.Sprintf("%s-%010x", name, 12345678901+i*7919)
		template := fmt.Sprintf("spec: {replicas: 11, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {%[2]s}}}\n", name, spec)
		status := fmt.Sprintf("observedGeneration: 1, replicas: 11, readyReplicas: %[1]d, availableReplicas: %[1]d", well)
		uid := object("apps/v1", "Deployment", name, labels, "", template+fmt.Sprintf("status: {%s, updatedReplicas: 11, conditions: [{type: Available, status: %q}]}\n", status, available))
		uid = object("apps/v1", "ReplicaSet", set, labels, owned("Deployment", name, uid), template+fmt.Sprintf("status: {%s, fullyLabeledReplicas: 11}\n", status))
		object("v1", "Service", name, labels, "", fmt.Sprintf("spec: {clusterIP: 10.0.0.1, selector: {app: %s}, ports: [{port: 80}]}\n", name))
		object("discovery.k8s.io/v1", "EndpointSlice", name+"-x", ", kubernetes.io/service-name: "+name, "", "addressType: IPv4\nendpoints: []\nports: []\n")
		for j := range 11 {
			ready, state := "True", `ready: true, restartCount: 0, state: {running: {startedAt: "2026-09-01T00:00:00Z"}}`
			if j >= well {
				ready, state = "False", `ready: false, restartCount: 9, state: {waiting: {reason: CrashLoopBackOff, message: "back-off 5m0s restarting failed container"}}`
			}
			object("v1", "Pod", fmt.Sprintf("%s-%05x", set, (i*11+j)*2654435%1048576), labels, owned("ReplicaSet", set, uid), fmt.Sprintf("spec: {nodeName: node-%d, %s}\nstatus: {phase: Running, conditions: [{type: Ready, status: %q}], containerStatuses: [{name: main, image: a, imageID: a, %s}]}\n", j%5, spec, ready, state))
		}
	}
	return os.WriteFile(filepath.Join(dir, "wall.yaml"), []byte(b.String()), 0o600)
}
