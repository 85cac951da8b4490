package preflight

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkEvaluate looks at 300 Deployments with a claim and a ConfigMap each, in a cluster
// of 300 nodes and 3,000 pods, with a quota.
func BenchmarkEvaluate(b *testing.B) {
	var cluster, batch strings.Builder
	for i := range 300 {
		fmt.Fprintf(&cluster, "---\n{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {kubernetes.io/hostname: n%d}}, status: {allocatable: {cpu: 8, memory: 32Gi, pods: 110}}}\n", i, i)
	}
	for i := range 3000 {
		fmt.Fprintf(&cluster, "---\n{apiVersion: v1, kind: Pod, metadata: {name: p%d, namespace: shop}, spec: {nodeName: n%d, containers: [{name: m, image: i, resources: {requests: {cpu: 100m}}}]}, status: {phase: Running}}\n", i, i%300)
	}
	cluster.WriteString("---\n{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: {requests.cpu: 10k, count/configmaps: 2}}, status: {hard: {requests.cpu: 10k, count/configmaps: 2}, used: {requests.cpu: 300, count/configmaps: 1}}}\n")
	cluster.WriteString("---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}, provisioner: csi.example.com, volumeBindingMode: WaitForFirstConsumer}\n")
	for i := range 300 {
		fmt.Fprintf(&batch, "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: d%d, namespace: shop}, spec: {selector: {matchLabels: {a: d%d}}, template: {metadata: {labels: {a: d%d}}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: c%d}}], containers: [{name: m, image: i, envFrom: [{configMapRef: {name: m%d}}], resources: {requests: {cpu: 200m}}}]}}}}\n", i, i, i, i, i)
		fmt.Fprintf(&batch, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: m%d, namespace: shop}}\n", i)
		fmt.Fprintf(&batch, "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c%d, namespace: shop}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n", i)
	}
	q := ask(b, cluster.String(), batch.String())
	b.ReportAllocs()
	for b.Loop() {
		if r := Evaluate(q); r.Pods != 300 {
			b.Fatalf("%d pods", r.Pods)
		}
	}
}
