package manual

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Definition is a CustomResourceDefinition, as maps and lists.
type Definition struct {
	fields map[string]any
}

// NewDefinition takes ownership of a CustomResourceDefinition; it may be nil.
func NewDefinition(fields map[string]any) Definition { return Definition{fields} }

// Known reports whether there is one.
func (d Definition) Known() bool { return d.fields != nil }

// Name returns the name of the definition.
func (d Definition) Name() string { return textOf(mapOf(d.fields, "metadata"), "name") }

func (d Definition) versions() []map[string]any { return mapsOf(mapOf(d.fields, "spec"), "versions") }

func (d Definition) version(name string) map[string]any {
	for _, v := range d.versions() {
		if textOf(v, "name") == name {
			return v
		}
	}
	return nil
}

// Served returns the names of the served versions.
func (d Definition) Served() []string {
	var out []string
	for _, v := range d.versions() {
		if boolOf(v, "served") {
			out = append(out, textOf(v, "name"))
		}
	}
	return out
}

// Schema returns the schema of a version, or nil.
func (d Definition) Schema(version string) map[string]any {
	if s := mapOf(d.version(version), "schema", "openAPIV3Schema"); s != nil {
		return s
	}
	// apiextensions.k8s.io/v1beta1 has one for all versions.
	return mapOf(d.fields, "spec", "validation", "openAPIV3Schema")
}

// Columns returns the printer columns of a version.
func (d Definition) Columns(version string) []Column {
	list := mapsOf(d.version(version), "additionalPrinterColumns")
	if list == nil {
		list = mapsOf(mapOf(d.fields, "spec"), "additionalPrinterColumns")
	}
	out := []Column{}
	for _, c := range list {
		path := textOf(c, "jsonPath")
		if path == "" {
			path = textOf(c, "JSONPath")
		}
		priority, _ := numberOf(c, "priority")
		out = append(out, Column{Name: textOf(c, "name"), Type: textOf(c, "type"), Path: path, Description: sentence(textOf(c, "description")), Wide: priority > 0})
	}
	return out
}

// Resource describes the kind, in the version of r.
func (d Definition) Resource(r object.Resource) Resource {
	out := Resource{
		Kind: r.Kind, Group: r.Group, Version: r.Version, Plural: r.Plural, Singular: r.Singular, ShortNames: texts(r.ShortNames), Categories: texts(r.Categories),
		Namespaced: r.Namespaced, Custom: r.Custom, Versions: []Version{},
	}
	if !d.Known() {
		return out
	}
	out.Definition = d.Name()
	out.Description = textOf(d.Schema(r.Version), "description")
	was := textsOf(mapOf(d.fields, "status"), "storedVersions")
	for _, v := range d.versions() {
		one := Version{Name: textOf(v, "name"), Served: boolOf(v, "served"), Stored: boolOf(v, "storage"), Deprecated: boolOf(v, "deprecated"), Warning: textOf(v, "deprecationWarning")}
		one.WasStored = !one.Stored && slices.Contains(was, one.Name)
		out.Versions = append(out.Versions, one)
	}
	return out
}

func texts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
