package install

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Need is what a part of an installation requires and provides, recorded when it was installed. A
// removal consults this record, not today's catalog.
type Need struct {
	// Part is the package; empty for the System itself, with its apps.
	Part     string              `json:"part,omitempty"`
	Version  string              `json:"version,omitempty"`
	Requires []solve.Requirement `json:"requires,omitempty"`
	Provides []solve.API         `json:"provides,omitempty"`
}

// Needs returns the current needs of the parts of an installation: those after the last run, and
// those of the open run.
func (j *Journal) Needs() []Need {
	var out []Need
	if n := len(j.Runs); n > 0 {
		out = append(out, j.Runs[n-1].Needs...)
	}
	if j.Run != nil {
		out = append(out, j.Run.Needs...)
	}
	return out
}

// NeedsWithout returns the needs without those of removed packages. For a removed System, only the
// needs of its operators stay.
func (j *Journal) NeedsWithout(parts []*Part) []Need {
	return slices.DeleteFunc(j.Needs(), func(n Need) bool {
		return n.Part == "" || slices.ContainsFunc(parts, func(p *Part) bool { return !p.App && p.Name == n.Part })
	})
}

// needsAfter returns the needs to record at the end of a run: its own if it is done, else the
// former ones.
func (j *Journal) needsAfter(result string) []Need {
	if result == ResultDone {
		return j.Run.Needs
	}
	if n := len(j.Runs); n > 0 {
		return j.Runs[n-1].Needs
	}
	return nil
}

// Serves returns the APIs of the definitions of a package.
func (s *State) Serves(name string) []solve.API {
	var out []solve.API
	for _, n := range s.definitionsOf(name) {
		out = append(out, Defined(s.Definitions[n]))
	}
	return out
}

// Defined returns the API that a definition serves.
func Defined(definition *unstructured.Unstructured) solve.API {
	out := solve.API{Kind: kindText(kindOf(definition))}
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		m, _ := v.(map[string]any)
		if served, _ := m["served"].(bool); served {
			name, _ := m["name"].(string)
			out.Versions = append(out.Versions, name)
		}
	}
	return out
}

// Installations returns the installations whose journals may have the needs of a release: its
// System, the installation that created it, the package itself.
func (r *LiveRelease) Installations() []Installation {
	var out []Installation
	add := func(name, namespace string, system bool) {
		if in := (Installation{Name: name, Namespace: namespace, System: system}); name != "" && namespace != "" && !slices.Contains(out, in) {
			out = append(out, in)
		}
	}
	add(r.Labels[helm.SystemLabel], r.Labels[helm.SystemNamespaceLabel], true)
	add(r.Labels[helm.InstallationLabel], r.Labels[helm.InstallationNamespaceLabel], false)
	add(r.Labels[helm.PackageLabel], r.Namespace, false)
	return out
}
