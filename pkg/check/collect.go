package check

import (
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// kept are the kinds whose whole objects are stored, in the version of client-go's newest
// type. They are few in a cluster, or small, or share their pod templates. Of pods, only what rules
// read is stored.
var kept = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Pod"},
	{Version: "v1", Kind: "Node"},
	{Version: "v1", Kind: "Namespace"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Version: "v1", Kind: "PersistentVolume"},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Version: "v1", Kind: "ReplicationController"},
	{Version: "v1", Kind: "ResourceQuota"},
	{Version: "v1", Kind: "LimitRange"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
	{Group: "apps", Version: "v1", Kind: "DaemonSet"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Group: "batch", Version: "v1", Kind: "CronJob"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
	{Group: "resource.k8s.io", Version: "v1", Kind: "DeviceClass"},
	{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "CSIDriver"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "CSINode"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "CSIStorageCapacity"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"},
	{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttachment"},
}

// Whole returns the kinds that a Collector needs whole, as the Go types of these versions.
func Whole() []schema.GroupVersionKind { return slices.Clone(kept) }

// keepsAnnotation reports whether an annotation of any object is stored.
func keepsAnnotation(key string) bool {
	return strings.HasPrefix(key, "sysop.dev/") || strings.HasPrefix(key, "helm.sh/") || strings.HasPrefix(key, "meta.helm.sh/") ||
		strings.HasPrefix(key, "operators.coreos.com/") || strings.HasPrefix(key, "argocd.argoproj.io/")
}

// Collector stores the parts of objects that rules read. An object that is added again
// replaces its earlier version. It is safe for concurrent use.
type Collector struct {
	mu    sync.Mutex
	whole map[schema.GroupKind]map[object.Ref]runtime.Object
	// ordered are the objects of the kinds that were asked for since the last change, as a slice of
	// their type.
	ordered     map[schema.GroupKind]any
	annotations map[object.Ref]map[string]string
	versions    map[object.Ref]map[string]string
	parts       map[uint64]any // what objects have in common, by a hash of its content
	seed        maphash.Seed
	buffer      []byte // of the part that is being compared
	// backups are the backup settings of custom resources.
	backups map[object.Ref]BackupSettings
	// alerts are those of objects of AlertKinds.
	alerts map[object.Ref][]Alert
}

// NewCollector returns an empty collector.
func NewCollector() *Collector {
	return &Collector{
		whole:       map[schema.GroupKind]map[object.Ref]runtime.Object{},
		annotations: map[object.Ref]map[string]string{},
		versions:    map[object.Ref]map[string]string{},
		ordered:     map[schema.GroupKind]any{},
		parts:       map[uint64]any{}, backups: map[object.Ref]BackupSettings{}, alerts: map[object.Ref][]Alert{},
		seed: maphash.MakeSeed(),
	}
}

// Add stores the parts of an object that rules read.
func (c *Collector) Add(o object.Object) {
	notes := map[string]string{}
	for k, v := range o.Meta.GetAnnotations() {
		if keepsAnnotation(k) {
			notes[k] = strings.Clone(v)
		}
	}
	versions := statedVersions(o)
	body := o.Body
	if _, custom := body.(*unstructured.Unstructured); custom || !slices.ContainsFunc(kept, func(k schema.GroupVersionKind) bool { return k.GroupKind() == o.GroupKind() }) {
		body = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	put(c.annotations, o.Ref, notes)
	put(c.versions, o.Ref, versions)
	c.noteBackups(o)
	c.noteAlerts(o)
	if body == nil {
		return
	}
	body = c.share(body)
	gk := o.GroupKind()
	delete(c.ordered, gk)
	if c.whole[gk] == nil {
		c.whole[gk] = map[object.Ref]runtime.Object{}
	}
	c.whole[gk][o.Ref] = body
}

func put(in map[object.Ref]map[string]string, ref object.Ref, values map[string]string) {
	delete(in, ref)
	if len(values) > 0 {
		in[ref] = values
	}
}

// versionFields are where custom resources state the version of what they run.
var versionFields = []string{"version", "image", "imageName", "imageTag", "tag", "imageVersion", "release"}

// statedVersions returns the fields of a custom resource's spec and status that state a
// version, as spec.version and status.version.
func statedVersions(o object.Object) map[string]string {
	fields := o.Fields()
	if fields == nil {
		return nil
	}
	out := map[string]string{}
	for _, part := range []string{"spec", "status"} {
		section, _ := fields[part].(map[string]any)
		for _, name := range versionFields {
			if text, ok := section[name].(string); ok && text != "" {
				out[part+"."+name] = strings.Clone(text)
			}
		}
	}
	return out
}

// tokenVolume is the prefix of the volumes that hold the token of a pod's service account. The
// suffix differs from pod to pod.
const tokenVolume = "kube-api-access"

// share returns an object that shares equal parts with earlier ones. What pods of one template
// have in common is most of a pod. The caller holds the lock.
func (c *Collector) share(o runtime.Object) runtime.Object {
	switch o := o.(type) {
	case *corev1.Pod:
		return c.sharePod(o)
	case *appsv1.ReplicaSet:
		c.shareMeta(&o.ObjectMeta)
		c.shareMeta(&o.Spec.Template.ObjectMeta)
		c.shareSpec(&o.Spec.Template.Spec)
	case *appsv1.Deployment:
		c.shareMeta(&o.ObjectMeta)
		c.shareMeta(&o.Spec.Template.ObjectMeta)
		c.shareSpec(&o.Spec.Template.Spec)
	}
	return o
}

// sharePod returns a copy of a pod without what no rule reads and what is of one pod alone: its
// IDs, addresses and times. The others that read the pod still need these.
func (c *Collector) sharePod(pod *corev1.Pod) *corev1.Pod {
	out := *pod
	c.shareMeta(&out.ObjectMeta)
	out.UID, out.ResourceVersion, out.GenerateName = "", "", ""
	c.shareSpec(&out.Spec)
	out.Spec.NodeName = shared(c, out.Spec.NodeName)
	out.Status = c.sharedStatus(&pod.Status)
	return &out
}

// sharedStatus returns what rules read of the status of a pod. Healthy pods of one template have
// it in common.
func (c *Collector) sharedStatus(from *corev1.PodStatus) corev1.PodStatus {
	restarted := func(s corev1.ContainerStatus) bool { return s.RestartCount > 0 }
	starts := slices.ContainsFunc(from.ContainerStatuses, restarted) || slices.ContainsFunc(from.InitContainerStatuses, restarted)
	s := corev1.PodStatus{
		Phase: from.Phase, Reason: from.Reason, Message: from.Message, Resources: from.Resources, AllocatedResources: from.AllocatedResources,
		InitContainerStatuses: containerStates(from.InitContainerStatuses, starts), ContainerStatuses: containerStates(from.ContainerStatuses, starts),
	}
	for _, t := range from.Conditions {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: t.Type, Status: t.Status, Reason: t.Reason, Message: t.Message})
	}
	return *sharedContent(c, &s)
}

// containerStates returns the statuses of containers without their IDs and mounts. When they
// started matters only in a pod of which a container restarted.
func containerStates(from []corev1.ContainerStatus, starts bool) []corev1.ContainerStatus {
	out := slices.Clone(from)
	for i := range out {
		s := &out[i]
		s.ContainerID, s.ImageID, s.VolumeMounts, s.User = "", "", nil, nil
		if s.State.Running != nil && !starts {
			s.State.Running = &corev1.ContainerStateRunning{}
		}
	}
	return out
}

// shared returns the first value that is equal.
func shared[T ~string](c *Collector, text T) T {
	return sharedPart(c, maphash.String(c.seed, string(text)), func(have T) bool { return have == text }, text)
}

// sharedPart returns the first part with a hash, if it is equal.
func sharedPart[T any](c *Collector, sum uint64, equal func(T) bool, part T) T {
	if have, ok := c.parts[sum].(T); ok && equal(have) {
		return have
	}
	c.parts[sum] = part
	return part
}

func (c *Collector) shareMeta(m *metav1.ObjectMeta) {
	var sum uint64
	for k, v := range m.Labels { // The order of a map is random: a sum has none.
		sum += maphash.Comparable(c.seed, [2]string{k, v})
	}
	if len(m.Labels) > 0 {
		m.Labels = sharedPart(c, sum, func(have map[string]string) bool { return maps.Equal(have, m.Labels) }, m.Labels)
	}
	if len(m.OwnerReferences) == 1 {
		m.OwnerReferences = sharedPart(c, maphash.String(c.seed, string(m.OwnerReferences[0].UID)), func(have []metav1.OwnerReference) bool {
			return len(have) == 1 && reflect.DeepEqual(have[0], m.OwnerReferences[0])
		}, m.OwnerReferences)
	}
	m.Namespace = shared(c, m.Namespace)
	m.ManagedFields = nil
}

// shareSpec shares the containers and volumes, and what else is not of one pod alone.
func (c *Collector) shareSpec(spec *corev1.PodSpec) {
	sameTokenName(spec)
	program := corev1.PodSpec{Containers: spec.Containers, InitContainers: spec.InitContainers, Volumes: spec.Volumes}
	rest := *spec
	rest.Containers, rest.InitContainers, rest.Volumes, rest.NodeName, rest.Hostname = nil, nil, nil, "", ""
	p, r := sharedContent(c, &program), sharedContent(c, &rest)
	node, host := spec.NodeName, spec.Hostname
	*spec = *r
	spec.Containers, spec.InitContainers, spec.Volumes, spec.NodeName, spec.Hostname = p.Containers, p.InitContainers, p.Volumes, node, host
}

// content is a part of an object that can be compared by what it is in protobuf.
type content[T any] interface {
	*T
	Size() int
	MarshalToSizedBuffer(into []byte) (int, error)
}

// sharedContent returns the first part with the same content.
func sharedContent[T any, P content[T]](c *Collector, part P) P {
	c.buffer = slices.Grow(c.buffer[:0], part.Size())
	data := c.buffer[:part.Size()]
	if _, err := part.MarshalToSizedBuffer(data); err != nil {
		return part
	}
	sum := maphash.Bytes(c.seed, data)
	if have, ok := c.parts[sum].(P); ok {
		return have
	}
	c.parts[sum] = part
	return part
}

// sameTokenName gives the token's volume the same name in every pod.
func sameTokenName(spec *corev1.PodSpec) {
	for i := range spec.Volumes {
		if v := &spec.Volumes[i]; strings.HasPrefix(v.Name, tokenVolume) {
			v.Name = tokenVolume
		}
	}
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			for j := range list[i].VolumeMounts {
				if m := &list[i].VolumeMounts[j]; strings.HasPrefix(m.Name, tokenVolume) {
					m.Name = tokenVolume
				}
			}
		}
	}
}

// Of returns a stored object as its Go type; false where it was not read.
func Of[T runtime.Object](c *Collector, ref object.Ref) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.whole[ref.GroupKind()][ref].(T)
	return o, ok
}

// All returns the stored objects of a kind, in the order of their references. The list is shared: it
// must not be changed.
func All[T runtime.Object](c *Collector, group, kind string) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	gk := schema.GroupKind{Group: group, Kind: kind}
	if have, ok := c.ordered[gk].([]T); ok {
		return have
	}
	in := c.whole[gk]
	out := make([]T, 0, len(in))
	for _, ref := range slices.SortedFunc(maps.Keys(in), object.Compare) {
		if o, ok := in[ref].(T); ok {
			out = append(out, o)
		}
	}
	out = slices.Clip(out)
	c.ordered[gk] = out
	return out
}

// Annotation returns an annotation of an object, if it is stored.
func (c *Collector) Annotation(ref object.Ref, key string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.annotations[ref][key]
	return v, ok
}

// annotated returns the objects that carry an annotation, in order.
func (c *Collector) annotated(key string) []object.Ref {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []object.Ref
	for ref, notes := range c.annotations {
		if _, ok := notes[key]; ok {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, object.Compare)
	return out
}

// Versions returns the fields in which a custom resource states the version of what it
// runs (spec.version, spec.image, status.version), with their values.
func (c *Collector) Versions(ref object.Ref) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.versions[ref])
}
