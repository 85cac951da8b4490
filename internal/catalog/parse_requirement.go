package catalog

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// parseProvides reads the APIs that a version brings.
func parseProvides(all *strict.Mapping, n *yaml.Node) []solve.API {
	var apis []solve.API
	for _, item := range items(all, n, "expected a list of the APIs that the version provides: {kind: Kind.group, versions: [v1]}", maxItems) {
		var a solve.API
		at := item
		part(all, item, func(m *strict.Mapping) []strict.Field {
			return []strict.Field{
				{Name: "kind", Required: true, Set: func(n *yaml.Node) { at = n; a.Kind = groupKindAt(m, n) }},
				{Name: "versions", Required: true, Set: func(n *yaml.Node) { a.Versions = apiVersionsAt(m, n) }},
			}
		})
		if a.Kind != "" && slices.ContainsFunc(apis, func(o solve.API) bool { return o.Kind == a.Kind }) {
			all.Report(at, "a second %s: expected one", field.Shorten(a.Kind))
		}
		apis = append(apis, a)
	}
	return apis
}

// parseRequirements reads what a version needs or, where packages alone can be named, what
// it cannot be together with.
func parseRequirements(all *strict.Mapping, n *yaml.Node, conflicts bool) []solve.Requirement {
	want := "expected a list of what the version needs: {api: Kind.group} or {package: NAME}"
	if conflicts {
		want = "expected a list of packages that it conflicts with: {package: NAME}"
	}
	var requirements []solve.Requirement
	for _, item := range items(all, n, want, maxItems) {
		r := parseRequirement(all, item, conflicts)
		if slices.ContainsFunc(requirements, func(o solve.Requirement) bool { return o.Package == r.Package && o.API.Kind == r.API.Kind }) && r.Package+r.API.Kind != "" {
			all.Report(item, "a second item for %s: expected one", field.Shorten(r.Package+r.API.Kind))
		}
		requirements = append(requirements, r)
	}
	return requirements
}

func parseRequirement(all *strict.Mapping, n *yaml.Node, conflict bool) solve.Requirement {
	var r solve.Requirement
	nodes := map[string]*yaml.Node{}
	part(all, n, func(m *strict.Mapping) []strict.Field {
		fields := []strict.Field{
			{Name: "package", Required: conflict, Set: func(n *yaml.Node) { nodes["package"] = n; r.Package = labelAt(m, n) }},
			{Name: "version", Set: func(n *yaml.Node) { nodes["version"] = n; r.Range = rangeAt(m, n) }},
		}
		if conflict {
			return fields
		}
		return append(
			fields,
			strict.Field{Name: "api", Set: func(n *yaml.Node) { nodes["api"] = n; r.API.Kind = groupKindAt(m, n) }},
			strict.Field{Name: "versions", Set: func(n *yaml.Node) { nodes["versions"] = n; r.API.Versions = apiVersionsAt(m, n) }},
			strict.Field{Name: "optional", Set: func(n *yaml.Node) { r.Optional = m.Bool(n) }},
		)
	})
	switch api, name := nodes["api"], nodes["package"]; {
	case conflict || n.Kind != yaml.MappingNode:
	case api != nil && name != nil:
		all.Report(name, "api and package exclude each other: expected one of them")
	case api == nil && name == nil:
		all.Report(n, "the requirement is empty: expected api or package")
	case api != nil && nodes["version"] != nil:
		all.Report(nodes["version"], "version is a range of a package: those of an API are its versions, [v1]")
	case name != nil && nodes["versions"] != nil:
		all.Report(nodes["versions"], "versions are those of an API: the range of a package is its version, \">=1.14 <2\"")
	}
	return r
}

// groupKindAt reads a kind that has a group.
func groupKindAt(m *strict.Mapping, n *yaml.Node) string {
	before := len(m.Problems)
	text := kindAt(m, n)
	if len(m.Problems) == before && !strings.Contains(text, ".") {
		m.Report(n, "%q has no group: expected Kind.group", field.Shorten(text))
	}
	return text
}

// apiVersionsAt reads versions as APIs have them: v1, v1beta1.
func apiVersionsAt(m *strict.Mapping, n *yaml.Node) []string {
	var all []string
	for _, item := range items(m, n, "expected a list of versions: [v1]", maxItems) {
		text := short(m, item)
		switch {
		case text == "":
		case len(validation.IsDNS1035Label(text)) > 0:
			m.Report(item, "%q is not an API version: expected v1, v1beta1", field.Shorten(text))
		case slices.Contains(all, text):
			m.Report(item, "a second %s: expected one", text)
		default:
			all = append(all, text)
		}
	}
	return all
}

// parseReady reads the workloads that are to be waited for.
func parseReady(all *strict.Mapping, n *yaml.Node) []Workload {
	var workloads []Workload
	for _, item := range items(all, n, "expected a list of workloads: {kind: Deployment.apps, name: NAME}", maxItems) {
		var w Workload
		part(all, item, func(m *strict.Mapping) []strict.Field {
			return []strict.Field{
				{Name: "kind", Required: true, Set: func(n *yaml.Node) { w.Kind = groupKindAt(m, n) }},
				{Name: "name", Required: true, Set: func(n *yaml.Node) {
					if w.Name = short(m, n); w.Name != "" && len(validation.IsDNS1123Subdomain(w.Name)) > 0 {
						m.Report(n, "%q is not an object name: expected lower-case letters, digits, dashes and dots", field.Shorten(w.Name))
					}
				}},
			}
		})
		if w != (Workload{}) && slices.Contains(workloads, w) {
			all.Report(item, "a second %s %s: expected one", field.Shorten(w.Kind), field.Shorten(w.Name))
		}
		workloads = append(workloads, w)
	}
	return workloads
}
