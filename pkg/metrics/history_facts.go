package metrics

import (
	"cmp"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// owner is who owns something, by kind and name.
type owner struct{ kind, name string }

type ownerKey struct{ kind, namespace, name string }

// facts are the streams of what does not change, of which the last value is enough.
// That of the names of pods comes first.
func (p *windowState) facts() []stream {
	return []stream{
		{name: "kube_pod_info", take: p.takeInfo},
		{name: "kube_pod_created", scale: 3, take: p.takeTime(func(q *pod, at int64) { q.created = at })},
		{name: "kube_pod_start_time", scale: 3, take: p.takeTime(func(q *pod, at int64) { q.life.start = at })},
		{name: "kube_pod_completion_time", scale: 3, take: p.takeTime(func(q *pod, at int64) { q.life.end = at })},
		{name: "kube_pod_owner", take: p.takeOwner},
		{name: "kube_replicaset_owner", take: p.takeOwners("ReplicaSet", "replicaset")},
		{name: "kube_job_owner", take: p.takeOwners("Job", "job_name")},
		{name: "kube_pod_labels", take: p.takeLabels},
		{name: "kube_pod_init_container_info", matchers: `restart_policy="Always"`, take: func(list []series) {
			for _, s := range list {
				c := p.podFor(s.labels, 0).container(s.labels["container"])
				c.init, c.sidecar = true, true
			}
		}},
		{name: "container_start_time_seconds", matchers: `pod!=""`, scale: 3, take: func(list []series) {
			for _, s := range list {
				if at := s.value(); at > 0 {
					p.started[keyOf(s.labels, containerNames)] = at
				}
			}
		}},
		{name: "kube_persistentvolume_info", everywhere: true, take: func(list []series) {
			for _, s := range list {
				entry(p.volumes, s.labels["persistentvolume"]).class = s.labels["storageclass"]
			}
		}},
		{name: "kube_persistentvolumeclaim_info", take: func(list []series) {
			for _, s := range list {
				c := p.claim(s.labels)
				c.class = cmp.Or(s.labels["storageclass"], c.class)
				c.volume = cmp.Or(s.labels["volumename"], c.volume)
			}
		}},
		{name: "kube_persistentvolumeclaim_created", scale: 3, take: func(list []series) {
			for _, s := range list {
				p.claim(s.labels).started = s.value()
			}
		}},
		{name: "kube_service_created", scale: 3, take: func(list []series) {
			for _, s := range list {
				p.serviceStarted[podName{s.labels["namespace"], s.labels["service"]}] = s.value()
			}
		}},
		{name: "kube_node_created", everywhere: true, scale: 3, take: func(list []series) {
			for _, s := range list {
				p.node(s.labels["node"]).started = s.value()
			}
		}},
		{name: "kube_node_info", everywhere: true, take: func(list []series) {
			for _, s := range list {
				p.node(s.labels["node"]).provider = s.labels["provider_id"]
			}
		}},
		{name: "kube_node_labels", everywhere: true, take: func(list []series) {
			for _, s := range list {
				p.node(s.labels["node"]).labels = labelsOf(s.labels)
			}
		}},
	}
}

// value is the last one of a series.
func (s series) value() int64 { return s.samples[len(s.samples)-1].v }

func (p *windowState) takeInfo(list []series) {
	if len(list) > 0 {
		p.served["pods"] = true
	}
	for _, s := range list {
		q := p.podFor(s.labels, 0)
		q.node = cmp.Or(s.labels["node"], q.node)
		q.hostNetwork = s.labels["host_network"] == "true"
		if kind := s.labels["created_by_kind"]; !q.owned && kind != "" && kind != "<none>" {
			q.owner = owner{kind, s.labels["created_by_name"]}
		}
	}
}

func (p *windowState) takeTime(set func(*pod, int64)) func([]series) {
	return func(list []series) {
		for _, s := range list {
			if at := s.value(); at > 0 {
				set(p.podFor(s.labels, at), at)
			}
		}
	}
}

func (p *windowState) takeOwner(list []series) {
	for _, s := range list {
		kind := s.labels["owner_kind"]
		q := p.podFor(s.labels, 0)
		// Of several owners the one that controls it counts.
		if controls := s.labels["owner_is_controller"] == "true"; kind != "" && kind != "<none>" && (controls || !q.owned) {
			q.owner = owner{kind, s.labels["owner_name"]}
			q.owned = controls
		}
	}
}

func (p *windowState) takeOwners(kind, label string) func([]series) {
	return func(list []series) {
		for _, s := range list {
			if by := s.labels["owner_kind"]; by != "" && by != "<none>" {
				p.owners[ownerKey{kind, s.labels["namespace"], s.labels[label]}] = owner{by, s.labels["owner_name"]}
			}
		}
	}
}

// chain are the owners of a pod, nearest first.
func (p *windowState) chain(q *pod) []object.Ref {
	var out []object.Ref
	for o, ok := q.owner, q.owner.kind != ""; ok && len(out) < 8; o, ok = p.owners[ownerKey{o.kind, q.namespace, o.name}] {
		ref := object.Ref{Group: p.groupOf(o.kind), Kind: o.kind, Namespace: q.namespace, Name: o.name}
		if o.kind == "Node" {
			ref.Namespace = ""
		}
		out = append(out, ref)
	}
	return out
}

// groupOf is the API group of a kind that owns things. It is empty, as for the core,
// where nobody knows it.
func (p *windowState) groupOf(kind string) string {
	switch kind {
	case "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet":
		return "apps"
	case "Job", "CronJob":
		return "batch"
	case "ReplicationController", "Node", "Pod":
		return ""
	}
	if p.options.KindOf != nil {
		if group, ok := p.options.KindOf(kind); ok {
			return group
		}
	}
	return ""
}

func (p *windowState) takeLabels(list []series) {
	for _, s := range list {
		if labels := labelsOf(s.labels); len(labels) > 0 {
			p.podFor(s.labels, 0).label = labels
		}
	}
}

// labelsOf are the labels of an object that kube-state-metrics tells, under the names
// that it gives them, without the prefix.
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

var humps = lazyregexp.New(`([a-z0-9])([A-Z])`)

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
