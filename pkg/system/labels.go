package system

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// The labels that Kubernetes recommends and that a System knows the values of.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels
const (
	partOfLabel    = "app.kubernetes.io/part-of"
	instanceLabel  = "app.kubernetes.io/instance"
	componentLabel = "app.kubernetes.io/component"
	managedByLabel = "app.kubernetes.io/managed-by"
)

// labels reads spec.labels, which may be empty: then only the recommended labels are set.
func (r *reader) labels(s scope, n *yaml.Node) {
	r.sys.Labels = map[string]string{}
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		return
	}
	r.sys.Labels = s.labels(n, func(name string) string {
		switch {
		case name == managedByLabel:
			return "Helm sets it on every object of its releases: omit it"
		case strings.HasPrefix(name, "sysop.dev/") || strings.HasPrefix(name, setPrefix):
			return "kubectl sysop uses it itself: expected a label of your own"
		}
		return ""
	})
}

// labels reads labels of objects. Refuse says what is wrong with a key; nil refuses none.
func (s scope) labels(n *yaml.Node, refuse func(name string) string) map[string]string {
	all := map[string]string{}
	s.entries(n, func(s scope, name string, k, v *yaml.Node) {
		if len(validation.IsQualifiedName(name)) > 0 {
			s.report(k, "%q is not a label", field.Shorten(name))
		} else if refuse != nil {
			if wrong := refuse(name); wrong != "" {
				s.report(k, "%s", wrong)
			}
		}
		value, ok := s.string(v)
		if ok && len(validation.IsValidLabelValue(value)) > 0 {
			s.report(v, "%q is not the value of a label", field.Shorten(value))
		}
		all[name] = value
	})
	return all
}

func labelsNode(all map[string]string) *yaml.Node {
	if all != nil && len(all) == 0 {
		return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	}
	return strict.TableNode(all, strict.TextNode)
}

// LabelKeys returns the keys of the labels that the objects of apps get, in order; nil without
// spec.labels.
func (s *System) LabelKeys() []string {
	if s.Labels == nil {
		return nil
	}
	keys := []string{partOfLabel, instanceLabel, componentLabel, managedByLabel}
	for key := range s.Labels {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// SetLabels sets the labels of spec.labels on the objects of an app and on their pod templates. The
// recommended ones are set where they are absent. No selector is changed, and no label of a pod that
// a selector among all objects of the System reads: the pods behind a Service or a workload stay the
// same. The notes are about labels of the user that could therefore not be set.
func (s *System) SetLabels(app, release string, objects, all []*unstructured.Unstructured) (notes []string) {
	if s.Labels == nil {
		return nil
	}
	recommended := map[string]string{partOfLabel: s.Name, instanceLabel: release, componentLabel: app, managedByLabel: "Helm"}
	selected := map[string]bool{}
	for _, o := range all {
		selectorKeys(o.Object, o.GetKind() == "Service" || o.GetKind() == "ReplicationController", selected)
	}
	for _, o := range objects {
		if kind := o.GetKind(); kind == "CustomResourceDefinition" || kind == "Namespace" {
			continue // They may be shared, and stay when the System goes.
		}
		for _, path := range labelPaths(o.GetKind()) {
			labels, found, err := unstructured.NestedStringMap(o.Object, path...)
			if err != nil {
				continue // It is refused as it is.
			}
			if !found {
				labels = map[string]string{}
			}
			for _, key := range s.setLabels(labels, recommended, selected, len(path) > 2 || o.GetKind() == "Pod") {
				notes = append(notes, fmt.Sprintf("%s: the label %s of %s %s stays as it is: a selector reads it", app, key, o.GetKind(), o.GetName()))
			}
			if len(labels) > 0 {
				_ = unstructured.SetNestedStringMap(o.Object, labels, path...) // The path was read above.
			}
		}
	}
	return notes
}

// setLabels sets labels of an object, or of pods. It returns the user's keys that stay as they are,
// because a selector reads them.
func (s *System) setLabels(labels, recommended map[string]string, selected map[string]bool, pods bool) (refused []string) {
	for _, key := range s.LabelKeys() {
		was, exists := labels[key]
		value, own := s.Labels[key]
		switch {
		case own && was != value && selected[key] && (exists || pods):
			refused = append(refused, key)
		case own:
			labels[key] = value
		case exists, pods && selected[key], !pods && key == managedByLabel: // Helm sets managed-by on objects itself.
		default:
			labels[key] = recommended[key]
		}
	}
	return refused
}

// ReleaseOf is the name of the Helm release of an app, which is its label app.kubernetes.io/instance.
func (s *System) ReleaseOf(app string) string { return s.Name + "-" + app }

// LabelDrift is a label of spec.labels that an object, or its pod template, has lost or has another
// value of.
type LabelDrift struct {
	App    string `json:"app"`
	Object string `json:"object"`
	// Pods says that it is a label of the pod template.
	Pods  bool   `json:"pods,omitempty"`
	Label string `json:"label"`
	Want  string `json:"want"`
	// Has is the current value; empty for none.
	Has string `json:"has,omitempty"`
}

// String is a line for people.
func (d LabelDrift) String() string {
	subject, has := d.Object, "is missing, not "
	if d.Pods {
		subject += ", pod template"
	}
	if d.Has != "" {
		has = "is " + d.Has + ", not "
	}
	return fmt.Sprintf("%s: the label %s %s%s", subject, d.Label, has, d.Want)
}

// LabelDrift compares the labels that the objects of the manifest get with those that they have. live
// returns the labels of an object and of its pod template, which may be nil, and false for one that does
// not exist or that was not read.
func (s *System) LabelDrift(live func(object.Ref) (own, pods map[string]string, ok bool)) []LabelDrift {
	if s.Labels == nil {
		return nil
	}
	copies, all := make([][]*unstructured.Unstructured, len(s.Apps)), []*unstructured.Unstructured(nil)
	for i := range s.Apps {
		for _, o := range s.Apps[i].Resources {
			copies[i] = append(copies[i], o.DeepCopy())
		}
		all = append(all, copies[i]...)
	}
	var out []LabelDrift
	for i := range s.Apps {
		app := s.Apps[i].Name
		s.SetLabels(app, s.ReleaseOf(app), copies[i], all)
		for _, o := range copies[i] {
			ref := object.RefOf(o)
			if ref.Namespace == "" {
				ref.Namespace = s.Namespace
			}
			own, pods, ok := live(ref)
			if !ok {
				continue
			}
			out = append(out, s.driftOf(LabelDrift{App: app, Object: ref.String()}, o, own, pods)...)
		}
	}
	return out
}

// driftOf compares the labels of one object, and of its pods.
func (s *System) driftOf(d LabelDrift, o *unstructured.Unstructured, own, pods map[string]string) (out []LabelDrift) {
	for _, key := range s.LabelKeys() {
		d.Label = key
		if want, set := o.GetLabels()[key]; set && own[key] != want {
			d.Pods, d.Want, d.Has = false, want, own[key]
			out = append(out, d)
		}
		if want, set := TemplateLabels(o)[key]; set && pods != nil && pods[key] != want {
			d.Pods, d.Want, d.Has = true, want, pods[key]
			out = append(out, d)
		}
	}
	return out
}

// liftLabels takes the labels that SetLabels set off the resources, into spec.labels: those of the user
// are what all have in common. Resources that do not all carry them stay as they are.
func (s *System) liftLabels() {
	var all []*unstructured.Unstructured
	for i := range s.Apps {
		all = append(all, s.Apps[i].Resources...)
	}
	selected, common := map[string]bool{}, map[string]string(nil)
	for _, o := range all {
		selectorKeys(o.Object, o.GetKind() == "Service" || o.GetKind() == "ReplicationController", selected)
		labels := o.GetLabels()
		if labels[partOfLabel] == "" || labels[instanceLabel] != labels[partOfLabel]+"-"+labels[componentLabel] {
			return
		}
		if common == nil {
			common = maps.Clone(labels)
		}
		maps.DeleteFunc(common, func(key, value string) bool {
			recommended := key == partOfLabel || key == instanceLabel || key == componentLabel || key == managedByLabel
			return labels[key] != value || selected[key] || recommended
		})
	}
	if len(all) == 0 {
		return
	}
	s.Labels = common
	for _, o := range all {
		removeLabels(o, common, selected)
	}
}

// removeLabels removes the labels that SetLabels sets, but for those that selectors read.
func removeLabels(o *unstructured.Unstructured, common map[string]string, selected map[string]bool) {
	own := o.GetLabels()
	for _, path := range labelPaths(o.GetKind()) {
		labels, found, err := unstructured.NestedStringMap(o.Object, path...)
		if !found || err != nil {
			continue
		}
		maps.DeleteFunc(labels, func(key, value string) bool {
			_, lifted := common[key]
			recommended := key == partOfLabel || key == instanceLabel || key == componentLabel
			return !selected[key] && (lifted || recommended && own[key] == value || key == managedByLabel && value == "Helm")
		})
		if unstructured.RemoveNestedField(o.Object, path...); len(labels) > 0 {
			_ = unstructured.SetNestedStringMap(o.Object, labels, path...) // The path was read above.
		}
	}
}

// labelPaths are where an object of a kind has labels that may be changed. Templates of Jobs and of
// claims are immutable.
func labelPaths(kind string) [][]string {
	paths := [][]string{{"metadata", "labels"}}
	switch kind {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController":
		paths = append(paths, []string{"spec", "template", "metadata", "labels"})
	case "CronJob":
		paths = append(paths, []string{"spec", "jobTemplate", "metadata", "labels"}, []string{"spec", "jobTemplate", "spec", "template", "metadata", "labels"})
	}
	return paths
}

// TemplateLabels returns the labels that an object gives its pods; nil for one that has none.
func TemplateLabels(o *unstructured.Unstructured) map[string]string {
	paths := labelPaths(o.GetKind())
	if len(paths) == 1 {
		return nil
	}
	labels, _, _ := unstructured.NestedStringMap(o.Object, paths[len(paths)-1]...)
	return labels
}

// selectorKeys adds the keys of all label selectors in an object. Those of Services and
// ReplicationControllers are plain maps.
func selectorKeys(at any, plain bool, into map[string]bool) {
	switch at := at.(type) {
	case []any:
		for _, item := range at {
			selectorKeys(item, plain, into)
		}
	case map[string]any:
		for name, value := range at {
			keys, _ := value.(map[string]any)
			list, _ := value.([]any)
			switch {
			case name == "matchLabels", name == "selector" && plain:
				for key := range keys {
					into[key] = true
				}
			case name == "matchExpressions":
				for _, item := range list {
					key, _, _ := unstructured.NestedString(map[string]any{"of": item}, "of", "key")
					into[key] = true
				}
			}
			selectorKeys(value, plain, into)
		}
	}
}
