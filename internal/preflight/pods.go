package preflight

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// podSet is the pods that an object of the batch would run, all of one template.
type podSet struct {
	item *Item
	// of is the object that people know the pods by, title how they call its pods.
	of    object.Ref
	title string
	// pod is one of them as the API server would keep it, but for what differs from one to
	// the next.
	pod *corev1.Pod
	// wanted is how many there are to be in the end.
	wanted int
	// kept are existing pods that stay, which count towards wanted; old are those that a
	// roll-out replaces; waiting are those that have no node yet, and are placed again.
	kept, old, waiting []*corev1.Pod
	// first is how many new pods must run before an old one goes; 0 where old ones go first.
	first int
	// overlap says that old and new ones may run at the same time.
	overlap bool
	// ends says that its pods end by themselves, later that they come later.
	ends, later bool
	// by says on whose word it runs such pods, where that is a footprint or another
	// instance; guess says that it is no more than likely.
	by    string
	guess bool
	// nodes are those on which a DaemonSet runs a pod each.
	nodes []string
	// templates of claims, of which each pod gets its own; start is the first ordinal.
	templates []corev1.PersistentVolumeClaim
	start     int
	// bare says that no built-in controller makes the pods.
	bare bool
	// base is what the names of its pods start with.
	base string
	// lost says that the pods would not start, refused that they would not even be made, for
	// a reason that is reported already.
	lost, refused bool
}

// stay says that nothing replaces the old pods.
func (c *podSet) stay() { c.kept, c.old = append(c.kept, c.old...), nil }

// refuse says that the pods are not made at all.
func (c *podSet) refuse() { c.lost, c.refused = true, true }

// missing is how many pods are to be placed.
func (c *podSet) missing() int { return max(0, c.wanted-len(c.kept)) }

// name is how people know a pod of the pod set, by its number from 0.
func (c *podSet) name(i int) string {
	switch {
	case len(c.nodes) > 0:
		return fmt.Sprintf("%s, pod for node %s", c.title, c.nodes[i])
	case c.of.GroupKind() == check.PodKind:
		return c.title
	}
	return fmt.Sprintf("%s, pod %d of %d", c.title, len(c.kept)+i+1, c.wanted)
}

// readPodSets finds the pods of the batch.
func (f *evaluation) readPodSets() {
	read := map[schema.GroupKind]func(*Item){
		check.PodKind:                        f.barePod,
		{Group: "apps", Kind: "Deployment"}:  f.deployment,
		{Group: "apps", Kind: "StatefulSet"}: f.statefulSet,
		{Group: "apps", Kind: "DaemonSet"}:   f.daemonSet,
		{Group: "apps", Kind: "ReplicaSet"}:  f.replicaSet,
		{Kind: "ReplicationController"}:      f.replicationController,
		{Group: "batch", Kind: "Job"}:        f.job,
		{Group: "batch", Kind: "CronJob"}:    f.cronJob,
	}
	for _, it := range f.order {
		if each := read[it.Ref.GroupKind()]; each != nil {
			each(it)
			continue
		}
		if f.custom(it) {
			f.customResource(it)
		}
	}
}

// newPodSet makes a pod set of a template, and compares it with the existing pods.
func (f *evaluation) newPodSet(it *Item, template *corev1.PodTemplateSpec, wanted int) *podSet {
	c := &podSet{item: it, of: it.Ref, title: plain(it.Ref), wanted: wanted, base: it.Ref.Name, overlap: true}
	c.pod = f.podOf(it, template)
	f.podSets = append(f.podSets, c)
	return c
}

func (f *evaluation) barePod(it *Item) {
	p := typed[corev1.Pod](f, it)
	if p == nil || it.Exists && !f.FromScratch {
		return
	}
	c := f.newPodSet(it, &corev1.PodTemplateSpec{ObjectMeta: p.ObjectMeta, Spec: p.Spec}, 1)
	c.ends = ending(&p.Spec)
	if it.Exists {
		f.replaced(c)
	}
}

// ending says that a pod ends when its containers have done their work.
func ending(s *corev1.PodSpec) bool {
	return s.RestartPolicy == corev1.RestartPolicyNever || s.RestartPolicy == corev1.RestartPolicyOnFailure
}

func (f *evaluation) deployment(it *Item) {
	d := typed[appsv1.Deployment](f, it)
	if d == nil {
		return
	}
	if d.Spec.Paused && (f.FromScratch || !it.Exists) {
		f.rest(it, "paused")
		return
	}
	c := f.newPodSet(it, &d.Spec.Template, f.replicas(it, d.Spec.Replicas))
	f.label(c, appsv1.DefaultDeploymentUniqueLabelKey, "foreseen")
	f.replaced(c)
	if len(c.old) == 0 {
		return
	}
	switch {
	case d.Spec.Paused:
		c.stay()
	case d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType:
		c.overlap = false
	default:
		c.first = firstOf(d.Spec.Strategy.RollingUpdate, c.wanted)
	}
}

// rest notes an object that makes no pods until it is resumed.
func (f *evaluation) rest(it *Item, how string) {
	f.resting = append(f.resting, it)
	f.note("%s is %s: its pods are created when it resumes", plain(it.Ref), how)
}

func (f *evaluation) statefulSet(it *Item) {
	s := typed[appsv1.StatefulSet](f, it)
	if s == nil {
		return
	}
	c := f.newPodSet(it, &s.Spec.Template, f.replicas(it, s.Spec.Replicas))
	c.templates = s.Spec.VolumeClaimTemplates
	if s.Spec.Ordinals != nil {
		c.start = int(s.Spec.Ordinals.Start)
	}
	f.label(c, appsv1.ControllerRevisionHashLabelKey, it.Ref.Name+"-foreseen")
	f.replaced(c)
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		c.stay()
	}
}

func (f *evaluation) replicaSet(it *Item) {
	s := typed[appsv1.ReplicaSet](f, it)
	if s == nil {
		return
	}
	f.stays(f.newPodSet(it, &s.Spec.Template, f.replicas(it, s.Spec.Replicas)))
}

func (f *evaluation) replicationController(it *Item) {
	s := typed[corev1.ReplicationController](f, it)
	if s == nil || s.Spec.Template == nil {
		return
	}
	f.stays(f.newPodSet(it, s.Spec.Template, f.replicas(it, s.Spec.Replicas)))
}

// job reads a Job: at most parallelism pods run at once, and no more than completions.
func (f *evaluation) job(it *Item) {
	j := typed[batchv1.Job](f, it)
	if j == nil || it.Exists && !f.FromScratch {
		return
	}
	if j.Spec.Suspend != nil && *j.Spec.Suspend {
		f.rest(it, "suspended")
		return
	}
	c := f.newPodSet(it, &j.Spec.Template, jobPods(&j.Spec))
	c.ends = true
	f.jobLabels(c, it.Ref.Name)
	if it.Exists {
		f.replaced(c)
	}
}

func jobPods(s *batchv1.JobSpec) int {
	n := int(orOne(s.Parallelism))
	if s.Completions != nil {
		n = min(n, int(*s.Completions))
	}
	return n
}

func (f *evaluation) cronJob(it *Item) {
	j := typed[batchv1.CronJob](f, it)
	if j == nil {
		return
	}
	if j.Spec.Suspend != nil && *j.Spec.Suspend {
		f.rest(it, "suspended")
		return
	}
	spec := &j.Spec.JobTemplate.Spec
	c := f.newPodSet(it, &spec.Template, min(1, jobPods(spec)))
	c.ends, c.later = true, true
	f.jobLabels(c, it.Ref.Name)
	f.note("%s runs on its schedule: its pods were checked alone, and are in no total", plain(it.Ref))
}

func (f *evaluation) jobLabels(c *podSet, name string) {
	f.label(c, batchv1.JobNameLabel, name)
	f.label(c, "job-name", name)
}

// label sets a label that the controller gives its pods, and whose value is unknown in advance.
func (f *evaluation) label(c *podSet, key, value string) {
	if _, ok := c.pod.Labels[key]; !ok {
		metav1.SetMetaDataLabel(&c.pod.ObjectMeta, key, value)
	}
}
