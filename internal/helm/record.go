package helm

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"

	helm "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/release"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	v1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// marking sets the labels of the run on every new record, also on that of a rollback, which copies
// the labels of the earlier revision.
type marking struct {
	driver.Driver
	marks RecordLabels
}

// Create writes a new record.
func (m *marking) Create(key string, r release.Releaser) error {
	if v, ok := recorded(r); ok {
		labels := maps.Clone(v.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.DeleteFunc(labels, func(k, _ string) bool { return driver.ContainsSystemLabels(map[string]string{k: ""}) })
		maps.Copy(labels, m.marks.labels())
		v.Labels = labels
	}
	return m.Driver.Create(key, r)
}

// Update writes a record. The record of a release being uninstalled gets the labels of the run,
// which identify the run that may restore it.
func (m *marking) Update(key string, r release.Releaser) error {
	if v, ok := recorded(r); ok && v.Info != nil && (v.Info.Status == rcommon.StatusUninstalling || v.Info.Status == rcommon.StatusUninstalled) {
		labels := map[string]string{}
		maps.Copy(labels, v.Labels) // with Helm's own, which the driver adds itself
		maps.Copy(labels, m.marks.labels())
		v.Labels = labels
	}
	return m.Driver.Update(key, r)
}

// labels returns the labels of a record, without empty ones.
func (m RecordLabels) labels() map[string]string {
	out := map[string]string{
		RunLabel: m.Run, PackageLabel: m.Package, SystemLabel: m.System, SystemNamespaceLabel: m.SystemNamespace, VersionLabel: strings.ReplaceAll(m.Version, "+", "_"),
		InstallationLabel: m.Installation, InstallationNamespaceLabel: m.InstallationNamespace,
	}
	maps.DeleteFunc(out, func(_, v string) bool { return v == "" })
	return out
}

// marksOf reads the labels of a record.
func marksOf(labels map[string]string) RecordLabels {
	return RecordLabels{
		Run: labels[RunLabel], Package: labels[PackageLabel], System: labels[SystemLabel], SystemNamespace: labels[SystemNamespaceLabel],
		Version: strings.ReplaceAll(labels[VersionLabel], "_", "+"), Installation: labels[InstallationLabel], InstallationNamespace: labels[InstallationNamespaceLabel],
	}
}

func recorded(r release.Releaser) (*v1.Release, bool) {
	switch r := r.(type) {
	case *v1.Release:
		return r, r != nil
	case v1.Release:
		return &r, true
	}
	return nil, false
}

// records converts Helm's records, sorted by name and revision.
func (a *act) records(list []release.Releaser) ([]Record, error) {
	var out []Record
	for _, r := range list {
		v, ok := recorded(r)
		if !ok || v.Info == nil {
			return nil, fmt.Errorf("unknown type of Helm record: %T", r)
		}
		rec, err := a.record(v)
		if err != nil {
			return nil, fmt.Errorf("the record of revision %d of %s/%s: %w", v.Version, v.Namespace, v.Name, err)
		}
		out = append(out, rec)
	}
	slices.SortFunc(out, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Release.String(), b.Release.String()), a.Revision-b.Revision)
	})
	return out, nil
}

func (a *act) record(v *v1.Release) (Record, error) {
	out := Record{
		Release: ReleaseName{Name: v.Name, Namespace: v.Namespace}, Revision: v.Version, Status: string(v.Info.Status), Description: v.Info.Description,
		Updated: v.Info.LastDeployed, RollbackOf: v.Info.RollbackRevision, Manifest: v.Manifest, Values: v.Config, Notes: v.Info.Notes,
		ServerSide: v.ApplyMethod == string(v1.ApplyMethodServerSideApply),
		Marks:      marksOf(v.Labels),
	}
	if v.Chart != nil && v.Chart.Metadata != nil {
		out.Chart, out.Version, out.App = v.Chart.Metadata.Name, v.Chart.Metadata.Version, v.Chart.Metadata.AppVersion
	}
	objects, err := a.objectsOf(v.Manifest, v.Namespace)
	if err != nil {
		return out, err
	}
	for _, o := range objects {
		if strings.TrimSpace(strings.ToLower(o.GetAnnotations()[PolicyAnnotation])) == "keep" {
			out.Kept = append(out.Kept, object.RefOf(o))
			continue
		}
		out.Objects = append(out.Objects, object.RefOf(o))
	}
	for _, h := range v.Hooks {
		objects, err := a.objectsOf(h.Manifest, v.Namespace)
		if err != nil {
			return out, fmt.Errorf("hook %s: %w", h.Path, err)
		}
		for _, o := range objects {
			hook := HookObject{Object: object.RefOf(o)}
			for _, e := range h.Events {
				hook.Events = append(hook.Events, string(e))
			}
			out.Hooks = append(out.Hooks, hook)
		}
	}
	return out, nil
}

// PolicyAnnotation has the value keep on objects that Helm does not delete with their release.
const PolicyAnnotation = "helm.sh/resource-policy"

// objectsOf parses a manifest; a namespaced object without a namespace gets that of the release.
func (a *act) objectsOf(manifest, namespace string) ([]*unstructured.Unstructured, error) {
	if err := strict.CheckBounds([]byte(manifest)); err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(manifest), 4096)
	for {
		var fields map[string]any
		err := d.Decode(&fields)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		o := &unstructured.Unstructured{Object: fields}
		if len(fields) == 0 || o.GetKind() == "" {
			continue
		}
		if o.IsList() {
			list, err := o.ToList()
			if err != nil {
				return nil, err
			}
			for i := range list.Items {
				out = append(out, a.placed(&list.Items[i], namespace))
			}
			continue
		}
		out = append(out, a.placed(o, namespace))
	}
}

// placed sets the namespace of an object. An object whose kind is not served stays unchanged.
func (a *act) placed(o *unstructured.Unstructured, namespace string) *unstructured.Unstructured {
	gvk := o.GroupVersionKind()
	m, err := a.getter.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	switch {
	case err != nil:
	case m.Scope.Name() == meta.RESTScopeNameRoot:
		o.SetNamespace("")
	case o.GetNamespace() == "":
		o.SetNamespace(namespace)
	}
	return o
}

// copied returns a copy of a chart: Helm changes the dependencies of a chart that it is given.
func copied(c *helm.Chart) *helm.Chart {
	out := *c
	out.Values = copiedValues(c.Values)
	if c.Metadata != nil {
		m := *c.Metadata
		m.Dependencies = nil
		for _, d := range c.Metadata.Dependencies {
			if d != nil {
				one := *d
				m.Dependencies = append(m.Dependencies, &one)
			}
		}
		out.Metadata = &m
	}
	var parts []*helm.Chart
	for _, d := range c.Dependencies() {
		parts = append(parts, copied(d))
	}
	out.SetDependencies(parts...)
	return &out
}

func copiedValues(v map[string]any) map[string]any {
	if v == nil {
		return map[string]any{}
	}
	out, _ := copiedValue(v).(map[string]any)
	return out
}

// copiedValue copies maps and lists; runtime.DeepCopyJSONValue panics on an int.
func copiedValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = copiedValue(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copiedValue(e)
		}
		return out
	}
	return v
}

// logWriter logs what hooks print.
type logWriter struct{ log *slog.Logger }

func (w *logWriter) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		w.log.Info(strings.TrimRight(line, "\r\n"))
	}
	return len(b), nil
}
