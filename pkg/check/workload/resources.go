package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func resourceRules() []check.Rule {
	return []check.Rule{
		{
			ID: "pod-requests", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(14)},
			Title: "Each container requests CPU and memory",
			Why:   "The scheduler reserves nothing without a request: nodes are overcommitted, and such pods are starved and evicted first.",
			Fix:   "Set resources.requests of the container, or have a LimitRange set them in the namespace.",
			Stack: requests,
		},
		{
			ID: "pod-memory-limit", Category: check.Robustness, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(14)},
			Title: "Each container has a memory limit",
			Why:   "A container without a limit that leaks memory uses up its node, and others there are killed or evicted.",
			Fix:   "Set resources.limits.memory of the container to its highest need, or have a LimitRange set it in the namespace.",
			Stack: func(s *check.Stack, r *check.Result) { limits(s, r, corev1.ResourceMemory) },
		},
		{
			ID: "pod-cpu-limit", Category: check.Robustness, Severity: check.Info, Guidelines: []check.Guideline{check.MaturityGuideline(14)},
			Title: "Each container has a CPU limit",
			Why:   "Without a limit, the speed of a container depends on its neighbors: fast in tests, slow on a busy node. Many omit it on purpose, since a limit throttles: then waive the rule.",
			Fix:   "Set resources.limits.cpu of the container, or waive the rule where limits are omitted on purpose.",
			Stack: func(s *check.Stack, r *check.Result) { limits(s, r, corev1.ResourceCPU) },
		},
	}
}

var computeResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// requested reports whether a container has a request for a resource; a limit is one as well,
// as the API server fills in requests from limits. The resources of a whole pod cover its
// containers.
func requested(c *check.Container, name corev1.ResourceName) bool {
	return isSet(c.Resources.Requests, name) || limited(c, name) || c.Spec.Resources != nil && isSet(c.Spec.Resources.Requests, name)
}

func limited(c *check.Container, name corev1.ResourceName) bool {
	return isSet(c.Resources.Limits, name) || c.Spec.Resources != nil && isSet(c.Spec.Resources.Limits, name)
}

func isSet(list corev1.ResourceList, name corev1.ResourceName) bool {
	q, ok := list[name]
	return ok && !q.IsZero()
}

// containerDefaults are the defaults that the LimitRanges of a namespace set for containers.
type containerDefaults struct {
	requests, limits corev1.ResourceList
	// read is false where there may be more LimitRanges.
	read bool
}

func limitRangeDefaults(w *check.ClusterState, namespace string) containerDefaults {
	d := containerDefaults{requests: corev1.ResourceList{}, limits: corev1.ResourceList{}, read: w.Read(schema.GroupKind{Kind: "LimitRange"}, namespace)}
	for _, l := range check.All[*corev1.LimitRange](w.Facts, "", "LimitRange") {
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

// missingSettings is a container, and its unset resources.
type missingSettings struct {
	check.Container
	missing []corev1.ResourceName
}

// missingResources returns the containers of a workload that lack some of the resources, each
// once. Running pods have the defaults filled in; for a template without pods, the defaults of
// the namespace are added. open is set where those are unknown.
func missingResources(w *check.ClusterState, wl *check.Workload, names []corev1.ResourceName, requests bool) (out []missingSettings, all int, open bool) {
	d := containerDefaults{read: true}
	if len(wl.Pods) == 0 {
		d = limitRangeDefaults(w, wl.Ref.Namespace)
	}
	index := map[string]int{}
	for _, c := range wl.Containers() {
		key := c.On.Kind + c.Path
		at, known := index[key]
		if !known {
			at = len(out)
			index[key] = at
			out = append(out, missingSettings{Container: c})
		}
		for _, name := range names {
			has, filled := limited(&c, name), isSet(d.limits, name)
			if requests {
				has, filled = requested(&c, name), isSet(d.requests, name)
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

func requests(s *check.Stack, r *check.Result) {
	for _, wl := range s.ManagedWorkloads() {
		lacks, all, open := missingResources(s.World, wl, computeResources, true)
		switch {
		case all == 0:
		case open:
			r.AddUnread(wl.Ref, "LimitRanges of "+wl.Ref.Namespace+", which may set requests,")
		case len(lacks) == 0:
			r.Pass(wl.Ref)
		case len(lacks) == all && !slices.ContainsFunc(lacks, func(l missingSettings) bool { return len(l.missing) < len(computeResources) }):
			r.AddFinding(check.Finding{
				Object: wl.Ref, Field: wl.SpecPath() + ".containers[*].resources",
				Message: "no container requests anything: the pods are BestEffort, for which nothing is reserved and which are evicted first",
				Remedy:  "Set resources.requests of " + object.ShortList(names(lacks)) + ".",
			})
		default:
			for i := range lacks {
				r.AddFinding(noRequest(wl, &lacks[i]))
			}
		}
	}
}

func names(lacks []missingSettings) []string {
	out := make([]string, 0, len(lacks))
	for i := range lacks {
		out = append(out, lacks[i].Name)
	}
	return out
}

// resourceName is a resource as people write it.
func resourceName(n corev1.ResourceName) string {
	if n == corev1.ResourceCPU {
		return "CPU"
	}
	return string(n)
}

func noRequest(wl *check.Workload, l *missingSettings) check.Finding {
	var problems []string
	for _, n := range l.missing {
		problems = append(problems, "no "+resourceName(n))
	}
	f := check.Finding{Object: l.On, Field: l.Path + ".resources.requests"}
	f.Message = fmt.Sprintf("%s requests %s: the scheduler reserves nothing for it", l.Describe(), strings.Join(problems, " and "))
	f.Remedy = remedy(&l.Container, "requests")
	if l.Init {
		f.Severity = check.Info // It runs briefly, within the requests of the other containers.
	}
	if l.Injected {
		f.Related = []object.Ref{wl.Ref}
	}
	return f
}

// remedy names the field for requests or limits. An injected container has the settings of its
// injector.
func remedy(c *check.Container, setting string) string {
	if c.Injected {
		return "Set the " + setting + " of " + c.Name + " where it is injected: in the settings of the injector, or by its annotations on the pod template."
	}
	return "Set " + c.Path + ".resources." + setting + "."
}

func limits(s *check.Stack, r *check.Result, name corev1.ResourceName) {
	for _, wl := range s.ManagedWorkloads() {
		lacks, all, open := missingResources(s.World, wl, []corev1.ResourceName{name}, false)
		switch {
		case all == 0:
		case open:
			r.AddUnread(wl.Ref, "LimitRanges of "+wl.Ref.Namespace+", which may set limits,")
		case len(lacks) == 0:
			r.Pass(wl.Ref)
		case name == corev1.ResourceCPU:
			r.AddFinding(check.Finding{
				Object: wl.Ref, Field: lacks[0].Path + ".resources.limits.cpu",
				Message: containers(names(lacks)) + " no CPU limit: its speed depends on its neighbors",
			})
		default:
			for i := range lacks {
				r.AddFinding(noMemoryLimit(wl, &lacks[i]))
			}
		}
	}
}

func containers(names []string) string {
	if len(names) == 1 {
		return "container " + names[0] + " has"
	}
	return "containers " + object.ShortList(names) + " have"
}

func noMemoryLimit(wl *check.Workload, l *missingSettings) check.Finding {
	f := check.Finding{Object: l.On, Field: l.Path + ".resources.limits.memory", Remedy: remedy(&l.Container, "limits.memory")}
	f.Message = l.Describe() + " has no memory limit: if it leaks, others on its node are killed or evicted"
	if l.Init {
		f.Severity = check.Info
	}
	if l.Injected {
		f.Related = []object.Ref{wl.Ref}
	}
	return f
}
