package metrics

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// windowState is what is known of a window while it is measured.
type windowState struct {
	options HistoryOptions
	e       *expressions
	window  Window
	// fixed says that the step was chosen.
	fixed bool
	// recorded says that recording rules cover the window.
	recorded bool
	// unnamed says that the usage of some pods has no UID.
	unnamed bool

	pods      map[podName][]*pod
	claims    map[podName]*claim
	nodes     map[string]*node
	balancers map[podName]int64 // steps
	volumes   map[string]*volume
	owners    map[ownerKey]owner
	extended  map[string]Resource
	gaps      map[podName]int64 // samples
	steps     int64             // that have any sample
}

// podName is a namespace and a name: of a pod, a claim or a Service.
type podName struct{ namespace, name string }

// owner is who owns something, by kind and name.
type owner struct{ kind, name string }

type ownerKey struct{ kind, namespace, name string }

// sums are the sums of resources; one that is absent is unknown.
type sums map[Resource]int64

// pod is one pod: several can have had its name.
type pod struct {
	podName
	uid, node   string
	hostNetwork bool
	created     int64 // seconds
	owner       owner
	controlled  bool // by the owner
	labels      map[string]string
	// regular are the names of its containers that are not init containers.
	regular map[string]bool

	running                  int64 // samples
	ran                      bool  // that is known
	used, requested, charged sums
	overhead                 sums
	containers               map[string]*container
}

type container struct{ used, requested, limited sums }

// claim is a volume claim. Amounts are of steps.
type claim struct {
	class, volume        string
	steps, claimed, used int64
	present, usedKnown   bool
	mounts               map[*pod]int64 // parts of steps
}

type node struct {
	provider string
	labels   map[string]string
	steps    int64
	present  bool
	capacity sums
}

// volume is a PersistentVolume for as long as no claim has it.
type volume struct {
	class          string
	steps, claimed int64
	present        bool
}

func newWindowState(o HistoryOptions, e *expressions, w Window) *windowState {
	s := &windowState{
		options: o, e: e, window: w, pods: map[podName][]*pod{}, claims: map[podName]*claim{}, nodes: map[string]*node{}, balancers: map[podName]int64{},
		volumes: map[string]*volume{}, owners: map[ownerKey]owner{}, extended: map[string]Resource{}, gaps: map[podName]int64{},
	}
	// Names of the cluster come last and win; of those that metrics cannot tell apart the
	// first in a list does.
	for _, names := range [][]Resource{{"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "aws.amazon.com/neuron", Ephemeral}, o.Resources} {
		for _, name := range slices.Backward(names) {
			s.extended[sanitize(string(name))] = name
		}
	}
	return s
}

// know takes the pods that are in the report, and what only their specs request.
func (s *windowState) know(r *UsageReport) {
	e := s.e
	e.sampling = sampling(e.step)
	type request struct {
		resource Resource
		rate     int64
	}
	uids := map[request][]string{}
	for i := range r.Pods {
		p := &r.Pods[i]
		s.pod(p.Ref.Namespace, p.Ref.Name, string(p.UID))
		if !e.has[infoMetric] {
			continue // when the pod was there is unknown, but for what is recorded
		}
		for name, rate := range p.Requested.All() {
			if name == CPU {
				rate = rate.Shift(3)
			}
			key := request{name, rate.Ceil().IntPart()}
			uids[key] = append(uids[key], string(p.UID))
		}
	}
	byRate := func(a, b request) int {
		return cmp.Or(cmp.Compare(a.resource, b.resource), cmp.Compare(a.rate, b.rate))
	}
	for _, key := range slices.SortedFunc(maps.Keys(uids), byRate) {
		e.specs = append(e.specs, specRequest{key.resource, key.rate, slices.Sorted(slices.Values(uids[key]))})
	}
}

// pod returns the pod that a name and a UID mean, and makes it where it is unknown. Without
// a UID it is the pod of the name that was created last.
func (s *windowState) pod(namespace, name, uid string) *pod {
	key := podName{namespace, name}
	list := s.pods[key]
	if uid == "" && len(list) > 0 {
		return slices.MaxFunc(list, func(a, b *pod) int { return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.uid, b.uid)) })
	}
	for _, p := range list {
		if p.uid == uid {
			return p
		}
	}
	if len(list) == 1 && list[0].uid == "" {
		list[0].uid = uid
		return list[0]
	}
	p := &pod{podName: key, uid: uid, regular: map[string]bool{}, used: sums{}, requested: sums{}, charged: sums{}, overhead: sums{}, containers: map[string]*container{}}
	s.pods[key] = append(list, p)
	return p
}

func (s *windowState) podOf(labels map[string]string) *pod {
	return s.pod(labels["namespace"], labels["pod"], labels["uid"])
}

func (p *pod) container(name string) *container {
	c := p.containers[name]
	if c == nil {
		c = &container{used: sums{}, requested: sums{}, limited: sums{}}
		p.containers[name] = c
	}
	return c
}

func (s *windowState) claim(labels map[string]string) *claim {
	key := podName{labels["namespace"], labels["persistentvolumeclaim"]}
	c := entry(s.claims, key)
	if c.mounts == nil {
		c.mounts = map[*pod]int64{}
	}
	return c
}

func (s *windowState) node(name string) *node {
	n := entry(s.nodes, name)
	if n.capacity == nil {
		n.capacity = sums{}
	}
	return n
}

// entry returns the value of a key, and makes it where there is none.
func entry[K comparable, V any](m map[K]*V, key K) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		m[key] = v
	}
	return v
}

// resource is the name that a label means; false for what is no resource of a pod.
func (s *windowState) resource(label string) (Resource, bool) {
	if label == "" || label == "pods" || strings.HasPrefix(label, "attachable_volumes") {
		return "", false
	}
	if name, ok := s.extended[label]; ok {
		return name, true
	}
	if size, ok := strings.CutPrefix(label, "hugepages_"); ok {
		return Resource("hugepages-" + size), true
	}
	return Resource(label), true
}

// takeFacts takes the rows of a metric of factLabels.
func (s *windowState) takeFacts(name string, rows map[string]row) {
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		s.takeFact(name, rows[key].labels, rows[key].value)
	}
}

func (s *windowState) takeFact(name string, l map[string]string, value int64) {
	switch name {
	case infoMetric:
		p := s.podOf(l)
		p.node = cmp.Or(l["node"], p.node)
		p.hostNetwork = p.hostNetwork || l["host_network"] == "true"
		if kind := l["created_by_kind"]; !p.controlled && isKind(kind) {
			p.owner = owner{kind, l["created_by_name"]}
		}
	case createdMetric:
		s.podOf(l).created = value
	case "kube_pod_owner":
		// Of several owners the one that controls it counts.
		p, controls := s.podOf(l), l["owner_is_controller"] == "true"
		if isKind(l["owner_kind"]) && (controls || !p.controlled) {
			p.owner, p.controlled = owner{l["owner_kind"], l["owner_name"]}, controls
		}
	case "kube_replicaset_owner":
		s.own("ReplicaSet", l["replicaset"], l)
	case "kube_job_owner":
		s.own("Job", l["job_name"], l)
	case "kube_pod_labels":
		if labels := labelsOf(l); len(labels) > 0 {
			s.podOf(l).labels = labels
		}
	case runningMetric:
		s.podOf(l).regular[l["container"]] = true
	case "kube_persistentvolume_info":
		entry(s.volumes, l["persistentvolume"]).class = l["storageclass"]
	case claimInfo:
		c := s.claim(l)
		c.class, c.volume = cmp.Or(l["storageclass"], c.class), cmp.Or(l["volumename"], c.volume)
	case "kube_node_info":
		s.node(l["node"]).provider = l["provider_id"]
	case "kube_node_labels":
		s.node(l["node"]).labels = labelsOf(l)
	}
}

// isKind says that kube-state-metrics names a kind: it writes <none> where there is no owner.
func isKind(kind string) bool { return kind != "" && kind != "<none>" }

func (s *windowState) own(kind, name string, l map[string]string) {
	if isKind(l["owner_kind"]) {
		s.owners[ownerKey{kind, l["namespace"], name}] = owner{l["owner_kind"], l["owner_name"]}
	}
}

// take takes the sums of a quantity.
func (s *windowState) take(name string, rows map[string]row) {
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		s.takeSum(name, rows[key].labels, rows[key].value)
	}
}

func (s *windowState) takeSum(name string, l map[string]string, v int64) {
	switch name {
	case "pod_running":
		p := s.podOf(l)
		p.running, p.ran = p.running+v, true
	case "container_cpu_used":
		s.unnamed = s.unnamed || l["uid"] == ""
		s.takeUsage(l, CPU, v)
	case "container_memory_used":
		s.unnamed = s.unnamed || l["uid"] == ""
		s.takeUsage(l, Memory, v)
	case "pod_network_received":
		s.podOf(l).used[Received] += v
	case "pod_network_sent":
		s.podOf(l).used[Sent] += v
	case "container_requested":
		s.takeResource(l, v, func(p *pod) sums { return p.container(l["container"]).requested })
	case "container_limited":
		s.takeResource(l, v, func(p *pod) sums {
			if l["container"] == overheadName {
				return p.overhead
			}
			return p.container(l["container"]).limited
		})
	case "pod_requested":
		s.takeResource(l, v, func(p *pod) sums { return p.requested })
	case "pod_charged":
		s.takeResource(l, v, func(p *pod) sums { return p.charged })
	case "pod_gaps":
		s.gaps[podName{l["namespace"], l["pod"]}] += v
	case "claim_size":
		c := s.claim(l)
		if c.present = true; l["of"] == "hours" {
			c.steps += v
		} else {
			c.claimed += v
		}
	case "claim_mounted":
		s.claim(l).mounts[s.podOf(l)] += v
	case "claim_used":
		c := s.claim(l)
		c.used, c.usedKnown = c.used+v, true
	case "balancer_hours":
		s.balancers[podName{l["namespace"], l["service"]}] += v
	case "node_capacity":
		n := s.node(l["node"])
		if n.present = true; l["resource"] == "" {
			n.steps += v
		} else if resource, ok := s.resource(l["resource"]); ok {
			n.capacity[resource] += v
		}
	case "volume_unclaimed":
		w := entry(s.volumes, l["persistentvolume"])
		if w.present = true; l["of"] == "hours" {
			w.steps += v
		} else {
			w.claimed += v
		}
	case "steps":
		s.steps += v
	}
}

func (s *windowState) takeUsage(l map[string]string, resource Resource, v int64) {
	p := s.podOf(l)
	p.used[resource] += v
	p.container(l["container"]).used[resource] += v
}

func (s *windowState) takeResource(l map[string]string, v int64, sumsOf func(*pod) sums) {
	if resource, ok := s.resource(l["resource"]); ok {
		sumsOf(s.podOf(l))[resource] += v
	}
}

// chain are the owners of a pod, nearest first.
func (s *windowState) chain(p *pod) []object.Ref {
	var out []object.Ref
	for o, ok := p.owner, p.owner.kind != ""; ok && len(out) < 8; o, ok = s.owners[ownerKey{o.kind, p.namespace, o.name}] {
		ref := object.Ref{Group: s.groupOf(o.kind), Kind: o.kind, Namespace: p.namespace, Name: o.name}
		if o.kind == "Node" {
			ref.Namespace = ""
		}
		out = append(out, ref)
	}
	return out
}

// groupOf is the API group of a kind that owns things; empty, as for the core, where it is
// unknown.
func (s *windowState) groupOf(kind string) string {
	switch kind {
	case "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet":
		return "apps"
	case "Job", "CronJob":
		return "batch"
	case "ReplicationController", "Node", "Pod":
		return ""
	}
	if s.options.KindOf != nil {
		if group, ok := s.options.KindOf(kind); ok {
			return group
		}
	}
	return ""
}

// labelsOf are the labels of an object, under the names that kube-state-metrics gives them,
// without the prefix.
func labelsOf(labels map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range labels {
		if own, ok := strings.CutPrefix(name, "label_"); ok {
			out[own] = value
		}
	}
	return out
}

// Label returns the value of a label of the node, by its true key.
func (n *Node) Label(key string) (string, bool) {
	if n.Gone {
		return Label(n.Labels, key)
	}
	value, ok := n.Labels[key]
	return value, ok
}

var humps = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// Label returns the value of a label, by its true key, of an object or of a pod that is
// gone: the labels of such a pod have the names that kube-state-metrics makes of keys
// (app_kubernetes_io_instance).
func Label(labels map[string]string, key string) (string, bool) {
	plain := sanitize(key)
	for _, name := range []string{key, plain, strings.ToLower(humps.ReplaceAllString(plain, "${1}_${2}"))} {
		if value, ok := labels[name]; ok {
			return value, true
		}
	}
	return "", false
}

// probeRules finds out whether recording rules cover the window, and of how long its steps are.
func (s *windowState) probeRules(ctx context.Context, f *fetcher) error {
	e := s.e
	if !e.has[rulePrefix+"steps"] || s.options.Step < ruleStep || s.options.Step > ruleStep && s.fixed {
		return nil
	}
	w := s.options.Window.Aligned(ruleStep)
	length := promDuration(w.Length() - time.Millisecond)
	rows, err := f.query(ctx, "max(count_over_time("+e.recordedSteps()+"["+length+"]))", w.To)
	if err != nil {
		return fmt.Errorf("query %s: %w", f.server.name, err)
	}
	var have int64
	if len(rows) == 1 {
		have = rows[0].value
	}
	if want := int64(w.Length() / ruleStep); have < want-1 {
		f.note(Note{Subject: f.server.name, Reason: "Rules", Message: fmt.Sprintf("recording rules cover %d of %d steps of the window, and are not used", have, want)})
		return nil
	}
	e.step, s.window, s.recorded = ruleStep, w, true
	facts := factLabels()
	for _, name := range e.metrics() {
		if _, fact := facts[name]; !fact {
			e.has[name] = true // or was, when the rule was evaluated
		}
	}
	return nil
}
