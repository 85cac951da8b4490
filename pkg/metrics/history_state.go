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

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// windowState is what is known of a window while it is measured. Until fill, the hours and amounts
// of things are sums of samples or steps, and those of CPU of thousandths of them or of microseconds.
type windowState struct {
	*History
	e      *expressions
	window Window
	// recorded says that recording rules cover the window.
	recorded bool
	// unnamed says that the usage of some pods has no UID.
	unnamed bool

	pods      map[object.Ref][]*pod // by name, which several can have had
	claims    map[object.Ref]*Claim
	balancers map[object.Ref]*LoadBalancer
	volumes   map[object.Ref]*Volume
	nodes     map[string]*Node
	owners    map[object.Ref]object.Ref // of owners of pods
	extended  map[string]Resource
	gaps      map[object.Ref]int64 // samples
	steps     int64                // that have any sample
}

// pod is a pod while it is measured.
type pod struct {
	Pod
	created    int64 // seconds
	owner      object.Ref
	controlled bool // by the owner
	// regular are the names of its containers that are not init containers.
	regular  map[string]bool
	ran      bool // that is known
	overhead Amounts
}

func newWindowState(h *History, e *expressions, w Window) *windowState {
	s := &windowState{
		History: h, e: e, window: w, pods: map[object.Ref][]*pod{}, claims: map[object.Ref]*Claim{}, balancers: map[object.Ref]*LoadBalancer{},
		volumes: map[object.Ref]*Volume{}, nodes: map[string]*Node{}, owners: map[object.Ref]object.Ref{}, extended: map[string]Resource{}, gaps: map[object.Ref]int64{},
	}
	// Names of the cluster come last and win; of those that metrics cannot tell apart the
	// first in a list does.
	for _, names := range [][]Resource{{"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "aws.amazon.com/neuron", Ephemeral}, h.options.Resources} {
		for _, name := range slices.Backward(names) {
			s.extended[sanitize(string(name))] = name
		}
	}
	return s
}

// know takes what is in the report, and what only the specs of pods request.
func (s *windowState) know(r *UsageReport) {
	for _, c := range r.Claims {
		c.Claimed, c.Used, c.Hours, c.Unmounted, c.UsedKnown, c.Mounts = decimal.Decimal{}, decimal.Decimal{}, decimal.Decimal{}, decimal.Decimal{}, false, nil
		s.claims[c.Ref] = &c
	}
	for _, b := range r.LoadBalancers {
		s.balancers[b.Service] = &LoadBalancer{Service: b.Service}
	}
	for _, v := range r.Unclaimed {
		v.Claimed, v.Hours = decimal.Decimal{}, decimal.Decimal{}
		s.volumes[v.Ref()] = &v
	}
	for _, n := range r.Nodes {
		n.Capacity, n.Hours = nil, decimal.Decimal{}
		s.nodes[n.Name] = &n
	}
	e := s.e
	e.sampling = sampling(e.step)
	type request struct {
		resource Resource
		rate     int64
	}
	uids := map[request][]string{}
	for i := range r.Pods {
		p := s.pod(r.Pods[i].Ref, r.Pods[i].UID)
		p.Pod = r.Pods[i]
		p.Hours, p.Used, p.Requested, p.Limited, p.Charged, p.Containers = decimal.Decimal{}, nil, nil, nil, nil, nil
		if !e.has[infoMetric] {
			continue // when the pod was there is unknown, but for what is recorded
		}
		for name, rate := range r.Pods[i].Requested.All() {
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
func (s *windowState) pod(ref object.Ref, uid types.UID) *pod {
	list := s.pods[ref]
	if uid == "" && len(list) > 0 {
		return slices.MaxFunc(list, func(a, b *pod) int { return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.UID, b.UID)) })
	}
	for _, p := range list {
		if p.UID == uid {
			return p
		}
	}
	if len(list) == 1 && list[0].UID == "" {
		list[0].UID = uid
		return list[0]
	}
	p := &pod{Pod: Pod{Ref: ref, UID: uid, Gone: true}, regular: map[string]bool{}}
	s.pods[ref] = append(list, p)
	return p
}

func (s *windowState) podOf(r row) *pod {
	return s.pod(podRef(r.labels["namespace"], r.labels["pod"]), types.UID(r.labels["uid"]))
}

// containerOf is the container of a row, which is made where it is unknown.
func (p *pod) containerOf(r row) *Container {
	name := r.labels["container"]
	if p.container(name) == nil {
		p.Containers = append(p.Containers, Container{Name: name})
	}
	return p.container(name)
}

func (s *windowState) claimOf(r row) *Claim {
	ref := object.Ref{Kind: "PersistentVolumeClaim", Namespace: r.labels["namespace"], Name: r.labels["persistentvolumeclaim"]}
	return entry(s.claims, ref, Claim{Ref: ref, Gone: true})
}

func (s *windowState) nodeOf(r row) *Node {
	name := r.labels["node"]
	return entry(s.nodes, name, Node{Name: name, Gone: true})
}

func (s *windowState) volumeOf(r row) *Volume {
	v := Volume{Name: r.labels["persistentvolume"]}
	return entry(s.volumes, v.Ref(), v)
}

// entry returns the value of a key, which is new where there is none.
func entry[K comparable, V any](m map[K]*V, key K, fresh V) *V {
	if m[key] == nil {
		m[key] = &fresh
	}
	return m[key]
}

// resource is the name that a label means; empty for what is no resource of a pod.
func (s *windowState) resource(label string) Resource {
	if label == "pods" || strings.HasPrefix(label, "attachable_volumes") {
		return ""
	}
	if name, ok := s.extended[label]; ok {
		return name
	}
	if size, ok := strings.CutPrefix(label, "hugepages_"); ok {
		return Resource("hugepages-" + size)
	}
	return Resource(label)
}

// A fact is what does not change (owners, labels, classes): its last value is enough.
type fact struct {
	metric string
	by     string // the labels that are read; all of them where none are named
	take   func(*windowState, row)
}

// facts returns all facts, in the order of their names.
func facts() []fact {
	return []fact{
		{"kube_job_owner", "namespace,job_name,owner_kind,owner_name", ownerOf("Job", "job_name")},
		{"kube_node_info", "node,provider_id", func(s *windowState, r row) {
			if n := s.nodeOf(r); n.Gone {
				n.ProviderID = r.labels["provider_id"]
			}
		}},
		{"kube_node_labels", "", func(s *windowState, r row) {
			if n := s.nodeOf(r); n.Gone {
				n.Labels = labelsOf(r)
			}
		}},
		{"kube_persistentvolume_info", "persistentvolume,storageclass", func(s *windowState, r row) {
			v := s.volumeOf(r)
			v.Class = cmp.Or(v.Class, r.labels["storageclass"])
		}},
		{claimInfo, claimKey + ",storageclass,volumename", func(s *windowState, r row) {
			c := s.claimOf(r)
			c.Class, c.Volume = cmp.Or(c.Class, r.labels["storageclass"]), cmp.Or(c.Volume, r.labels["volumename"])
		}},
		{runningMetric, containerKey, func(s *windowState, r row) { s.podOf(r).regular[r.labels["container"]] = true }},
		{createdMetric, podKey, func(s *windowState, r row) { s.podOf(r).created = r.value }},
		{infoMetric, podKey + ",node,host_network,created_by_kind,created_by_name", (*windowState).takeInfo},
		{"kube_pod_labels", "", func(s *windowState, r row) {
			if p, labels := s.podOf(r), labelsOf(r); p.Gone && len(labels) > 0 {
				p.Labels = labels
			}
		}},
		{"kube_pod_owner", podKey + ",owner_kind,owner_name,owner_is_controller", (*windowState).takeOwner},
		{"kube_replicaset_owner", "namespace,replicaset,owner_kind,owner_name", ownerOf("ReplicaSet", "replicaset")},
	}
}

func (s *windowState) takeInfo(r row) {
	p := s.podOf(r)
	p.Node = cmp.Or(p.Node, r.labels["node"])
	p.HostNetwork = p.HostNetwork || r.labels["host_network"] == "true"
	if owner := s.owner(r, "created_by"); !p.controlled && owner.Kind != "" {
		p.owner = owner
	}
}

// takeOwner takes an owner of a pod: of several ones that which controls it counts.
func (s *windowState) takeOwner(r row) {
	p, controls, owner := s.podOf(r), r.labels["owner_is_controller"] == "true", s.owner(r, "owner")
	if owner.Kind != "" && (controls || !p.controlled) {
		p.owner, p.controlled = owner, controls
	}
}

// ownerOf takes the owner of what may own pods.
func ownerOf(kind, label string) func(*windowState, row) {
	return func(s *windowState, r row) {
		if owner := s.owner(r, "owner"); owner.Kind != "" {
			s.owners[object.Ref{Group: s.groupOf(kind), Kind: kind, Namespace: r.labels["namespace"], Name: r.labels[label]}] = owner
		}
	}
}

// owner is that which labels with a prefix name; none where kube-state-metrics writes <none>.
func (s *windowState) owner(r row, prefix string) object.Ref {
	ref := object.Ref{Kind: r.labels[prefix+"_kind"], Namespace: r.labels["namespace"], Name: r.labels[prefix+"_name"]}
	switch ref.Kind {
	case "<none>":
		return object.Ref{}
	case "Node":
		ref.Namespace = ""
	}
	ref.Group = s.groupOf(ref.Kind)
	return ref
}

// take adds the sums of a resource to amounts of pods, and makes them known.
func take(resource Resource, amounts func(*pod, row) *Amounts) func(*windowState, row) {
	return func(s *windowState, r row) {
		name := resource
		if name == "" {
			if name = s.resource(r.labels["resource"]); name == "" {
				return
			}
		}
		amounts(s.podOf(r), r).Add(name, r.amount())
	}
}

// takeUsage adds what containers use to their usage, and to that of their pods.
func takeUsage(resource Resource) func(*windowState, row) {
	return func(s *windowState, r row) {
		s.unnamed = s.unnamed || r.labels["uid"] == ""
		p := s.podOf(r)
		p.Used.Add(resource, r.amount())
		p.containerOf(r).Used.Add(resource, r.amount())
	}
}

// takeSize adds the size of a thing, or the steps in which it was there.
func takeSize(r row, size, hours *decimal.Decimal) {
	if r.labels["of"] == "hours" {
		size = hours
	}
	*size = size.Add(r.amount())
}

func (s *windowState) takeMount(r row) {
	c, p := s.claimOf(r), s.podOf(r)
	at := slices.IndexFunc(c.Mounts, func(m Mount) bool { return m.Pod == p.Ref && m.UID == p.UID })
	if at < 0 {
		at = len(c.Mounts)
		c.Mounts = append(c.Mounts, Mount{Pod: p.Ref, UID: p.UID})
	}
	c.Mounts[at].Hours = c.Mounts[at].Hours.Add(r.amount())
}

func (s *windowState) takeCapacity(r row) {
	n := s.nodeOf(r)
	if r.labels["resource"] == "" {
		n.Hours = n.Hours.Add(r.amount())
	} else if name := s.resource(r.labels["resource"]); name != "" {
		n.Capacity.Add(name, r.amount())
	}
}

func (s *windowState) takeBalancer(r row) {
	ref := object.Ref{Kind: "Service", Namespace: r.labels["namespace"], Name: r.labels["service"]}
	b := entry(s.balancers, ref, LoadBalancer{Service: ref})
	b.Hours = b.Hours.Add(r.amount())
}

// chain are the owners of a pod, nearest first.
func (s *windowState) chain(p *pod) []object.Ref {
	var out []object.Ref
	for ref := p.owner; ref.Kind != "" && len(out) < 8; ref = s.owners[ref] {
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
func labelsOf(r row) map[string]string {
	out := map[string]string{}
	for name, value := range r.labels {
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
	length := lengthOf(w.Length() - time.Millisecond)
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
	isFact := func(name string) bool {
		return slices.ContainsFunc(facts(), func(f fact) bool { return f.metric == name })
	}
	for _, name := range e.metrics() {
		// It was there when the rule was evaluated.
		e.has[name] = e.has[name] || !isFact(name)
	}
	return nil
}
