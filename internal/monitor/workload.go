package monitor

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// monitored is an app with what of it can be scraped, and what alerts are about.
type monitored struct {
	App
	workloads []workload
	cronJobs  []object.Ref
	backups   []object.Ref // the CronJobs that run a backup program
	jobs      []object.Ref
	claims    []object.Ref
	certs     []object.Ref
	custom    []*unstructured.Unstructured
}

// workload runs pods of one template.
type workload struct {
	ref object.Ref
	// labels are those of the pods, and selector is what monitors select them by; nil where that is
	// unknown.
	labels      map[string]string
	selector    map[string]any
	annotations map[string]string
	containers  []container
	// owner is the custom resource whose operator made it; nil for none.
	owner *unstructured.Unstructured
	// claims are the names of the claims that each replica has, without its number.
	claims   []string
	replicas int64
}

// container is a container of a pod template.
type container struct {
	Name  string          `json:"name"`
	Image string          `json:"image"`
	Ports []containerPort `json:"ports"`

	Command []string `json:"command"`
	Args    []string `json:"args"`
}

type containerPort struct {
	Name          string `json:"name"`
	ContainerPort int64  `json:"containerPort"`
	Protocol      string `json:"protocol"`
}

// read finds the workloads of an app.
func (m *maker) read(app App) monitored {
	a := monitored{App: app}
	slices.SortFunc(app.Objects, func(x, y *unstructured.Unstructured) int { return object.Compare(object.RefOf(x), object.RefOf(y)) })
	byRef := map[object.Ref]*unstructured.Unstructured{}
	for _, o := range app.Objects {
		byRef[object.RefOf(o)] = o
	}
	for _, o := range app.Objects {
		ref, owner := object.RefOf(o), topOwner(o, byRef)
		switch kindOf(o) {
		case "Deployment.apps", "StatefulSet.apps", "DaemonSet.apps":
			a.workloads = append(a.workloads, templated(o, owner))
		case "ReplicaSet.apps", "ReplicationController":
			if owner == nil {
				a.workloads = append(a.workloads, templated(o, nil))
			}
		case "Pod":
			a.pod(o, byRef)
		case "CronJob.batch":
			a.cronJobs = append(a.cronJobs, ref)
			if runsBackup(o) {
				a.backups = append(a.backups, ref)
			}
		case "Job.batch":
			if owner == nil {
				a.jobs = append(a.jobs, ref)
			}
		case "PersistentVolumeClaim":
			a.claims = append(a.claims, ref)
		case "Certificate.cert-manager.io":
			a.certs = append(a.certs, ref)
		default:
			if _, known := catalog.MonitoringOf(ref.GroupKind()); known {
				a.custom = append(a.custom, o)
			}
		}
	}
	return a
}

// runsBackup says whether a CronJob has the name or the program of a backup.
func runsBackup(o *unstructured.Unstructured) bool {
	template, _, _ := unstructured.NestedMap(o.Object, "spec", "jobTemplate", "spec", "template")
	return check.NamesBackup(o.GetName()) || slices.ContainsFunc(podsOf(object.RefOf(o), template).containers, func(c container) bool {
		return check.NamesBackup(c.Name) || check.NamesBackup(check.ParseImage(c.Image).Repository) || slices.ContainsFunc(slices.Concat(c.Command, c.Args), check.NamesBackup)
	})
}

// topOwner is the topmost owner of an object among those of the app; nil for none.
func topOwner(o *unstructured.Unstructured, all map[object.Ref]*unstructured.Unstructured) *unstructured.Unstructured {
	var top *unstructured.Unstructured
	for at, n := o, 0; at != nil && n < 10; n++ {
		at = controller(at, all)
		if at != nil {
			top = at
		}
	}
	return top
}

func controller(o *unstructured.Unstructured, all map[object.Ref]*unstructured.Unstructured) *unstructured.Unstructured {
	for _, r := range o.GetOwnerReferences() {
		group, _, _ := strings.Cut(r.APIVersion, "/")
		if group == r.APIVersion {
			group = ""
		}
		if r.Controller != nil && *r.Controller {
			return all[object.Ref{Group: group, Kind: r.Kind, Namespace: o.GetNamespace(), Name: r.Name}]
		}
	}
	return nil
}

// templated reads a workload of apps.
func templated(o, owner *unstructured.Unstructured) workload {
	template, _, _ := unstructured.NestedMap(o.Object, "spec", "template")
	w := podsOf(object.RefOf(o), template)
	w.owner = owner
	w.selector, _, _ = unstructured.NestedMap(o.Object, "spec", "selector")
	w.replicas, _, _ = unstructured.NestedInt64(o.Object, "spec", "replicas")
	if kindOf(o) == "ReplicationController" {
		w.selector = map[string]any{"matchLabels": w.selector}
	}
	claims, _, _ := unstructured.NestedSlice(o.Object, "spec", "volumeClaimTemplates")
	for _, c := range claims {
		if fields, ok := c.(map[string]any); ok {
			name, _, _ := unstructured.NestedString(fields, "metadata", "name")
			w.claims = append(w.claims, name+"-"+o.GetName())
		}
	}
	return w
}

// podsOf reads a pod, or the template of pods.
func podsOf(ref object.Ref, template map[string]any) workload {
	w := workload{ref: ref}
	w.labels, _, _ = unstructured.NestedStringMap(template, "metadata", "labels")
	w.annotations, _, _ = unstructured.NestedStringMap(template, "metadata", "annotations")
	for _, field := range []string{"initContainers", "containers"} {
		list, _, _ := unstructured.NestedSlice(template, "spec", field)
		for _, item := range list {
			fields, _ := item.(map[string]any)
			if policy, _, _ := unstructured.NestedString(fields, "restartPolicy"); field == "initContainers" && policy != "Always" {
				continue
			}
			var c container
			if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &c) == nil {
				w.containers = append(w.containers, c)
			}
		}
	}
	return w
}

// pod takes a pod that no workload of apps or batch made: the first of a controller represents all.
func (a *monitored) pod(o *unstructured.Unstructured, all map[object.Ref]*unstructured.Unstructured) {
	if metav1.GetControllerOf(o) == nil {
		w := podsOf(object.RefOf(o), o.Object)
		w.selector = map[string]any{"matchLabels": anyMap(w.labels)}
		a.workloads = append(a.workloads, w)
		return
	}
	above := controller(o, all)
	if above == nil || strings.HasSuffix(kindOf(above), ".apps") || strings.HasSuffix(kindOf(above), ".batch") || above.GetKind() == "ReplicationController" {
		return // its workload has the template, or its owner is no part of the app
	}
	ref := object.RefOf(above)
	if slices.ContainsFunc(a.workloads, func(w workload) bool { return w.ref == ref }) {
		return
	}
	w := podsOf(ref, o.Object)
	w.owner = topOwner(o, all)
	if m, known := catalog.MonitoringOf(object.RefOf(w.owner).GroupKind()); known {
		w.selector = filled(m.Pods, w.owner.GetName())
	}
	a.workloads = append(a.workloads, w)
}

// filled is the selector of the pods of a custom resource; nil where the catalog names none.
func filled(pods, name string) map[string]any {
	if pods == "" {
		return nil
	}
	all := map[string]any{}
	for pair := range strings.SplitSeq(pods, ",") {
		key, value, _ := strings.Cut(pair, "=")
		all[key] = strings.ReplaceAll(value, "{metadata.name}", name)
	}
	return map[string]any{"matchLabels": all}
}

func anyMap(m map[string]string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// hasPort finds a declared port by its name or number.
func (w *workload) hasPort(port string) (name string, number int64, ok bool) {
	for _, c := range w.containers {
		for _, p := range c.Ports {
			if port != "" && (p.Name == port || strconv.FormatInt(p.ContainerPort, 10) == port) {
				return p.Name, p.ContainerPort, true
			}
		}
	}
	return "", 0, false
}

// selects says whether a selector of an object selects labels; false where there is none.
func selects(selector map[string]any, found bool, set map[string]string) bool {
	if !found || selector == nil {
		return false
	}
	var typed metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &typed) != nil {
		return false
	}
	s, err := metav1.LabelSelectorAsSelector(&typed)
	return err == nil && s.Matches(labels.Set(set))
}
