package metrics

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Collector takes out of objects, while they pass, what a Reading needs: what pods
// reserve, and the devices that they hold, where they run and what they mount, the capacity of nodes, volumes and
// claims, and which Services have a load balancer. It keeps no object. An object
// that comes a second time replaces what was kept of it.
//
// Objects are read as types of k8s.io/api, or as maps. Of what was read as metadata
// only nothing is known, and it is not in a reading: the source has said so.
//
// The zero value is ready, and safe for use by several at once.
type Collector struct {
	mu        sync.Mutex
	pods      map[object.Ref]*podFacts
	claims    map[object.Ref]*claimFacts
	volumes   map[string]*volumeFacts
	balancers map[object.Ref]bool // whether it has an address
	nodes     map[string]*Node
	devices   map[object.Ref]*deviceFacts
	templates map[string]*reserved
}

type podFacts struct {
	uid      types.UID
	node     string
	started  time.Time
	ended    bool
	pending  bool
	host     bool
	reserved *reserved
	claims   []string // that it mounts, each once
}

type claimFacts struct {
	Claim
	phase corev1.PersistentVolumeClaimPhase
	// size is its capacity, or in a dump without a status what it asks for; nil where neither is known.
	size *decimal.Decimal
}

type volumeFacts struct {
	Volume // with its capacity in bytes
	phase  corev1.PersistentVolumePhase
	claim  object.Ref
}

// Add takes what it needs of an object.
func (c *Collector) Add(o object.Object) {
	switch o.GroupKind() {
	case schema.GroupKind{Kind: "Pod"}:
		add(o, c.addPod)
	case schema.GroupKind{Kind: "PersistentVolumeClaim"}:
		add(o, c.addClaim)
	case schema.GroupKind{Kind: "PersistentVolume"}:
		add(o, c.addVolume)
	case schema.GroupKind{Kind: "Service"}:
		add(o, c.addService)
	case schema.GroupKind{Kind: "Node"}:
		add(o, c.addNode)
	case schema.GroupKind{Group: resourcev1.GroupName, Kind: "ResourceClaim"}:
		add(o, c.addDevices)
	}
}

// put keeps a value in a map of the collector.
func put[K comparable, V any](c *Collector, m *map[K]V, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// add takes the content of an object as its type; nothing where only its metadata was read.
func add[T any](o object.Object, take func(object.Ref, *T)) {
	body, ok := any(o.Body).(*T)
	if !ok {
		fields := o.Fields()
		body = new(T)
		if fields == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(fields, body) != nil {
			return
		}
	}
	take(o.Ref, body)
}

func (c *Collector) addPod(ref object.Ref, pod *corev1.Pod) {
	p := &podFacts{
		uid: pod.UID, node: pod.Spec.NodeName, host: pod.Spec.HostNetwork,
		ended:   pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed,
		pending: pod.Status.Phase == corev1.PodPending,
	}
	if t := pod.Status.StartTime; t != nil {
		p.started = t.Time
	}
	for i := range pod.Spec.Volumes {
		if name := claimOf(pod, &pod.Spec.Volumes[i]); name != "" && !slices.Contains(p.claims, name) {
			p.claims = append(p.claims, name)
		}
	}
	if !p.ended {
		p.reserved = c.reservedBy(pod)
	}
	put(c, &c.pods, ref, p)
}

// reservedBy returns what a pod reserves, which is computed once for each template.
func (c *Collector) reservedBy(pod *corev1.Pod) *reserved {
	key := templateOf(pod)
	c.mu.Lock()
	known := c.templates[string(key)]
	c.mu.Unlock()
	if known != nil {
		return known
	}
	r := reservedBy(pod)
	put(c, &c.templates, string(key), r)
	return r
}

// claimOf returns the name of the claim behind a volume. That of an ephemeral volume
// is made for the pod, and named after both.
func claimOf(pod *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
}

func (c *Collector) addClaim(ref object.Ref, claim *corev1.PersistentVolumeClaim) {
	f := &claimFacts{phase: claim.Status.Phase, size: storageOf(claim.Status.Capacity)}
	if f.size == nil {
		f.size = storageOf(claim.Spec.Resources.Requests)
	}
	f.Claim = Claim{Ref: ref, UID: claim.UID, Volume: claim.Spec.VolumeName, Class: claim.Annotations[corev1.BetaStorageClassAnnotation]}
	if name := claim.Spec.StorageClassName; f.Class == "" && name != nil {
		f.Class = *name
	}
	put(c, &c.claims, ref, f)
}

func storageOf(list corev1.ResourceList) *decimal.Decimal {
	q, ok := list[corev1.ResourceStorage]
	if !ok {
		return nil
	}
	d := exactly(q)
	return &d
}

func (c *Collector) addVolume(_ object.Ref, volume *corev1.PersistentVolume) {
	f := &volumeFacts{phase: volume.Status.Phase, Volume: Volume{
		Name: volume.Name, UID: volume.UID, Class: cmp.Or(volume.Spec.StorageClassName, volume.Annotations[corev1.BetaStorageClassAnnotation]),
	}}
	if size := storageOf(volume.Spec.Capacity); size != nil {
		f.Claimed = *size
	}
	if claim := volume.Spec.ClaimRef; claim != nil {
		f.claim = object.Ref{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name}
	}
	put(c, &c.volumes, volume.Name, f)
}

// addService keeps a Service of type LoadBalancer. What makes them writes the
// address as soon as there is one, of whatever class it is.
func (c *Collector) addService(ref object.Ref, service *corev1.Service) {
	if service.Spec.Type == corev1.ServiceTypeLoadBalancer {
		put(c, &c.balancers, ref, len(service.Status.LoadBalancer.Ingress) > 0)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.balancers, ref)
}

func (c *Collector) addNode(_ object.Ref, node *corev1.Node) {
	put(c, &c.nodes, node.Name, &Node{Name: node.Name, Labels: maps.Clone(node.Labels), ProviderID: node.Spec.ProviderID, Capacity: amountsOf(node.Status.Capacity)})
}
