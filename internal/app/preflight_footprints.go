package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"

	yamlv3 "go.yaml.in/yaml/v3"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// footprintNote is the annotation of a custom resource, or of the definition of its kind, that
// lists the pods of its footprint.
const footprintNote = "sysop.dev/footprint"

// maxFootprintBytes is above the size of any file of footprints.
const maxFootprintBytes = 4 << 20

// declaredFootprint is an entry of a file of footprints.
type declaredFootprint struct {
	kind            schema.GroupKind
	namespace, name string // empty for any
	pods            []preflight.PodFootprint
	Origin          string
	Used            bool
}

// ReadFootprints reads the file of --footprint; none without the flag. Any problem refuses the
// whole file.
func ReadFootprints(ctx context.Context, file string) ([]*declaredFootprint, error) {
	if file == "" {
		return nil, nil
	}
	data, err := userfile.Read(ctx, file, maxFootprintBytes, "file of footprints")
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("read the footprints: %w", err)
		}
		return nil, err
	}
	all, problems := parseFootprints(file, data)
	if len(problems) > 0 {
		return nil, hint.With(&hint.Lines{Lines: hint.Placed(file, problems)}, "docs/atomic.md has the grammar")
	}
	return all, nil
}

func parseFootprints(file string, data []byte) ([]*declaredFootprint, []strict.Problem) {
	root, problem := strict.Document(data)
	switch {
	case problem != nil:
		return nil, []strict.Problem{*problem}
	case root == nil:
		return nil, []strict.Problem{{Line: 1, Column: 1, Message: "it has no footprint"}}
	case root.Kind != yamlv3.SequenceNode:
		return nil, []strict.Problem{strict.At(root, "expected a list of footprints: - kind: ...")}
	}
	var all []*declaredFootprint
	var problems []strict.Problem
	for _, node := range root.Content {
		d := &declaredFootprint{Origin: file + ":" + strconv.Itoa(node.Line)}
		var m strict.Mapping
		m.Fields = []strict.Field{
			{Name: "kind", Required: true, Set: func(n *yamlv3.Node) {
				if d.kind = declare.GroupKind(m.Text(n)); d.kind.Group == "" {
					m.Report(n, "expected a kind with its group: Prometheus.monitoring.coreos.com")
				}
			}},
			{Name: "name", Set: func(n *yamlv3.Node) { d.name = m.Text(n) }},
			{Name: "namespace", Set: func(n *yamlv3.Node) { d.namespace = m.Text(n) }},
			{Name: "pods", Required: true, Set: func(n *yamlv3.Node) { d.pods = footprintPods(&m, n, d.Origin) }},
		}
		m.Read(node)
		all, problems = append(all, d), append(problems, m.Problems...)
	}
	return all, problems
}

// footprintPods reads a list of pods.
func footprintPods(m *strict.Mapping, n *yamlv3.Node, origin string) []preflight.PodFootprint {
	if n.Kind != yamlv3.SequenceNode {
		m.Report(n, "expected a list of pods: - replicas: ...")
		return nil
	}
	out := []preflight.PodFootprint{} // an empty list means that it runs nothing
	for _, item := range n.Content {
		r := &podReader{}
		f := preflight.PodFootprint{Replicas: 1, Origin: origin}
		f.Template.Spec.Containers = []corev1.Container{{Name: "footprint", Image: "footprint"}}
		container, spec := &f.Template.Spec.Containers[0], &f.Template.Spec
		r.Fields = []strict.Field{
			{Name: "replicas", Set: func(n *yamlv3.Node) { f.Replicas = r.count(n) }},
			{Name: "requests", Set: func(n *yamlv3.Node) { container.Resources.Requests = r.amounts(n) }},
			{Name: "limits", Set: func(n *yamlv3.Node) { container.Resources.Limits = r.amounts(n) }},
			{Name: "ports", Set: func(n *yamlv3.Node) { decodeInto(r, n, &container.Ports) }},
			{Name: "labels", Set: func(n *yamlv3.Node) { decodeInto(r, n, &f.Template.Labels) }},
			{Name: "nodeSelector", Set: func(n *yamlv3.Node) { decodeInto(r, n, &spec.NodeSelector) }},
			{Name: "tolerations", Set: func(n *yamlv3.Node) { decodeInto(r, n, &spec.Tolerations) }},
			{Name: "affinity", Set: func(n *yamlv3.Node) { decodeInto(r, n, &spec.Affinity) }},
			{Name: "topologySpreadConstraints", Set: func(n *yamlv3.Node) { decodeInto(r, n, &spec.TopologySpreadConstraints) }},
			{Name: "priorityClassName", Set: func(n *yamlv3.Node) { spec.PriorityClassName = r.Text(n) }},
			{Name: "runtimeClassName", Set: func(n *yamlv3.Node) { name := r.Text(n); spec.RuntimeClassName = &name }},
			{Name: "serviceAccountName", Set: func(n *yamlv3.Node) { spec.ServiceAccountName = r.Text(n) }},
			{Name: "hostNetwork", Set: func(n *yamlv3.Node) { spec.HostNetwork = r.Bool(n) }},
			{Name: "volumes", Set: func(n *yamlv3.Node) { decodeInto(r, n, &spec.Volumes) }},
		}
		r.Read(item)
		m.Problems = append(m.Problems, r.Problems...)
		out = append(out, f)
	}
	return out
}

// podReader reads one pod of a footprint.
type podReader struct{ strict.Mapping }

func (r *podReader) count(n *yamlv3.Node) int32 {
	v, err := strconv.ParseInt(n.Value, 10, 32)
	if n.Kind != yamlv3.ScalarNode || err != nil || v < 0 {
		r.Report(n, "expected a number of pods, 0 or more")
		return 0
	}
	return int32(v)
}

func (r *podReader) amounts(n *yamlv3.Node) corev1.ResourceList {
	out := corev1.ResourceList{}
	r.Entries(n, func(name string, value *yamlv3.Node) {
		q, err := resource.ParseQuantity(value.Value)
		if value.Kind != yamlv3.ScalarNode || err != nil || q.Sign() < 0 {
			r.Report(value, "%s: expected an amount such as 500m or 1Gi", name)
			return
		}
		out[corev1.ResourceName(name)] = q
	})
	return out
}

// decodeInto reads a part of the spec of a pod with Kubernetes's field names, and refuses unknown
// ones.
func decodeInto(r *podReader, n *yamlv3.Node, into any) {
	var value any
	err := n.Decode(&value)
	var text []byte
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		err = dec.Decode(into)
	}
	if err != nil {
		r.Report(n, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
}

// footprints finds the declared footprint of each custom resource of the batch: from the file, then
// from its own annotation, then from that of its definition.
func (a *Preflight) footprints(declared []*declaredFootprint) (map[object.Ref][]preflight.PodFootprint, error) {
	out := map[object.Ref][]preflight.PodFootprint{}
	for i := range a.batch {
		it := &a.batch[i]
		if d := nearestFootprint(declared, it.Ref); d != nil {
			d.Used, out[it.Ref] = true, d.pods
			continue
		}
		kind, served := a.Session.Kinds.Kind(it.Ref.GroupKind())
		if !served || !kind.Custom {
			continue
		}
		text, origin := it.Object.GetAnnotations()[footprintNote], "annotation of "+it.Ref.String()
		if text == "" {
			ref := object.Ref{Group: DefinitionKind.Group, Kind: DefinitionKind.Kind, Name: kind.String()}
			text, origin = a.noteOfDefinition(ref), "annotation of "+ref.String()
		}
		if text == "" {
			continue
		}
		pods, problems := parseFootprintNote(text, origin)
		if len(problems) > 0 {
			place := origin
			if it.Origin != "" {
				place = it.Origin + ": " + origin
			}
			return nil, hint.With(fmt.Errorf("%s %s: %s", place, footprintNote, problems[0]), "docs/atomic.md has the grammar")
		}
		out[it.Ref] = pods
	}
	return out, nil
}

func (a *Preflight) noteOfDefinition(ref object.Ref) string {
	for i := range a.batch {
		if a.batch[i].Ref == ref {
			return a.batch[i].Object.GetAnnotations()[footprintNote]
		}
	}
	text, _ := a.facts.Annotation(ref, footprintNote)
	return text
}

func parseFootprintNote(text, origin string) ([]preflight.PodFootprint, []strict.Problem) {
	root, problem := strict.Document([]byte(text))
	switch {
	case problem != nil:
		return nil, []strict.Problem{*problem}
	case root == nil:
		return nil, []strict.Problem{{Line: 1, Column: 1, Message: "it is empty"}}
	}
	var m strict.Mapping
	pods := footprintPods(&m, root, origin)
	return pods, m.Problems
}

// nearestFootprint returns the most specific entry for an object.
func nearestFootprint(declared []*declaredFootprint, ref object.Ref) *declaredFootprint {
	var best *declaredFootprint
	specificity := func(d *declaredFootprint) int {
		return len(slices.DeleteFunc([]string{d.name, d.namespace}, func(s string) bool { return s == "" }))
	}
	for _, d := range declared {
		if d.kind != ref.GroupKind() || d.name != "" && d.name != ref.Name || d.namespace != "" && d.namespace != ref.Namespace {
			continue
		}
		if best == nil || specificity(d) > specificity(best) {
			best = d
		}
	}
	return best
}

// Called names the objects of the entry in messages.
func (d *declaredFootprint) Called() string {
	return strings.TrimSuffix(d.kind.String()+" "+strings.Trim(d.namespace+"/"+d.name, "/"), " ")
}
