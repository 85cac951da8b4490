package cluster

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/pki"
)

// maxNodes is the limit of the addresses and, with Summary, of the ports.
const maxNodes = 5000

// FailAnnotation on a pod is the way in which it fails; a claim with it stays pending, and a node
// with it has no kubelet.
const FailAnnotation = "sysop.dev/fail"

//go:embed manifests
var ownManifests embed.FS

// startKwok starts kwok and makes the nodes, but does not wait for them.
// Stages come from its configuration file, not from the cluster, where tests
// would see them.
func (c *Cluster) startKwok(ctx context.Context) error {
	crds, err := apply.ReadFiles(c.binaries.Manifests(build.ManifestKwokCRDs))
	if err != nil {
		return err
	}
	usage, err := apply.ReadFiles(c.binaries.Manifests(build.ManifestKwokMetrics))
	if err != nil {
		return err
	}
	class, err := ownManifest("storageclass.yaml")
	if err != nil {
		return err
	}
	objects := slices.Concat(crds, usage, class)
	for i := range c.options.Nodes {
		node, err := ownManifest("node.yaml", "NODENAME", nodeName(i), "NODEIP", fmt.Sprintf("10.10.%d.%d", i/250, i%250+1))
		if err != nil {
			return err
		}
		objects = append(objects, node...)
	}
	if _, err := apply.Objects(ctx, c.config, apply.Makers{Pods: true}, objects); err != nil {
		return err
	}
	return c.runKwok()
}

func (c *Cluster) runKwok() error {
	stages, err := kwokConfig(c.binaries.Manifests(build.ManifestKwokStages))
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.path("kwok.yaml"), stages, 0o600); err != nil {
		return err
	}
	if err := c.part(build.Kwok); err != nil {
		return err
	}
	p, err := ports(1)
	if err != nil {
		return err
	}
	c.kubeletPort = p[0]
	// Without a server address it would listen on all addresses.
	return c.run(build.Kwok, build.Kwok,
		"--kubeconfig=kwok.kubeconfig", "--config=kwok.yaml", "--manage-all-nodes=true",
		"--node-ip=127.0.0.1", fmt.Sprintf("--node-port=%d", p[0]), "--server-address="+address(p[0]),
		"--tls-cert-file=pki/kubelet.crt", "--tls-private-key-file=pki/kubelet.key",
		"--cidr=10.244.0.0/16", "--node-lease-duration-seconds=200",
		"--enable-crds=Metric,ClusterResourceUsage,ResourceUsage,Logs,ClusterLogs")
}

// part writes NAME.kubeconfig for an administrator that the audit policy recognizes as a component
// of the cluster.
func (c *Cluster) part(name string) error {
	return c.kubeconfig(c.path(name+".kubeconfig"), pki.Subject{Name: "sysop:" + name, Groups: []string{"system:masters", partsGroup}})
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

func (c *Cluster) nodes(ctx context.Context) ([]unstructured.Unstructured, error) {
	l, err := c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return l.Items, nil
}

// awaitNodes waits until every node is ready.
func (c *Cluster) awaitNodes(ctx context.Context) error {
	return await(ctx, func(ctx context.Context) error {
		nodes, err := c.nodes(ctx)
		if err != nil {
			return err
		}
		ready := 0
		for i := range nodes {
			if apply.Condition(&nodes[i], "Ready") {
				ready++
			}
		}
		if ready < c.options.Nodes {
			return fmt.Errorf("%d of %d nodes are ready", ready, c.options.Nodes)
		}
		return nil
	})
}

// startFakeKubelet puts the fake kubelet in front of kwok's, a port for each node. kwok must have
// initialized the nodes: it writes its own port into them.
func (c *Cluster) startFakeKubelet(ctx context.Context) error {
	if err := c.part(build.FakeKubelet); err != nil {
		return err
	}
	p, err := ports(c.options.Nodes)
	if err != nil {
		return err
	}
	var pairs []string
	for i, port := range p {
		pairs = append(pairs, fmt.Sprintf("%s=%d", nodeName(i), port))
	}
	if err := c.pointNodes(ctx, p); err != nil {
		return err
	}
	go c.keepNodes(p)
	return c.run(build.FakeKubelet, build.FakeKubelet,
		"--kubeconfig=fakekubelet.kubeconfig", "--nodes="+strings.Join(pairs, ","), "--kwok=https://"+address(c.kubeletPort),
		"--tls-cert-file=pki/kubelet.crt", "--tls-private-key-file=pki/kubelet.key")
}

// pointNodes writes the ports of the fake kubelet into the nodes.
func (c *Cluster) pointNodes(ctx context.Context, ports []int) error {
	nodes := c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"})
	for i, port := range ports {
		patch := fmt.Sprintf(`{"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":%d}}}}`, port)
		if _, err := nodes.Patch(ctx, nodeName(i), types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
			return err
		}
	}
	return nil
}

// nodesPoll is the interval at which nodes are pointed to the fake kubelet.
const nodesPoll = 2 * time.Second

// keepNodes writes the ports again, until the cluster stops: kwok reinitializes a node that did not
// report for a while, as on a busy machine.
func (c *Cluster) keepNodes(ports []int) {
	tick := time.NewTicker(nodesPoll)
	defer tick.Stop()
	for {
		select {
		case <-c.exited:
			return
		case <-tick.C:
			// Failures are retried; a restarting server responds later.
			_ = c.pointNodes(context.Background(), ports)
		}
	}
}

// ownManifest reads one of our own files, with words replaced: old, new, ...
func ownManifest(name string, oldnew ...string) ([]*unstructured.Unstructured, error) {
	b, err := ownManifests.ReadFile("manifests/" + name)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return apply.Parse([]byte(strings.NewReplacer(oldnew...).Replace(string(b))))
}

// kwokConfig returns kwok's configuration: its options, its own stages from dir, adapted, and ours.
func kwokConfig(dir string) ([]byte, error) {
	var config bytes.Buffer
	for _, own := range []string{"kwok-config.yaml", "stage-pod-fail.yaml"} {
		b, err := ownManifests.ReadFile("manifests/" + own)
		if err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		fmt.Fprintf(&config, "%s---\n", b)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("read kwok's stages: %w", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("read kwok's stages: %w", err)
		}
		stage, err := adaptStage(b)
		if err != nil {
			return nil, fmt.Errorf("adapt kwok's stage %s: %w", filepath.Base(f), err)
		}
		fmt.Fprintf(&config, "%s---\n", stage)
	}
	return config.Bytes(), nil
}

// adaptStage excludes failing objects from the stages for healthy ones, and applies the stages for
// volumes to claims of every class, not of kwok's own only: manifests from other clusters use
// theirs.
func adaptStage(b []byte) ([]byte, error) {
	var stage unstructured.Unstructured
	if err := yaml.Unmarshal(b, &stage.Object); err != nil {
		return nil, err
	}
	expressions, found, err := unstructured.NestedSlice(stage.Object, "spec", "selector", "matchExpressions")
	if err != nil || !found {
		return nil, errors.Join(errors.New("it has no selector"), err)
	}
	switch stage.GetName() {
	case "pod-ready", "pod-complete", "node-initialize", "node-heartbeat-with-lease":
		expressions = append(expressions, doesNotFail())
	case "pvc-provision":
		expressions = append(slices.DeleteFunc(expressions, selectsClass), doesNotFail())
	case "pv-bind", "pv-delete", "pvc-delete":
		expressions = slices.DeleteFunc(expressions, selectsClass)
	}
	if err := unstructured.SetNestedSlice(stage.Object, expressions, "spec", "selector", "matchExpressions"); err != nil {
		return nil, err
	}
	return yaml.Marshal(stage.Object)
}

func doesNotFail() any {
	return map[string]any{"key": `.metadata.annotations["` + FailAnnotation + `"]`, "operator": "DoesNotExist"}
}

func selectsClass(expression any) bool {
	m, _ := expression.(map[string]any)
	cel, _, _ := unstructured.NestedString(m, "cel", "expression") // a field of another type is no such expression
	return strings.Contains(cel, "storageClassName ==")
}
