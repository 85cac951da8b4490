package metrics

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// windowState is what is known of the pods, claims, nodes and balancers of a window, while it
// is being read.
type windowState struct {
	options HistoryOptions
	piece   int64 // how long the next piece of the window is
	pods    map[podName][]*pod
	claims  map[podName]*claim
	nodes   map[string]*node
	// balancers are Services that have a load balancer, capacities those of volumes.
	balancers  map[podName]*lifetime
	volumes    map[string]*volume // without a claim
	capacities map[string]*steps

	counters map[string]*counter
	gauges   map[string]*gaugeLane

	// Facts of others than pods, by what names them.
	owners         map[ownerKey]owner
	started        map[string]int64    // containers by the labels that name them
	startedByName  map[string][]sample // and by name, of kube-state-metrics
	seen           map[string]*steps   // when a container of a name had samples
	extended       map[string]Resource
	served         map[string]bool
	serviceStarted map[podName]int64

	holes map[string]int64 // by what has them
	early int64            // how long before the window a difference began
	wild  int              // differences that nobody can believe
}

// podName is a namespace and a name: of a pod, a claim or a Service.
type podName struct{ namespace, name string }

// amount is a sum, and whether anything was added at all.
type amount struct {
	sum   total
	known bool
}

func (a *amount) add(n uint64)    { a.sum, a.known = a.sum.add(n), true }
func (a *amount) plus(t total)    { a.sum, a.known = a.sum.plus(t), true }
func (a *amount) area(v interval) { a.add(v.whole()) }

// pod is one pod: of a name that is used again there are several.
type pod struct {
	podName
	uid         string
	id          string // of its own, also where the UID is not known yet
	node        string
	hostNetwork bool
	life        span
	created     int64 // when it was created
	first       int64 // its first sample, of any metric
	owner       owner
	owned       bool
	label       map[string]string

	running, pending, containerRuns steps // phases, and whether a container runs
	run, phase, seen                intervalTrack
	use                             map[Resource]*intervalTrack
	scheduler, spec, containers     map[Resource]*intervalTrack
	// wants are the rates of requests that only the spec of the pod tells.
	wants            map[Resource]int64
	containersByName map[string]*container

	hours                    amount
	traffic                  map[Resource]*amount
	used, requested, charged map[Resource]*amount
	overhead                 map[Resource]*amount
}

// container is a container of a pod.
type container struct {
	name string
	// main and init say what kube-state-metrics told of it; aside that an init
	// container is a sidecar, and ran that it was seen running beside the others.
	main, init, sidecar, ran bool
	running                  steps
	used, requested, limited map[Resource]*amount
}

// claim is a volume claim.
type claim struct {
	podName
	class, volume string
	started       int64
	requests      steps
	volumes       map[string]*steps
	lane, stats   gauge
	mounts        map[*pod]*steps

	hours, claimed, used amount
	mounted              map[*pod]total // nanoseconds
	unmounted            total
}

// node is a node.
type node struct {
	name, provider string
	labels         map[string]string
	started        int64
	lane           gauge
	there          []sample // of the piece
	hours          amount
	capacity       map[Resource]*amount
}

// lifetime is something that is there for a time.
type lifetime struct {
	lane  gauge
	hours amount
}

type gaugeLane struct {
	gauge
	life  span
	begun bool
}

func newPast(o HistoryOptions, r *UsageReport) *windowState {
	p := &windowState{
		options: o, piece: firstPiece,
		pods: map[podName][]*pod{}, claims: map[podName]*claim{}, nodes: map[string]*node{},
		balancers: map[podName]*lifetime{}, capacities: map[string]*steps{}, volumes: map[string]*volume{},
		counters: map[string]*counter{}, gauges: map[string]*gaugeLane{},
		owners: map[ownerKey]owner{}, started: map[string]int64{}, startedByName: map[string][]sample{}, seen: map[string]*steps{},
		extended: map[string]Resource{}, served: map[string]bool{}, serviceStarted: map[podName]int64{}, holes: map[string]int64{},
	}
	// The last word has who knows the cluster: of names that metrics cannot tell apart, what
	// a list has first.
	for _, names := range [][]Resource{{"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "aws.amazon.com/neuron", Ephemeral}, o.Resources} {
		for _, name := range slices.Backward(names) {
			p.extended[sanitize(string(name))] = name
		}
	}
	for i := range r.Pods {
		known := &r.Pods[i]
		q := p.pod(known.Ref.Namespace, known.Ref.Name, string(known.UID), 0)
		for name, rate := range known.Requested {
			if name == CPU {
				rate = rate.Shift(9) // nanocores, as its series
			}
			q.wants[name] = rate.IntPart()
		}
	}
	return p
}

// resource is what a label says; false for what is no resource of a pod.
func (p *windowState) resource(label string) (Resource, bool) {
	if label == "" || label == "pods" || strings.HasPrefix(label, "attachable_volumes") {
		return "", false
	}
	if name, ok := p.extended[label]; ok {
		return name, true
	}
	if size, ok := strings.CutPrefix(label, "hugepages_"); ok {
		return Resource("hugepages-" + size), true
	}
	return Resource(label), true
}

// pod returns the pod that is meant at a moment, and makes it where it is not known.
// Without a UID it is the youngest one of the name that was there.
func (p *windowState) pod(namespace, name, uid string, at int64) *pod {
	key := podName{namespace, name}
	list := p.pods[key]
	// The kubelet knows a static pod by the hash of its file, and the API server by
	// another UID.
	hash := len(uid) == 32 && !strings.Contains(uid, "-")
	var found *pod
	if uid == "" || hash && len(list) > 0 {
		for _, q := range list {
			if found == nil || q.begun() <= at && (q.begun() > found.begun() || found.begun() > at) {
				found = q
			}
		}
	} else {
		for _, q := range list {
			if q.uid == uid {
				found = q
			}
		}
		if found == nil && len(list) == 1 && list[0].uid == "" {
			found, found.uid = list[0], uid
		}
	}
	if found == nil {
		found = &pod{
			podName: key, uid: uid, id: strconv.Itoa(len(list)), use: map[Resource]*intervalTrack{}, scheduler: map[Resource]*intervalTrack{}, spec: map[Resource]*intervalTrack{}, wants: map[Resource]int64{}, containers: map[Resource]*intervalTrack{},
			containersByName: map[string]*container{}, traffic: map[Resource]*amount{},
			used: map[Resource]*amount{}, requested: map[Resource]*amount{}, charged: map[Resource]*amount{}, overhead: map[Resource]*amount{},
		}
		p.pods[key] = append(list, found)
	}
	if at > 0 && (found.first == 0 || at < found.first) {
		found.first = at
	}
	return found
}

// podFor returns the pod that labels name.
func (p *windowState) podFor(labels map[string]string, at int64) *pod {
	return p.pod(labels["namespace"], labels["pod"], labels["uid"], at)
}

// begun is when the pod began, as well as that is known.
func (q *pod) begun() int64 { return cmp.Or(q.created, q.life.start, q.first) }

func (q *pod) container(name string) *container {
	c := q.containersByName[name]
	if c == nil {
		c = &container{name: name, used: map[Resource]*amount{}, requested: map[Resource]*amount{}, limited: map[Resource]*amount{}}
		q.containersByName[name] = c
	}
	return c
}

// entry returns what a map has of a key, and makes it.
func entry[K comparable, V any](m map[K]*V, key K) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		m[key] = v
	}
	return v
}
