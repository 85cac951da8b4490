package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func robustResourceRules() []Rule {
	return []Rule{
		{
			ID: "pod-requests", Category: Robustness, Severity: Warning, Guidelines: []Guideline{maturity(14)},
			Title: "Each container requests CPU and memory",
			Why:   "The scheduler reserves nothing without a request: nodes are overcommitted, and such pods are starved and evicted first.",
			Fix:   "Set resources.requests of the container, or have a LimitRange set them in the namespace.",
			Stack: robustRequests,
		},
		{
			ID: "pod-memory-limit", Category: Robustness, Severity: Warning, Guidelines: []Guideline{maturity(14)},
			Title: "Each container has a memory limit",
			Why:   "A container without a limit that leaks memory uses up its node, and others there are killed or evicted.",
			Fix:   "Set resources.limits.memory of the container to its highest need, or have a LimitRange set it in the namespace.",
			Stack: func(s *Stack, r *Result) { robustLimits(s, r, corev1.ResourceMemory) },
		},
		{
			ID: "pod-cpu-limit", Category: Robustness, Severity: Info, Guidelines: []Guideline{maturity(14)},
			Title: "Each container has a CPU limit",
			Why:   "Without a limit, the speed of a container depends on its neighbors: fast in tests, slow on a busy node. Many omit it on purpose, since a limit throttles: then waive the rule.",
			Fix:   "Set resources.limits.cpu of the container, or waive the rule where limits are omitted on purpose.",
			Stack: func(s *Stack, r *Result) { robustLimits(s, r, corev1.ResourceCPU) },
		},
	}
}

var robustComputed = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// requested says whether a container has a request for a resource; a limit is one as well,
// as the API server fills in requests from limits. What is reserved for the pod as a
// whole is reserved for its containers.
func (c *groupContainer) requested(name corev1.ResourceName) bool {
	return robustHas(c.Resources.Requests, name) || c.limited(name) || c.Spec.Resources != nil && robustHas(c.Spec.Resources.Requests, name)
}

func (c *groupContainer) limited(name corev1.ResourceName) bool {
	return robustHas(c.Resources.Limits, name) || c.Spec.Resources != nil && robustHas(c.Spec.Resources.Limits, name)
}

func robustHas(list corev1.ResourceList, name corev1.ResourceName) bool {
	q, ok := list[name]
	return ok && !q.IsZero()
}

// robustDefaults are what the LimitRanges of a namespace set for containers that say
// nothing.
type robustDefaults struct {
	requests, limits corev1.ResourceList
	// read is false where there may be others.
	read bool
}

func (w *ClusterState) robustDefaults(namespace string) robustDefaults {
	d := robustDefaults{requests: corev1.ResourceList{}, limits: corev1.ResourceList{}, read: w.Read(schema.GroupKind{Kind: "LimitRange"}, namespace)}
	for _, l := range All[*corev1.LimitRange](w.Facts, "", "LimitRange") {
		if l.Namespace != namespace {
			continue
		}
		for _, item := range l.Spec.Limits {
			if item.Type != corev1.LimitTypeContainer {
				continue
			}
			maps.Copy(d.requests, item.Default)
			maps.Copy(d.requests, item.DefaultRequest)
			maps.Copy(d.limits, item.Default)
		}
	}
	return d
}

// missingSettings is a container, and what it does not have.
type missingSettings struct {
	groupContainer
	missing []corev1.ResourceName
}

// missingResources returns the containers of a workload for which has is false of some of the
// resources, each once. Pods that run have what was filled in for them; of a template that
// no pod is made of, it is what would be filled in that counts. open says that this is not
// known.
func (w *ClusterState) missingResources(wl *Workload, names []corev1.ResourceName, requests bool) (out []missingSettings, all int, open bool) {
	d := robustDefaults{read: true}
	if len(wl.Pods) == 0 {
		d = w.robustDefaults(wl.Ref.Namespace)
	}
	index := map[string]int{}
	for _, c := range wl.groupContainers() {
		key := c.On.Kind + c.Path
		at, known := index[key]
		if !known {
			at = len(out)
			index[key] = at
			out = append(out, missingSettings{groupContainer: c})
		}
		for _, name := range names {
			has, filled := c.limited(name), robustHas(d.limits, name)
			if requests {
				has, filled = c.requested(name), robustHas(d.requests, name)
			}
			if !has && !filled && !slices.Contains(out[at].missing, name) {
				out[at].missing = append(out[at].missing, name)
			}
		}
	}
	all = len(out)
	out = slices.DeleteFunc(out, func(l missingSettings) bool { return len(l.missing) == 0 })
	return out, all, len(out) > 0 && !d.read
}

func robustRequests(s *Stack, r *Result) {
	for _, wl := range s.ManagedWorkloads() {
		lacks, all, open := s.World.missingResources(wl, robustComputed, true)
		switch {
		case all == 0:
		case open:
			r.AddUnread(wl.Ref, "LimitRanges of "+wl.Ref.Namespace+", which may set requests,")
		case len(lacks) == 0:
			r.Pass(wl.Ref)
		case len(lacks) == all && !slices.ContainsFunc(lacks, func(l missingSettings) bool { return len(l.missing) < len(robustComputed) }):
			r.AddFinding(Finding{
				Object: wl.Ref, Field: wl.specPath() + ".containers[*].resources",
				Message: "no container requests anything: the pods are BestEffort, for which nothing is reserved and which are evicted first",
				Remedy:  "Set resources.requests of " + object.ShortList(robustNames(lacks)) + ".",
			})
		default:
			for i := range lacks {
				r.AddFinding(robustNoRequest(wl, &lacks[i]))
			}
		}
	}
}

func robustNames(lacks []missingSettings) []string {
	out := make([]string, 0, len(lacks))
	for i := range lacks {
		out = append(out, lacks[i].Name)
	}
	return out
}

// robustResourceName is a resource as people write it.
func robustResourceName(n corev1.ResourceName) string {
	if n == corev1.ResourceCPU {
		return "CPU"
	}
	return string(n)
}

func robustNoRequest(wl *Workload, l *missingSettings) Finding {
	var what []string
	for _, n := range l.missing {
		what = append(what, "no "+robustResourceName(n))
	}
	f := Finding{Object: l.On, Field: l.Path + ".resources.requests"}
	f.Message = fmt.Sprintf("%s requests %s: the scheduler reserves nothing for it", l.describe(), strings.Join(what, " and "))
	f.Remedy = l.remedy("requests")
	if l.Init {
		f.Severity = Info // It runs for a moment, in what the other containers have.
	}
	if l.Injected {
		f.Related = []object.Ref{wl.Ref}
	}
	return f
}

// describe says which container it is.
func (c *groupContainer) describe() string {
	switch {
	case c.Injected:
		return "container " + c.Name + ", which was injected,"
	case c.Init:
		return "init container " + c.Name
	}
	return "container " + c.Name
}

// remedy says where to set requests or limits. What an injector adds has its own settings.
func (c *groupContainer) remedy(what string) string {
	if c.Injected {
		return "Set the " + what + " of " + c.Name + " where it is injected: in the settings of the injector, or by its annotations on the pod template."
	}
	return "Set " + c.Path + ".resources." + what + "."
}

func robustLimits(s *Stack, r *Result, name corev1.ResourceName) {
	for _, wl := range s.ManagedWorkloads() {
		lacks, all, open := s.World.missingResources(wl, []corev1.ResourceName{name}, false)
		switch {
		case all == 0:
		case open:
			r.AddUnread(wl.Ref, "LimitRanges of "+wl.Ref.Namespace+", which may set limits,")
		case len(lacks) == 0:
			r.Pass(wl.Ref)
		case name == corev1.ResourceCPU:
			r.AddFinding(Finding{
				Object: wl.Ref, Field: lacks[0].Path + ".resources.limits.cpu",
				Message: robustContainers(robustNames(lacks)) + " no CPU limit: its speed depends on its neighbors",
			})
		default:
			for i := range lacks {
				r.AddFinding(robustNoMemoryLimit(wl, &lacks[i]))
			}
		}
	}
}

func robustContainers(names []string) string {
	if len(names) == 1 {
		return "container " + names[0] + " has"
	}
	return "containers " + object.ShortList(names) + " have"
}

func robustNoMemoryLimit(wl *Workload, l *missingSettings) Finding {
	f := Finding{Object: l.On, Field: l.Path + ".resources.limits.memory", Remedy: l.remedy("limits.memory")}
	f.Message = l.describe() + " has no memory limit: if it leaks, others on its node are killed or evicted"
	if l.Init {
		f.Severity = Info
	}
	if l.Injected {
		f.Related = []object.Ref{wl.Ref}
	}
	return f
}
