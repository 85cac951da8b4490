package system

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Exported is what a manifest is made of: the objects of a stack that were
// applied, as they are in a cluster.
type Exported struct {
	// Name is a DNS label, Namespace that of the stack: its objects are written without it.
	Name, Namespace string
	Description     string
	Apps            []ExportedApp
	Operators       []Operator
	// Inputs are Secrets and ConfigMaps that are needed and not exported, in addition to those
	// that pod specs name; their keys are added to those that are known here.
	Inputs       []Input
	Dependencies []Dependency
	// Made are Secrets that a controller makes, by NAMESPACE/NAME: they are no inputs.
	Made map[string]bool
}

// ExportedApp is an app of it.
type ExportedApp struct {
	Name, Operator string
	Roots          []Root
	// Objects are whole. They are not changed.
	Objects []*unstructured.Unstructured
}

// Notice is what people should know of an export: of an object, and of a field of it where
// one is meant. No value is in it.
type Notice struct {
	Object, Field, Message string
}

func (n Notice) String() string {
	position := n.Object
	if n.Field != "" {
		position += " " + n.Field
	}
	if position == "" {
		return n.Message
	}
	return position + ": " + n.Message
}

// Export makes the System: each object as it would be applied, Secrets as inputs. The
// notices say what was left out, and which fields look like credentials; they are ordered.
func Export(from Exported) (*System, []Notice) {
	e := &exporter{from: from, sys: &System{
		Name: from.Name, Namespace: from.Namespace, Description: from.Description,
		Operators: from.Operators, Regulation: defaultRegulation(),
	}}
	for i := range from.Apps {
		e.app(&from.Apps[i])
	}
	e.sys.liftLabels()
	e.dependencies()
	e.inputs()
	slices.SortFunc(e.notices, func(a, b Notice) int {
		return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	e.notices = slices.Compact(e.notices)
	return e.sys, e.notices
}

// ScalersApp and MonitorsApp are the apps that autoscaling and monitoring of a manifest add to the
// installation of a System.
const (
	ScalersApp  = "scalers"
	MonitorsApp = "monitors"
)

// Carry takes from the manifest of the exported System what no object of its apps shows: how they are
// monitored, scaled, labelled and connected, and how the whole is regulated, backed up and paid.
func (s *System) Carry(from *System) {
	s.Description, s.Labels, s.Monitoring, s.Autoscaling = from.Description, from.Labels, from.Monitoring, from.Autoscaling
	s.Regulation, s.Chargeback, s.Waivers, s.Upgrade, s.Backup = from.Regulation, from.Chargeback, from.Waivers, from.Upgrade, from.Backup
	exist := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool {
			_, ok := s.App(name)
			return !ok
		})
	}
	s.Connections = slices.DeleteFunc(slices.Clone(from.Connections), func(c Connection) bool { return !exist(c.From.App, c.To.App) })
	for _, d := range from.Dependencies {
		known := slices.ContainsFunc(s.Dependencies, func(o Dependency) bool { return o.From == d.From && o.To == d.To || o.From == d.To && o.To == d.From })
		if exist(d.From, d.To) && !known {
			s.Dependencies = append(s.Dependencies, d)
		}
	}
	for i := range s.Apps {
		a := &s.Apps[i]
		was, ok := from.App(a.Name)
		if !ok {
			continue
		}
		a.Monitoring, a.Autoscaling, a.On, a.GitOps = was.Monitoring, was.Autoscaling, was.On, was.GitOps
		if a.Autoscaling == nil || a.Autoscaling.Max == 0 {
			continue
		}
		for _, o := range a.Resources {
			if target := a.Autoscaling.Target.Name; target == "" || target == o.GetName() {
				unstructured.RemoveNestedField(o.Object, "spec", "replicas") // The scaler sets it.
			}
		}
	}
}

type exporter struct {
	from    Exported
	sys     *System
	taken   []exportedRoot
	inputOf map[string]*Input
	notices []Notice
}

type exportedRoot struct {
	Root
	app string
}

func (e *exporter) notice(object, field, format string, args ...any) {
	e.notices = append(e.notices, Notice{object, field, fmt.Sprintf(format, args...)})
}

// app takes an app with its objects. One of which nothing is left is none.
func (e *exporter) app(a *ExportedApp) {
	app := App{Name: a.Name, Operator: a.Operator}
	objects := slices.Clone(a.Objects)
	slices.SortStableFunc(objects, compareApplied)
	claims := claimsMade(objects)
	for _, o := range objects {
		ref := rootOf(o)
		if skip, reason := notApplied(o); skip {
			if reason != "" {
				e.notice(ref.String(), "", "omitted: %s", reason)
			}
			continue
		}
		if o.GetKind() == "PersistentVolumeClaim" && claims(o) {
			continue
		}
		if other, taken := e.takenBy(ref); taken {
			if other != a.Name {
				e.notice(ref.String(), "", "it is already part of app %s", other)
			}
			continue
		}
		e.secretsOf(o)
		clean := e.applied(o)
		e.taken = append(e.taken, exportedRoot{rootOf(clean), a.Name})
		app.Resources = append(app.Resources, clean)
	}
	for _, r := range a.Roots {
		other, taken := e.takenBy(r)
		if taken && other == a.Name || !taken && !slices.ContainsFunc(app.Roots, func(o Root) bool { return e.same(o, r) }) {
			app.Roots = append(app.Roots, r)
			if !taken {
				e.taken = append(e.taken, exportedRoot{r, a.Name})
			}
		}
	}
	if len(app.Resources) > 0 {
		e.sys.Apps = append(e.sys.Apps, app)
	}
}

// takenBy is the app that has a root already, as Parse sees it: it cannot tell kinds of one
// name apart where one of them is in the core group.
func (e *exporter) takenBy(r Root) (string, bool) {
	i := slices.IndexFunc(e.taken, func(o exportedRoot) bool { return e.same(o.Root, r) })
	if i < 0 {
		return "", false
	}
	return e.taken[i].app, true
}

func (e *exporter) same(a, b Root) bool {
	in := func(o Root) string { return cmp.Or(o.Namespace, e.from.Namespace) }
	return a.Name == b.Name && in(a) == in(b) && sameType(a.Type, b.Type)
}

// dependencies keeps the dependencies between existing apps that close no loop: the order of
// install follows them.
func (e *exporter) dependencies() {
	needs := map[string][]string{}
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		return from == to || slices.ContainsFunc(needs[from], func(next string) bool { return reaches(next, to) })
	}
	for _, d := range e.from.Dependencies {
		_, from := e.sys.App(d.From)
		_, to := e.sys.App(d.To)
		if !from || !to || slices.Contains(needs[d.From], d.To) {
			continue
		}
		if reaches(d.To, d.From) {
			e.notice("", "", "app %s needs app %s, which needs it: of the two %s comes first", d.From, d.To, d.From)
			continue
		}
		needs[d.From] = append(needs[d.From], d.To)
		d.Reason = oneLine(d.Reason)
		e.sys.Dependencies = append(e.sys.Dependencies, d)
	}
}

// compareApplied orders objects: by kind, namespace and name; what others need first.
func compareApplied(a, b *unstructured.Unstructured) int {
	rank := func(o *unstructured.Unstructured) int {
		switch o.GetKind() {
		case "ServiceAccount", "ConfigMap", "Role", "ClusterRole":
			return 0
		case "RoleBinding", "ClusterRoleBinding", "PersistentVolumeClaim", "Service":
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.GetAPIVersion(), b.GetAPIVersion()),
		cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// notApplied reports whether an object was not applied by a user or tool, and why it is skipped
// although people might expect it.
func notApplied(o *unstructured.Unstructured) (skip bool, reason string) {
	name, group := o.GetName(), o.GroupVersionKind().Group
	switch kind := o.GetKind(); {
	case len(o.GetOwnerReferences()) > 0:
		return true, ""
	case group == "" && slices.Contains([]string{"Secret", "Event", "Endpoints", "Namespace", "Node", "PersistentVolume"}, kind),
		group == "discovery.k8s.io", group == "events.k8s.io", group == "coordination.k8s.io", group == "apiextensions.k8s.io", group == "apiregistration.k8s.io":
		return true, ""
	case group == "" && kind == "ServiceAccount" && name == "default", group == "" && kind == "ConfigMap" && name == "kube-root-ca.crt":
		return true, ""
	case group == "rbac.authorization.k8s.io" && (strings.HasPrefix(name, "system:") || o.GetLabels()["kubernetes.io/bootstrapping"] != ""):
		return true, ""
	case !isName(name) || strings.Contains(name, "/"):
		return true, "its name is not valid in a manifest"
	case o.GetNamespace() != "" && !isLabel(o.GetNamespace()), !isType(o.GroupVersionKind().GroupKind().String()):
		return true, "its kind or namespace is not valid in a manifest"
	}
	return false, ""
}

// claimsMade says which claims StatefulSets make of their templates.
func claimsMade(objects []*unstructured.Unstructured) func(*unstructured.Unstructured) bool {
	var prefixes []string
	for _, o := range objects {
		if o.GetKind() != "StatefulSet" {
			continue
		}
		templates, _, _ := unstructured.NestedSlice(o.Object, "spec", "volumeClaimTemplates")
		for _, t := range templates {
			fields, _ := t.(map[string]any)
			name, _, _ := unstructured.NestedString(fields, "metadata", "name")
			prefixes = append(prefixes, o.GetNamespace()+"/"+name+"-"+o.GetName()+"-")
		}
	}
	return func(o *unstructured.Unstructured) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool {
			ordinal, ok := strings.CutPrefix(o.GetNamespace()+"/"+o.GetName(), prefix)
			return ok && ordinal != "" && strings.Trim(ordinal, "0123456789") == ""
		})
	}
}

// OneLine escapes what would end a line, so that text which was read can be put into a comment.
func OneLine(text string) string { return oneLine(text) }
