package system

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// applied is an object as it would be applied: without what a cluster, a controller or a
// tool of installation has put into it.
func (e *exporter) applied(from *unstructured.Unstructured) *unstructured.Unstructured {
	o := from.DeepCopy()
	e.assigned(o)
	delete(o.Object, "status")
	meta := map[string]any{"name": o.GetName()}
	if ns := o.GetNamespace(); ns != "" && ns != e.from.Namespace {
		meta["namespace"] = ns
	}
	if labels := withoutMarks(o.GetLabels(), markLabel); len(labels) > 0 {
		meta["labels"] = labels
	}
	if notes := withoutMarks(o.GetAnnotations(), func(key, _ string) bool { return markAnnotation(key) }); len(notes) > 0 {
		meta["annotations"] = notes
	}
	o.Object["metadata"] = meta
	dropCreated(o.Object["spec"])
	e.credentials(rootOf(o).String(), o)
	return o
}

// withoutMarks is what is left of labels or annotations, as an object has them.
func withoutMarks(all map[string]string, mark func(key, value string) bool) map[string]any {
	out := map[string]any{}
	for k, v := range all {
		if !mark(k, v) {
			out[k] = v
		}
	}
	return out
}

// markLabel says whether a label names the manager of an object.
func markLabel(key, value string) bool {
	prefix, _, _ := strings.Cut(key, "/")
	switch key {
	case "app.kubernetes.io/managed-by":
		return value == "Helm"
	case "helm.sh/chart", MemberLabel:
		return true
	}
	return ofTool(prefix)
}

// markAnnotation says whether an annotation is the mark of a tool, or of a controller.
func markAnnotation(key string) bool {
	prefix, _, _ := strings.Cut(key, "/")
	switch key {
	case "kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision", "deployment.kubernetes.io/desired-replicas",
		"deployment.kubernetes.io/max-replicas", "deployment.kubernetes.io/revision-history", "deprecated.daemonset.template.generation",
		"kubernetes.io/change-cause", "control-plane.alpha.kubernetes.io/leader", "autoscaling.alpha.kubernetes.io/conditions",
		"autoscaling.alpha.kubernetes.io/current-metrics", "endpoints.kubernetes.io/last-change-trigger-time",
		"kapp.k14s.io/original", "objectset.rio.cattle.io/applied", "banzaicloud.com/last-applied":
		return true
	}
	return slices.Contains([]string{"pv.kubernetes.io", "volume.kubernetes.io", "volume.beta.kubernetes.io", "batch.kubernetes.io", "meta.helm.sh", "helm.sh", "applyset.kubernetes.io"}, prefix) || ofTool(prefix)
}

// ofTool recognizes the keys of GitOps tools, and our own, by what is before the slash.
func ofTool(prefix string) bool {
	return slices.Contains([]string{"argocd.argoproj.io", "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "objectset.rio.cattle.io", "kapp.k14s.io", "sysop.dev"}, prefix)
}

// assigned takes out of the spec of built-in kinds what the cluster has put there.
func (e *exporter) assigned(o *unstructured.Unstructured) {
	switch group := o.GroupVersionKind().Group; group + "/" + o.GetKind() {
	case "/Service":
		e.service(o)
	case "/PersistentVolumeClaim":
		unstructured.RemoveNestedField(o.Object, "spec", "volumeName")
	case "/Pod":
		pod, _ := o.Object["spec"].(map[string]any)
		delete(pod, "nodeName")
		dropToken(pod)
	case "/ServiceAccount":
		delete(o.Object, "secrets") // tokens, which are made
	case "batch/Job":
		job(o)
	case "apps/DaemonSet", "apps/Deployment", "apps/StatefulSet":
		// Nothing: the API server fills in its defaults.
	}
}

// service keeps the cluster IP None, and node ports that were set.
func (e *exporter) service(o *unstructured.Unstructured) {
	spec, _ := o.Object["spec"].(map[string]any)
	if ip, _ := spec["clusterIP"].(string); ip != "None" {
		delete(spec, "clusterIP")
	}
	delete(spec, "clusterIPs")
	delete(spec, "ipFamilies")
	delete(spec, "ipFamilyPolicy")
	delete(spec, "healthCheckNodePort")
	if selector, _ := spec["selector"].(map[string]any); selector != nil {
		for key := range selector {
			if strings.HasPrefix(key, "sysop.dev/") {
				delete(selector, key)
				e.notice(rootOf(o).String(), "spec.selector", "its traffic is held now (%s): the manifest omits that", key)
			}
		}
	}
	ports, _ := spec["ports"].([]any)
	set := portsSet(o)
	for _, p := range ports {
		port, _ := p.(map[string]any)
		number, has := port["nodePort"].(int64)
		if has && !set[portKey(port)] {
			delete(port, "nodePort")
		} else if has {
			e.notice(rootOf(o).String(), "spec.ports", "node port %d was set explicitly, and is kept", number)
		}
	}
}

// portKey is how managed fields name a port of a Service.
func portKey(port map[string]any) string {
	key, err := json.Marshal(map[string]any{"port": port["port"], "protocol": port["protocol"]})
	if err != nil {
		return ""
	}
	return "k:" + string(key)
}

// portsSet are the ports of which a manager, and not the cluster, has set the node port. Where
// the managed fields are unknown there are none.
func portsSet(o *unstructured.Unstructured) map[string]bool {
	out := map[string]bool{}
	for _, m := range o.GetManagedFields() {
		if m.FieldsV1 == nil || m.Subresource != "" {
			continue
		}
		var fields struct {
			Spec struct {
				Ports map[string]map[string]any `json:"f:ports"`
			} `json:"f:spec"`
		}
		if json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		for key, fields := range fields.Spec.Ports {
			if _, ok := fields["f:nodePort"]; ok {
				out[key] = true
			}
		}
	}
	return out
}

// job takes out the selector that the cluster makes, and the labels that it is by.
func job(o *unstructured.Unstructured) {
	if manual, _, _ := unstructured.NestedBool(o.Object, "spec", "manualSelector"); manual {
		return
	}
	unstructured.RemoveNestedField(o.Object, "spec", "selector")
	for _, key := range []string{"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"} {
		unstructured.RemoveNestedField(o.Object, "spec", "template", "metadata", "labels", key)
		unstructured.RemoveNestedField(o.Object, "metadata", "labels", key)
	}
}

// dropToken takes the volume of the token out of a pod: each pod gets its own.
func dropToken(pod map[string]any) {
	token := func(item any) bool {
		fields, _ := item.(map[string]any)
		name, _ := fields["name"].(string)
		return strings.HasPrefix(name, "kube-api-access-")
	}
	if volumes, ok := pod["volumes"].([]any); ok {
		pod["volumes"] = slices.DeleteFunc(volumes, token)
	}
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := pod[list].([]any)
		for _, c := range containers {
			fields, _ := c.(map[string]any)
			if mounts, ok := fields["volumeMounts"].([]any); ok {
				fields["volumeMounts"] = slices.DeleteFunc(mounts, token)
			}
		}
	}
}

// dropCreated takes the empty creationTimestamp and status of templates out, which printers of
// objects leave behind.
func dropCreated(v any) {
	switch v := v.(type) {
	case map[string]any:
		if meta, ok := v["metadata"].(map[string]any); ok {
			if at, found := meta["creationTimestamp"]; found && at == nil {
				delete(meta, "creationTimestamp")
			}
		}
		for _, child := range v {
			dropCreated(child)
		}
	case []any:
		for _, child := range v {
			dropCreated(child)
		}
	}
}
