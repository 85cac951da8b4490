package manual

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Owns reports whether a ClusterServiceVersion owns the definition.
func Owns(csv map[string]any, definition string) bool {
	return slices.ContainsFunc(mapsOf(mapOf(csv, "spec", "customresourcedefinitions"), "owned"), func(m map[string]any) bool { return textOf(m, "name") == definition })
}

// Deployments returns the names of the Deployments of a ClusterServiceVersion.
func Deployments(csv map[string]any) []string {
	var out []string
	for _, d := range mapsOf(mapOf(csv, "spec", "install", "spec"), "deployments") {
		if name := textOf(d, "name"); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// ServiceVersion returns the version of the operator that a ClusterServiceVersion
// installs.
func ServiceVersion(csv map[string]any) string { return textOf(mapOf(csv, "spec"), "version") }

// Published returns the first valid example of the kind in a ClusterServiceVersion. Notes list the
// errors of the others.
func Published(csv map[string]any, d Definition, r Resource) (Draft, []string) {
	text := textOf(mapOf(csv, "metadata", "annotations"), "alm-examples")
	if text == "" {
		return Draft{}, nil
	}
	name := textOf(mapOf(csv, "metadata"), "name")
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return Draft{}, []string{fmt.Sprintf("the examples of ClusterServiceVersion %s are not JSON: %v", name, err)}
	}
	var notes []string
	for _, raw := range list {
		var o map[string]any
		if utiljson.Unmarshal(raw, &o) != nil || textOf(o, "kind") != r.Kind {
			continue
		}
		group, version, _ := strings.Cut(textOf(o, "apiVersion"), "/")
		if group != r.Group || !slices.Contains(d.Served(), version) {
			continue
		}
		schema := d.Schema(version)
		if wrong := Check(schema, o); len(wrong) > 0 {
			notes = append(notes, fmt.Sprintf("the example of ClusterServiceVersion %s does not fit the schema: %s", name, wrong[0]))
			continue
		}
		delete(o, "status")
		if meta := mapOf(o, "metadata"); meta != nil {
			delete(meta, "namespace") // that of its author
		}
		e := Draft{Object: o}
		e.Origin, e.Notes = "published with ClusterServiceVersion "+name+" (alm-examples)", []string{}
		return e.finish(schema), nil
	}
	return Draft{}, notes
}

// InstallerLabels are the labels of a definition that identify its installer.
type InstallerLabels struct {
	// ServiceVersions are those that installed it, in no order of age.
	ServiceVersions []object.Ref
	// Release is the Helm release; Chart the chart and its version, by a label.
	Release, ReleaseNamespace, Chart string
	// Name, Instance and Version are the recommended labels.
	Name, Instance, Version string
	// Webhook is the Service that converts objects between versions.
	Webhook object.Ref
}

const alongside = "operatorframework.io/installed-alongside-"

// MarksOf reads the installer labels of a definition.
func MarksOf(d Definition) InstallerLabels {
	var m InstallerLabels
	meta := mapOf(d.fields, "metadata")
	notes, labels := mapOf(meta, "annotations"), mapOf(meta, "labels")
	for key := range notes {
		if !strings.HasPrefix(key, alongside) {
			continue
		}
		if ns, name, ok := strings.Cut(textOf(notes, key), "/"); ok && ns != "" && name != "" && !strings.Contains(name, "/") {
			m.ServiceVersions = append(m.ServiceVersions, object.Ref{Group: "operators.coreos.com", Kind: "ClusterServiceVersion", Namespace: ns, Name: name})
		}
	}
	slices.SortFunc(m.ServiceVersions, object.Compare)
	m.Release, m.ReleaseNamespace, m.Chart = textOf(notes, "meta.helm.sh/release-name"), textOf(notes, "meta.helm.sh/release-namespace"), textOf(labels, "helm.sh/chart")
	m.Name, m.Instance, m.Version = textOf(labels, "app.kubernetes.io/name"), textOf(labels, "app.kubernetes.io/instance"), textOf(labels, "app.kubernetes.io/version")
	service := mapOf(d.fields, "spec", "conversion", "webhook", "clientConfig", "service")
	if service == nil {
		service = mapOf(d.fields, "spec", "conversion", "webhookClientConfig", "service")
	}
	if ns, name := textOf(service, "namespace"), textOf(service, "name"); ns != "" && name != "" {
		m.Webhook = object.Ref{Kind: "Service", Namespace: ns, Name: name}
	}
	return m
}

// Selects reports whether the selector of a Service matches the pods of a workload.
func Selects(service, workload map[string]any) bool {
	selector := mapOf(service, "spec", "selector")
	labels := mapOf(workload, "spec", "template", "metadata", "labels")
	for key, v := range selector {
		if labels[key] != v {
			return false
		}
	}
	return len(selector) > 0
}

// RunningOf describes what a workload runs.
func RunningOf(ref object.Ref, workload map[string]any, evidence string) Running {
	r := Running{Workload: ref.String(), Images: []string{}, Evidence: []string{evidence}, Version: textOf(mapOf(workload, "metadata", "labels"), "app.kubernetes.io/version")}
	for _, c := range mapsOf(mapOf(workload, "spec", "template", "spec"), "containers") {
		if image := textOf(c, "image"); image != "" && !slices.Contains(r.Images, image) {
			r.Images = append(r.Images, image)
		}
	}
	return r
}
