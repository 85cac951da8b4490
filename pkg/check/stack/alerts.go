package stack

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// alerts looks for alerts that name the app: among all rules that were read.
func alerts(s *check.Stack, r *check.Result) {
	a, w := appOf(s), s.World
	lasting := slices.DeleteFunc(s.ManagedWorkloads(), func(wl *check.Workload) bool { return !wl.IsLongRunning() })
	if a == nil || a.NotMonitored || len(lasting) == 0 {
		return
	}
	subject := subjectOf(w, a, lasting)
	named, count, unread := subject.search(w)
	places := object.ShortList(subject.places)
	switch {
	case named:
		r.Pass(a.Roots[0])
	case unread != "":
		r.AddUnread(a.Roots[0], unread)
	case count == 0:
		r.AddFinding(check.Finding{Object: a.Roots[0], Message: "no alert is about it: there are no rules of alerts in " + places})
	default:
		r.AddFinding(check.Finding{Object: a.Roots[0], Message: fmt.Sprintf("no alert is about it: none of %s in %s names one of its objects or its namespace", object.Count(count, "alert"), places)})
	}
}

// search looks for an alert that names the app, and counts those in the places where one is expected.
// unread is what could not be read there.
func (t *alertSubject) search(w *check.ClusterState) (named bool, count int, unread string) {
	for _, gk := range check.AlertKinds {
		for _, ref := range w.Instances(gk) {
			all, read := w.Facts.Alerts(ref)
			switch {
			case !read:
				unread = ref.String()
			case len(all) > 0 && slices.Contains(t.objects, ref), slices.ContainsFunc(all, t.isOf):
				return true, 0, ""
			case slices.Contains(t.places, ref.Namespace):
				count += len(all)
			}
		}
		for _, ns := range t.places {
			if k, served := w.Kinds.Kind(gk); served && !w.Read(gk, ns) {
				unread = k.String()
			}
		}
	}
	return false, count, unread
}

// alertSubject is what alerts about an app name.
type alertSubject struct {
	system, home, app string
	objects           []object.Ref
	// namespaces are those of its workloads, and places that of the System as well.
	namespaces, places []string
	// names are those of its objects, values those of the labels of its pods and of their containers, and
	// all is what a label of a series may have.
	names, values map[string]bool
	all           []string
}

// subjectOf is the app with its workloads, or with those of its stack if it has none of its own.
func subjectOf(w *check.ClusterState, a *check.SystemApp, lasting []*check.Workload) *alertSubject {
	t := &alertSubject{system: w.System.Name, home: w.System.Namespace, app: a.Name, objects: objectsOf(w, a), names: map[string]bool{}, values: map[string]bool{}}
	own := w.WorkloadsOf(t.objects)
	if len(own) == 0 {
		own = lasting
	}
	for _, wl := range own {
		t.add(w, wl)
	}
	for _, ref := range t.objects {
		t.names[ref.Name] = true
	}
	slices.Sort(t.namespaces)
	t.namespaces = slices.Compact(t.namespaces)
	t.places = t.namespaces
	if t.home != "" && !slices.Contains(t.places, t.home) {
		t.places = append(slices.Clone(t.places), t.home)
	}
	t.all = slices.Concat([]string{t.system, t.home, t.app}, t.namespaces, slices.Collect(maps.Keys(t.names)), slices.Collect(maps.Keys(t.values)))
	return t
}

// add adds a workload, with its pods, Services and claims.
func (t *alertSubject) add(w *check.ClusterState, wl *check.Workload) {
	t.objects, t.namespaces = append(t.objects, wl.Ref), append(t.namespaces, wl.Ref.Namespace)
	for _, pod := range wl.Pods {
		t.objects = append(append(t.objects, check.PodRef(pod)), w.Serving(check.PodRef(pod), check.ServiceKind)...)
		for _, v := range pod.Labels {
			t.values[v] = true
		}
	}
	for _, claim := range w.Claims(wl) {
		t.names[claim.Name] = true
	}
	for _, spec := range wl.Specs() {
		for i := range spec.Containers {
			t.values[spec.Containers[i].Name] = true
		}
	}
	t.names[wl.Ref.Name+"-0"] = true // a pod, where there are none now
}

// Labels of series that name an object, whichever exporter they are of: those of kinds, of which each
// must fit, and those that may be of the exporter itself.
var (
	kindLabels = []string{
		"pod", "deployment", "statefulset", "daemonset", "replicaset", "job_name", "cronjob", "persistentvolumeclaim", "horizontalpodautoscaler",
		"workload", "owner_name", "created_by_name",
	}
	looseLabels = []string{"job", "service", "container", "app", "app_kubernetes_io_name", "app_kubernetes_io_instance", "label_app", "label_app_kubernetes_io_name", "label_app_kubernetes_io_instance"}
)

// isOf says whether an alert names the app: by its labels, or in one of its selectors.
func (t *alertSubject) isOf(a check.Alert) bool {
	if name, ours := a.Labels[check.SeriesSystem]; ours {
		return name == t.system && a.Labels[check.SeriesNamespace] == t.home && a.Labels[check.SeriesApp] == t.app
	}
	var labels []matcher
	for k, v := range a.Labels {
		labels = append(labels, matcher{k, "=", v})
	}
	if t.isNamed(labels) {
		return true
	}
	return slices.ContainsFunc(a.Exprs, func(expr string) bool { return slices.ContainsFunc(selectorsOf(expr), t.isNamed) })
}

// matcher is that of a label in a selector of PromQL.
type matcher struct{ label, op, value string }

// isNamed says whether the matchers of a selector name the app, and none of them names another object.
func (t *alertSubject) isNamed(all []matcher) bool {
	named := false
	for _, m := range all {
		label := strings.TrimPrefix(m.label, "exported_")
		var fits func(string) bool
		switch {
		case label == "namespace":
			fits = func(s string) bool { return slices.Contains(t.namespaces, s) }
		case slices.Contains(kindLabels, label), slices.Contains(looseLabels, label):
			fits = func(s string) bool { return t.names[s] || t.values[s] && slices.Contains(looseLabels, label) }
		case label == check.SeriesSystem:
			fits = func(s string) bool { return s == t.system }
		case label == check.SeriesNamespace:
			fits = func(s string) bool { return s == t.home }
		case label == check.SeriesApp:
			fits = func(s string) bool { return s == t.app }
		default:
			continue
		}
		names, excludes := t.fit(m, fits)
		if excludes && !slices.Contains(looseLabels, label) {
			return false
		}
		named = named || names
	}
	return named
}

// fit says whether a matcher names a value that fits, or excludes all of them. One that also matches any
// other value names none.
func (t *alertSubject) fit(m matcher, fits func(string) bool) (names, excludes bool) {
	matches := func(s string) bool { return s == m.value }
	if strings.HasSuffix(m.op, "~") {
		pattern, err := regexp.Compile("^(?s:" + m.value + ")$")
		if err != nil {
			return false, false
		}
		matches = pattern.MatchString
	}
	found := slices.ContainsFunc(t.all, func(s string) bool { return fits(s) && matches(s) })
	if strings.HasPrefix(m.op, "!") {
		return false, found && m.label == "namespace" && len(t.namespaces) == 1
	}
	const other = "no-object-has-this-name"
	return found && !matches(other), !found
}

// matcherText is a matcher of a label.
var matcherText = regexp.MustCompile("([a-zA-Z_][a-zA-Z0-9_]*)\\s*(=~|!=|!~|=)\\s*(\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`)")

// selectorsOf are the matchers of each selector of a query.
func selectorsOf(expr string) [][]matcher {
	var out [][]matcher
	for _, text := range braced(expr) {
		var one []matcher
		for _, m := range matcherText.FindAllStringSubmatch(text, -1) {
			value := m[3][1 : len(m[3])-1]
			if plain, err := strconv.Unquote(m[3]); err == nil {
				value = plain
			}
			one = append(one, matcher{m[1], m[2], value})
		}
		out = append(out, one)
	}
	return out
}

// braced are the parts of a query in braces, of which those in quotes are none.
func braced(expr string) []string {
	var out []string
	start, quote := -1, byte(0)
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; {
		case quote != 0 && c == '\\' && quote != '`':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			start = i
		case c == '}' && start >= 0:
			out = append(out, expr[start+1:i])
			start = -1
		}
	}
	return out
}
