package regulate

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Collector extracts from objects, while they pass, what an upgrade changes, whether a rollout
// is in progress, and what a Service selects. It keeps no object. An object that comes again
// replaces its earlier facts. It is safe for concurrent use.
//
// Writes of regulation must not look like an upgrade: the Collector leaves out the fields that
// signals of a kind set, those that actions of the system patch, and the number of replicas.
type Collector struct {
	signals signals.Finder
	patched [][]string // paths that actions of the system write

	mu   sync.Mutex
	seen map[object.Ref]fact
}

// NewCollector returns a collector for a system. finder may be nil.
func NewCollector(s *system.System, finder signals.Finder) *Collector {
	c := &Collector{signals: finder, seen: map[object.Ref]fact{}}
	for i := range s.Apps {
		for _, name := range slices.Sorted(maps.Keys(s.Apps[i].On)) {
			for j := range s.Apps[i].On[name] {
				c.patched = append(c.patched, patchPaths(&s.Apps[i].On[name][j])...)
			}
		}
	}
	return c
}

// patchPaths returns the paths that an action patches; for a JSON patch those of its operations.
func patchPaths(a *system.Action) [][]string {
	if a.Patch == nil {
		return nil
	}
	switch body := a.Patch.Body.(type) {
	case map[string]any:
		return leaves(body, nil)
	case []any:
		var out [][]string
		for _, op := range body {
			m, _ := op.(map[string]any)
			pointer, _ := m["path"].(string)
			if rest, ok := strings.CutPrefix(pointer, "/"); ok {
				path := strings.Split(rest, "/")
				for i := range path {
					path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(path[i])
				}
				out = append(out, path)
			}
		}
		return out
	}
	return nil
}

// leaves returns the paths that a merge patch sets or deletes.
func leaves(m map[string]any, above []string) [][]string {
	var out [][]string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		path := append(slices.Clone(above), key)
		if children, ok := m[key].(map[string]any); ok && len(children) > 0 {
			out = append(out, leaves(children, path)...)
			continue
		}
		out = append(out, path)
	}
	return out
}

// fact is what the Collector keeps of an object.
type fact struct {
	// versions are images and versions by name, in the order of the object; print is a hash of
	// the other fields that an upgrade changes.
	versions []string
	print    string
	rollout  string
	labels   map[string]string // of its pods
	service  *service
	// application is the Application of Argo CD that tracks the object.
	application object.Ref
	// flux is the Flux object whose labels it has; empty for none.
	flux object.Ref
	// missing are the paths that a signal requires and the object lacks, by preset.
	missing map[string]string
}

// service is the selector of a Service.
type service struct {
	selector map[string]string
	headless bool
}

// selects reports whether it selects pods with these labels. Keys that regulation added to the
// selector do not count.
func (s *service) selects(labels map[string]string) bool {
	for k, v := range s.selector {
		if have, ok := labels[k]; (!ok || have != v) && !strings.HasPrefix(k, ourPrefix) {
			return false
		}
	}
	return true
}

// ourPrefix is the prefix of our own labels and annotations.
const ourPrefix = "sysop.dev/"

// serving are the kinds whose pods may back a Service for long.
var serving = []schema.GroupKind{
	{Group: "apps", Kind: "DaemonSet"}, {Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"}, {Kind: "ReplicationController"},
}

// Add extracts the facts of an object.
func (c *Collector) Add(o object.Object) {
	f, any := c.read(o)
	f.application, f.flux = o.Application(), o.FluxManager()
	if !any && f.application == (object.Ref{}) && f.flux == (object.Ref{}) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[o.Ref] = f
}

func (c *Collector) factOf(r object.Ref) (fact, bool) {
	if c == nil {
		return fact{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.seen[r]
	return f, ok
}

func (c *Collector) read(o object.Object) (fact, bool) {
	switch b := o.Body.(type) {
	case *appsv1.Deployment:
		return fact{rollout: rollingDeployment(b)}.with(c, &b.Spec.Template), true
	case *appsv1.StatefulSet:
		return fact{rollout: rollingStatefulSet(b)}.with(c, &b.Spec.Template), true
	case *appsv1.DaemonSet:
		return fact{rollout: rollingDaemonSet(b)}.with(c, &b.Spec.Template), true
	case *corev1.ReplicationController:
		if b.Spec.Template != nil {
			return fact{}.with(c, b.Spec.Template), true
		}
	case *batchv1.CronJob:
		return fact{}.with(c, &b.Spec.JobTemplate.Spec.Template), true
	case *batchv1.Job:
		return fact{}.with(c, &b.Spec.Template), true
	case *corev1.Service:
		return fact{service: &service{maps.Clone(b.Spec.Selector), b.Spec.ClusterIP == corev1.ClusterIPNone}}, true
	}
	if fields := o.Fields(); fields != nil {
		return c.custom(o, fields), true
	}
	return fact{}, false
}

// restarted is the annotation that kubectl rollout restart and the action restart set; the
// images stay the same.
const restarted = "kubectl.kubernetes.io/restartedAt"

// with adds the facts of a pod template.
func (f fact) with(c *Collector, t *corev1.PodTemplateSpec) fact {
	for _, list := range [][]corev1.Container{t.Spec.InitContainers, t.Spec.Containers} {
		for i := range list {
			f.versions = append(f.versions, list[i].Name+"="+list[i].Image)
		}
	}
	f.labels = maps.Clone(t.Labels)
	bare := *t
	bare.Annotations = maps.Clone(t.Annotations)
	maps.DeleteFunc(bare.Annotations, func(k, _ string) bool { return k == restarted || strings.HasPrefix(k, ourPrefix) })
	if len(bare.Annotations) == 0 {
		bare.Annotations = nil
	}
	omit := [][]string{}
	for _, p := range c.patched {
		if i := slices.Index(p, "template"); i >= 0 && p[0] == "spec" && len(p) > i+1 {
			omit = append(omit, p[i+1:])
		}
	}
	f.print = sum(&bare, omit)
	return f
}

// sum is a hash of the JSON of v without some paths.
func sum(v any, omit [][]string) string {
	data, err := json.Marshal(v)
	if err == nil && len(omit) > 0 {
		var m map[string]any
		if err = json.Unmarshal(data, &m); err == nil {
			for _, path := range omit {
				m = lessOf(m, path)
			}
			data, err = json.Marshal(m)
		}
	}
	if err != nil {
		return "" // A value that is no JSON did not come from a server.
	}
	h := fnv.New64a()
	_, _ = h.Write(data)
	return fmt.Sprintf("%016x", h.Sum64())
}

// lessOf returns a copy of m without a path. In a list, the path is removed from each item
// unless it has an index.
func lessOf(m map[string]any, path []string) map[string]any {
	value, ok := m[path[0]]
	if !ok {
		return m
	}
	m = maps.Clone(m)
	if len(path) == 1 {
		delete(m, path[0])
		return m
	}
	switch children := value.(type) {
	case map[string]any:
		m[path[0]] = lessOf(children, path[1:])
	case []any:
		items, rest := slices.Clone(children), path[1:]
		if strings.Trim(rest[0], "0123456789-") == "" {
			rest = rest[1:]
		}
		for i := range items {
			if item, ok := items[i].(map[string]any); ok && len(rest) > 0 {
				items[i] = lessOf(item, rest)
			}
		}
		m[path[0]] = items
	}
	return m
}
