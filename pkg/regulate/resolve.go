package regulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// actions resolves the actions of an app on each signal. The default of Stop is to pause every
// root, by the signal of its kind.
func (o *stateObserver) actions(a *observed) {
	a.state.Actions = map[string][]Resolved{}
	for _, signal := range slices.Sorted(maps.Keys(a.app.On)) {
		for i := range a.app.On[signal] {
			a.state.Actions[signal] = append(a.state.Actions[signal], o.resolve(a, i, &a.app.On[signal][i]))
		}
	}
	if _, written := a.app.On[system.Stop]; !written {
		r := o.resolve(a, 0, &system.Action{Preset: signals.PresetPause})
		r.Default = true
		a.state.Actions[system.Stop] = []Resolved{r}
	}
}

// resolving is the making of a Resolved.
type resolving struct {
	o   *stateObserver
	a   *observed
	act *system.Action
	r   Resolved
	ids []graph.ID
}

func (o *stateObserver) resolve(a *observed, index int, act *system.Action) Resolved {
	v := &resolving{o: o, a: a, act: act, r: Resolved{Index: index, Name: act.Name(), Text: actionText(act)}}
	switch {
	case act.Job != nil, act.HTTP != nil, act.Exec != nil:
		return v.r
	case len(act.Targets) > 0:
		v.named()
	default:
		v.resolveTargets()
	}
	if v.r.Refused == "" {
		v.fit()
	}
	slices.Sort(v.ids)
	for _, id := range slices.Compact(v.ids) {
		v.r.Targets = append(v.r.Targets, o.Graph.Ref(id))
	}
	if v.r.Refused == "" {
		v.about()
	}
	return v.r
}

// refuse says why not; the first reason counts.
func (v *resolving) refuse(format string, args ...any) {
	if v.r.Refused == "" {
		v.r.Refused = fmt.Sprintf(format, args...)
	}
}

func (v *resolving) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(v.r.Notes, text) {
		v.r.Notes = append(v.r.Notes, text)
	}
}

// named finds the targets that are written.
func (v *resolving) named() {
	for _, t := range v.act.Targets {
		if t.Name == "" {
			v.every(t)
			continue
		}
		ref, state, problem := v.o.find(t)
		id, in := v.o.Graph.Find(ref)
		switch {
		case state == graph.Missing:
			v.refuse("target %s does not exist: correct it, or remove it from the targets", problem)
		case state == graph.Unread || !in:
			v.refuse("target %s: it could not be read", problem)
		case v.o.isOwn(v.a, id):
			v.ids = append(v.ids, id)
		default:
			v.foreign(ref, id)
		}
	}
}

// foreign refuses a target that is not of the app.
func (v *resolving) foreign(ref object.Ref, id graph.ID) {
	name := v.a.app.Name
	if b, owned := v.o.arrived(v.a, id); owned && b != v.a {
		v.refuse("target %s is a part of app %s, and an action of %s cannot reach into another app: write it there", ref, b.app.Name, name)
		return
	}
	v.refuse("target %s is not a part of app %s alone: if it is, add it to the roots of %s", ref, name, name)
}

// every takes all of a type in the own part.
func (v *resolving) every(t system.Root) {
	kind, err := v.o.Kinds.Find(t.Type)
	if err != nil {
		v.refuse("target %s: %v", t.Type, err)
		return
	}
	found := v.ofKind(kind.GroupKind())
	if len(found) == 0 {
		v.refuse("target %s: app %s has no %s of its own", t.Type, v.a.app.Name, kind)
	}
	v.ids = append(v.ids, found...)
}

// ofKind returns what is there of some kinds in the own part.
func (v *resolving) ofKind(kinds ...schema.GroupKind) []graph.ID {
	var out []graph.ID
	for _, id := range v.a.own {
		if v.o.Graph.State(id) == graph.Present && slices.Contains(kinds, v.o.Graph.Ref(id).GroupKind()) {
			out = append(out, id)
		}
	}
	return out
}

// resolveTargets finds the targets where none are written.
func (v *resolving) resolveTargets() {
	act, name := v.act, v.a.app.Name
	switch {
	case act.Scale != nil:
		if v.ids = v.scaled(); len(v.ids) == 0 {
			v.refuse("no root of app %s, nor an object that it owns, is known to have replicas: name the targets", name)
		}
	case act.Restart:
		if v.ids = v.ofKind(restartable...); len(v.ids) == 0 {
			v.refuse("app %s has no Deployment, StatefulSet or DaemonSet of its own to restart: name the targets", name)
		}
	case act.SuspendCronJobs:
		if v.ids = v.ofKind(cronJobKind); len(v.ids) == 0 {
			v.refuse("app %s has no CronJob of its own: remove suspendCronJobs, or add the CronJob to its roots", name)
		}
	case act.CordonTraffic:
		v.ids = slices.DeleteFunc(v.ofKind(serviceKind), func(id graph.ID) bool { return v.uncordonable(id) != "" })
		if len(v.ids) == 0 {
			v.refuse("app %s has no Service of its own with a selector and an address: remove cordonTraffic, or add the Service to its roots", name)
		}
	default:
		if v.ids = slices.Clone(v.a.roots); len(v.ids) == 0 {
			v.refuse("no root of app %s was found", name)
		}
		if act.Preset != "" {
			v.still()
		}
	}
}

// still removes roots from a preset that run nothing, such as a ConfigMap, if there are others.
func (v *resolving) still() {
	remaining := slices.DeleteFunc(slices.Clone(v.ids), func(id graph.ID) bool {
		_, known := v.signal(id)
		return !known && isStill(v.o.Graph.Ref(id).GroupKind())
	})
	if len(remaining) == 0 {
		return
	}
	for _, id := range v.ids {
		if !slices.Contains(remaining, id) {
			v.note("%s has no pods: skipped", v.o.Graph.Ref(id))
		}
	}
	v.ids = remaining
}

// scaled returns what has replicas: a root, or else what the root owns directly.
func (v *resolving) scaled() []graph.ID {
	var out []graph.ID
	for _, root := range v.a.roots {
		if v.scales(root) {
			out = append(out, root)
			continue
		}
		for _, id := range v.o.Graph.Owned(root) {
			if owner, in := v.o.owner(id); in && owner == v.a && v.o.Graph.State(id) == graph.Present && v.scales(id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// scales says whether a kind is known to have the subresource scale.
func (v *resolving) scales(id graph.ID) bool {
	gk := v.o.Graph.Ref(id).GroupKind()
	if slices.Contains(scalable, gk) {
		return true
	}
	if v.o.Signals == nil {
		return false
	}
	s, known := v.o.Signals.Of(v.o.kindOf(id), signals.PresetStop)
	return known && s.Scale
}

// kindOf returns the kind of a node in the version in which it was read.
func (o *stateObserver) kindOf(id graph.ID) schema.GroupVersionKind {
	n := o.Graph.Node(id)
	gv, _ := schema.ParseGroupVersion(n.APIVersion)
	return schema.GroupVersionKind{Group: n.Ref.Group, Version: gv.Version, Kind: n.Ref.Kind}
}

// uncordonable says why no traffic can be taken from a Service by its selector.
func (v *resolving) uncordonable(id graph.ID) string {
	f, known := v.o.Facts.factOf(v.o.Graph.Ref(id))
	switch {
	case !known || f.service == nil:
		return "it could not be read fully"
	case len(f.service.selector) == 0:
		return "it has no selector: its endpoints are managed elsewhere"
	case f.service.headless:
		return "it is headless: clients find its pods directly"
	}
	return ""
}

var (
	cronJobKind = schema.GroupKind{Group: "batch", Kind: "CronJob"}
	restartable = []schema.GroupKind{{Group: "apps", Kind: "DaemonSet"}, {Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"}}
	scalable    = []schema.GroupKind{{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "ReplicaSet"}, {Group: "apps", Kind: "StatefulSet"}, {Kind: "ReplicationController"}}
	stillKinds  = []schema.GroupKind{
		{Kind: "PersistentVolumeClaim"},
		{Kind: "Service"},
		{Kind: "Namespace"},
		{Kind: "ResourceQuota"},
		{Group: "networking.k8s.io", Kind: "Ingress"},
		{Group: "policy", Kind: "PodDisruptionBudget"},
		{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"},
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
		{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"},
		{Group: "gateway.networking.k8s.io", Kind: "GRPCRoute"},
		{Group: "gateway.networking.k8s.io", Kind: "TLSRoute"},
		{Group: "gateway.networking.k8s.io", Kind: "TCPRoute"},
		{Group: "gateway.networking.k8s.io", Kind: "UDPRoute"},
		{Group: "route.openshift.io", Kind: "Route"},
	}
)

// isWorkload tells the kinds that keep pods running, or start them again and again.
func isWorkload(gk schema.GroupKind) bool {
	return gk == cronJobKind || slices.Contains(serving, gk)
}

// isStill tells kinds of which nothing runs.
func isStill(gk schema.GroupKind) bool {
	return health.Stateless(gk) || slices.Contains(stillKinds, gk)
}

// fit refuses targets with which the action can do nothing.
func (v *resolving) fit() {
	for _, id := range v.ids {
		ref, act := v.o.Graph.Ref(id), v.act
		gk := ref.GroupKind()
		switch {
		case act.SuspendCronJobs && gk != cronJobKind:
			v.refuse("suspendCronJobs: target %s is not a CronJob", ref)
		case act.Restart && !slices.Contains(restartable, gk):
			v.refuse("restart: target %s is not a Deployment, StatefulSet or DaemonSet", ref)
		case act.CordonTraffic && gk != serviceKind:
			v.refuse("cordonTraffic: target %s is not a Service", ref)
		case act.CordonTraffic && v.uncordonable(id) != "":
			v.refuse("cordonTraffic: target %s: %s; choose another one", ref, v.uncordonable(id))
		case (act.Scale != nil || act.Patch != nil && act.Patch.Subresource == "scale") && v.builtIn(id) && !slices.Contains(scalable, gk):
			v.refuse("target %s: a %s has no replicas to set", ref, ref.Kind)
		case act.Patch != nil && act.Patch.Type == system.Strategic && !v.builtIn(id):
			v.refuse("target %s: a strategic patch is for built-in kinds only: write it as a merge patch", ref)
		}
	}
}

// builtIn says whether a kind is one of Kubernetes itself.
func (v *resolving) builtIn(id graph.ID) bool {
	k, known := v.o.Kinds.Kind(v.o.Graph.Ref(id).GroupKind())
	return known && !k.Custom
}

// about adds what is to be known of the targets: signals, caveats, who puts them back.
func (v *resolving) about() {
	if n := len(v.a.state.Absent); n > 0 && v.act.Targets == nil {
		v.note("missing: %s", strings.Join(v.a.state.Absent, "; "))
	}
	for _, ref := range v.r.Targets {
		id, _ := v.o.Graph.Find(ref)
		if v.act.Preset != "" {
			v.preset(ref, id)
		}
		if owners := v.o.Graph.OwnersOf(id); len(owners) > 0 && v.act.Preset != signals.PresetPause {
			v.note("%s is owned by %s, whose controller may revert it", ref, v.o.Graph.Ref(owners[0]))
		}
	}
}

func (v *resolving) signal(id graph.ID) (signals.Signal, bool) {
	if v.o.Signals == nil {
		return signals.Signal{}, false
	}
	return v.o.Signals.Of(v.o.kindOf(id), v.act.Preset)
}

// preset looks up what the catalogue says of a target.
func (v *resolving) preset(ref object.Ref, id graph.ID) {
	s, known := v.signal(id)
	f, _ := v.o.Facts.factOf(ref)
	switch lack := f.missing[v.act.Preset]; {
	case !known:
		v.refuse("no %s is known for %s: write another action%s, or see kubectl sysop regulate signals", v.act.Preset, ref, v.instead(id))
		return
	case lack != "":
		v.refuse("%s has no %s, which its %s needs: write another action", ref, lack, v.act.Preset)
		return
	case v.act.AllowStop:
	case s.Caution:
		v.refuse("%s: its operator warns of %s (%s): set allowStop: true to allow it", ref, v.act.Preset, firstOf(s.Caveat, s.Effect))
	case v.act.Preset == signals.PresetStop && s.Stateful:
		v.refuse("%s stores data, and stop means: %s; set allowStop: true to allow it, or use preset: pause", ref, s.Effect)
	}
	if v.r.Signals == nil {
		v.r.Signals = map[object.Ref]signals.Signal{}
	}
	v.r.Signals[ref] = s
	if text := s.Warning(); text != "" {
		v.note("%s: %s", ref.Kind, text)
	}
}

// instead tells of the stop of a kind that has no pause.
func (v *resolving) instead(id graph.ID) string {
	if v.act.Preset != signals.PresetPause || v.o.Signals == nil {
		return ""
	}
	s, known := v.o.Signals.Of(v.o.kindOf(id), signals.PresetStop)
	if !known {
		return ""
	}
	return fmt.Sprintf(" (preset: stop means: %s)", s.Effect)
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
