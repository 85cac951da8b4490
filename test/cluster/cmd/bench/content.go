//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// furnish loads what the loader does not know: Nodes, a Service and the metrics of the pods for
// each tree, and a custom resource for every second one, which is one object in twenty. It
// writes to etcd through its gateway, as the API server would store them.
func (b *bench) furnish(ctx context.Context, tag string, namespaces, trees int) error {
	w := etcdWriter{url: b.cluster.Etcd}
	for i := range b.nodes {
		name := "node-" + strconv.Itoa(i)
		w.put("minions/"+name, node(name))
		w.put("metrics.k8s.io/nodes/"+name, usage("NodeMetrics", "", name, map[string]any{"usage": amounts("900m", "6Gi")}))
	}
	for i := range trees {
		ns, app := tag+"-"+strconv.Itoa(i%namespaces), "app-"+strconv.Itoa(i)
		w.put("services/specs/"+ns+"/"+app, service(ns, app, i))
		if i%2 == 0 {
			w.put("bench.example.com/gadgets/"+ns+"/"+app, gadget(ns, app))
		}
		for k := range pods {
			name := fmt.Sprintf("%s-5d5f8b6c7f-%05d", app, k)
			w.put("metrics.k8s.io/pods/"+ns+"/"+name, usage("PodMetrics", ns, name, map[string]any{
				"containers": []any{map[string]any{"name": "main", "usage": amounts(strconv.Itoa(5+i%40)+"m", strconv.Itoa(20+i%80)+"Mi")}},
			}))
		}
		if err := w.flush(ctx, 100); err != nil {
			return err
		}
	}
	return w.flush(ctx, 1)
}

// served defines the kinds of custom resources that furnish loads. The metrics of a real
// cluster come from an API service, and are read in the same way.
func (b *bench) served(ctx context.Context) error {
	_, err := b.cluster.Apply(ctx, []*unstructured.Unstructured{
		kind("bench.example.com", "v1", "Gadget", "gadgets", "Namespaced"),
		kind("metrics.k8s.io", "v1beta1", "PodMetrics", "pods", "Namespaced"),
		kind("metrics.k8s.io", "v1beta1", "NodeMetrics", "nodes", "Cluster"),
	})
	if err != nil {
		return fmt.Errorf("load definitions: %w", err)
	}
	return nil
}

func kind(group, version, kind, plural, scope string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{
			"name":        plural + "." + group,
			"annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, for a benchmark"},
		},
		"spec": map[string]any{
			"group": group, "scope": scope,
			"names": map[string]any{"kind": kind, "listKind": kind + "List", "plural": plural, "singular": strings.ToLower(kind)},
			"versions": []any{map[string]any{
				"name": version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
}

func meta(ns, name string) map[string]any {
	m := map[string]any{
		"name": name, "uid": string(uuid.NewUUID()), "creationTimestamp": "2026-01-02T03:04:05Z",
		"labels": map[string]any{"app": name},
	}
	if ns != "" {
		m["namespace"] = ns
	}
	return m
}

func amounts(cpu, memory string) map[string]any { return map[string]any{"cpu": cpu, "memory": memory} }

func usage(kind, ns, name string, of map[string]any) map[string]any {
	of["apiVersion"], of["kind"], of["metadata"] = "metrics.k8s.io/v1beta1", kind, meta(ns, name)
	of["timestamp"], of["window"] = time.Now().UTC().Format(time.RFC3339), "15s"
	return of
}

func service(ns, app string, i int) map[string]any {
	ip := fmt.Sprintf("10.%d.%d.%d", 97+i>>16&0x7f, i>>8&0xff, i&0xff)
	return map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": meta(ns, app),
		"spec": map[string]any{
			"type": "ClusterIP", "clusterIP": ip, "clusterIPs": []any{ip}, "selector": map[string]any{"app": app},
			"ipFamilies": []any{"IPv4"}, "ipFamilyPolicy": "SingleStack", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
			"ports": []any{map[string]any{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}},
		},
		"status": map[string]any{"loadBalancer": map[string]any{}},
	}
}

func gadget(ns, app string) map[string]any {
	return map[string]any{
		"apiVersion": "bench.example.com/v1", "kind": "Gadget", "metadata": meta(ns, app),
		"spec": map[string]any{
			"configMapName": strings.Replace(app, "app-", "cm-", 1), "replicas": 3, "size": "20Gi", "url": "https://example.com/" + app,
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "example.com/app:1"}}}},
		},
		"status": map[string]any{"observedGeneration": 1, "conditions": []any{
			map[string]any{"type": "Ready", "status": "True", "reason": "Running", "message": "all replicas are ready", "lastTransitionTime": "2026-01-02T03:04:05Z"},
		}},
	}
}

func node(name string) map[string]any {
	room := map[string]any{"cpu": "64", "memory": "256Gi", "pods": "110", "ephemeral-storage": "200Gi"}
	return map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": meta("", name), "spec": map[string]any{"providerID": "bench://" + name},
		"status": map[string]any{
			"capacity": room, "allocatable": room,
			"addresses":  []any{map[string]any{"type": "InternalIP", "address": "127.0.0.1"}},
			"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": "2026-01-02T03:04:05Z"}},
			"nodeInfo":   map[string]any{"kubeletVersion": "v1.36.3", "architecture": "amd64", "operatingSystem": "linux"},
		},
	}
}

// etcdWriter writes objects in transactions.
type etcdWriter struct {
	url     string
	pending []any
	err     error
}

func (w *etcdWriter) put(key string, object map[string]any) {
	raw, err := json.Marshal(object)
	if err != nil {
		w.err = err
		return
	}
	w.pending = append(w.pending, map[string]any{"requestPut": map[string]any{"key": []byte("/registry/" + key), "value": raw}})
}

// flush writes what is pending, where that is at least so much.
func (w *etcdWriter) flush(ctx context.Context, least int) error {
	for w.err == nil && len(w.pending) >= least {
		n := min(len(w.pending), 100)
		w.err = w.transact(ctx, w.pending[:n])
		w.pending = w.pending[n:]
	}
	return w.err
}

func (w *etcdWriter) transact(ctx context.Context, puts []any) error {
	body, err := json.Marshal(map[string]any{"success": puts})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v3/kv/txn", bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("write to etcd: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("write to etcd: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("write to etcd: %s: %s", resp.Status, answer)
	}
	return nil
}
