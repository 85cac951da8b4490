package chart

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	helm "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// manifestsAnnotation marks the Chart.yaml of a chart made of manifests: its crds/ become
// Chart.Definitions.
const manifestsAnnotation = "sysop.dev/manifests"

// maxNameLength is Helm's limit for the name of a chart.
const maxNameLength = 250

// FromManifests makes a chart of objects, for plain manifests and for generated ones. Its templates
// render to exactly these objects, whatever template marks are in their text.
// CustomResourceDefinitions become Chart.Definitions. The same objects give the same bytes. The
// version must be a semantic one; a leading v is removed.
func FromManifests(name, version string, objects []*unstructured.Unstructured) (*Chart, error) {
	v, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	if err != nil {
		return nil, fmt.Errorf("make a chart of the manifests of %s: the version %q is not a semantic version: expected one like 1.2.3", name, version)
	}
	if name == "" || len(name) > maxNameLength || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return nil, fmt.Errorf("make a chart of the manifests of %q: it is not a chart name: expected lower case letters, digits and dashes, at most %d", name, maxNameLength)
	}
	meta, err := yaml.Marshal(map[string]any{
		"apiVersion": "v2", "name": name, "version": v.String(), "type": "application",
		"description": "The manifests of " + name + ".",
		"annotations": map[string]string{manifestsAnnotation: "true"},
	})
	if err != nil {
		return nil, err
	}
	files := []*archive.BufferedFile{{Name: "Chart.yaml", Data: meta}}
	var templates, definitions strings.Builder
	for i, o := range objects {
		if o == nil || o.Object == nil {
			return nil, fmt.Errorf("make a chart of the manifests of %s: object %d is empty", name, i+1)
		}
		text, err := write(o)
		if err != nil {
			return nil, fmt.Errorf("make a chart of the manifests of %s: %s: %w", name, object.RefOf(o), err)
		}
		if isDefinition(o) {
			definitions.WriteString("---\n" + text)
			continue
		}
		templates.WriteString("---\n" + strings.ReplaceAll(text, "{{", `{{"{{"}}`))
	}
	if templates.Len() > 0 {
		files = append(files, &archive.BufferedFile{Name: "templates/objects.yaml", Data: []byte(templates.String())})
	}
	if definitions.Len() > 0 {
		files = append(files, &archive.BufferedFile{Name: "crds/definitions.yaml", Data: []byte(definitions.String())})
	}
	data, err := pack(name, files)
	if err != nil {
		return nil, err
	}
	return Load(data, name, Limits{})
}

// ReadManifests reads the objects in files of plain manifests, strictly; files maps names to
// content. It splits lists, and renders no templates.
func ReadManifests(files map[string][]byte) ([]*unstructured.Unstructured, error) {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var objects []*unstructured.Unstructured
	grows := growth()
	for _, name := range names {
		docs, err := readFile(name, string(files[name]), grows)
		if err != nil {
			return nil, err
		}
		for _, d := range docs {
			if err := checkObject(d); err != nil {
				return nil, err
			}
			objects = append(objects, d.object)
		}
	}
	return objects, nil
}

// write returns an object as YAML that the engine does not change, except "{{". The engine removes
// "<no value>" from the output of templates; JSON can escape it.
func write(o *unstructured.Unstructured) (string, error) {
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		return "", err
	}
	if !strings.Contains(string(text), "<no value>") {
		return string(text), nil
	}
	escaped, err := json.Marshal(o.Object)
	if err != nil {
		return "", err
	}
	return string(escaped) + "\n", nil
}

// splitCRDs separates the definitions from the other files of a chart made of manifests.
func splitCRDs(files []*archive.BufferedFile) (rest, aside []*archive.BufferedFile, err error) {
	at := slices.IndexFunc(files, func(f *archive.BufferedFile) bool { return f.Name == "Chart.yaml" })
	if at < 0 {
		return nil, nil, fmt.Errorf("its directory has no Chart.yaml")
	}
	var meta struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
	}
	if err := yaml.Unmarshal(files[at].Data, &meta); err != nil {
		return nil, nil, fmt.Errorf("Chart.yaml: %w", err) //nolint:staticcheck // It begins with the name of a file.
	}
	if meta.Annotations[manifestsAnnotation] != "true" {
		return files, nil, nil
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name, "crds/") {
			aside = append(aside, f)
			continue
		}
		rest = append(rest, f)
	}
	return rest, aside, nil
}

func isDefinition(o *unstructured.Unstructured) bool {
	group, _, _ := strings.Cut(o.GetAPIVersion(), "/")
	return group == "apiextensions.k8s.io" && o.GetKind() == "CustomResourceDefinition"
}

func isNamespace(o *unstructured.Unstructured) bool {
	return o.GetAPIVersion() == "v1" && o.GetKind() == "Namespace"
}

// definitions reads the definitions of a chart in crds/; processed has the enabled subcharts.
func definitions(c *Chart, processed *helm.Chart) ([]document, error) {
	var docs []document
	for _, d := range c.Definitions {
		docs = append(docs, document{template: c.Name() + "/crds/" + d.GetName(), object: d.DeepCopy()})
	}
	grows := growth()
	for _, f := range processed.CRDObjects() {
		read, err := readFile(f.Filename, string(f.File.Data), grows)
		if err != nil {
			return nil, err
		}
		docs = append(docs, read...)
	}
	return docs, nil
}
