package install

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// Need is what a part of an installation requires and provides, as it was known when it was
// made: whoever takes away what it needs asks here, and not what a catalogue says today.
type Need struct {
	// Part is the package; empty for the System itself, with its apps.
	Part     string              `json:"part,omitempty"`
	Version  string              `json:"version,omitempty"`
	Requires []solve.Requirement `json:"requires,omitempty"`
	Provides []solve.API         `json:"provides,omitempty"`
}

// Needs are what the parts of an installation need now: as the last run left them, and as the
// run that is not ended wants them.
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

// NeedsWithout are those of the journal but for packages that go; of a System that goes, the
// needs of the operators alone, which stay.
func (j *Journal) NeedsWithout(parts []*Part) []Need {
	return slices.DeleteFunc(j.Needs(), func(n Need) bool {
		return n.Part == "" || slices.ContainsFunc(parts, func(p *Part) bool { return !p.App && p.Name == n.Part })
	})
}

// needsAfter are those that are written down when a run ends: those of the run where it is
// done, else those from before it.
func (j *Journal) needsAfter(result string) []Need {
	if result == ResultDone {
		return j.Run.Needs
	}
	if n := len(j.Runs); n > 0 {
		return j.Runs[n-1].Needs
	}
	return nil
}

// Serves are the APIs of the definitions that a package brought.
func (s *State) Serves(name string) []solve.API {
	var out []solve.API
	for _, n := range s.definitionsOf(name) {
		out = append(out, Defined(s.Definitions[n]))
	}
	return out
}

// Defined is the API that a definition serves.
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

// Installations are those whose journals may say what a release needs: the System that it is
// of, the installation that made it, the package itself.
func (r *LiveRelease) Installations() []Installation {
	var out []Installation
	add := func(name, namespace string, system bool) {
		if in := (Installation{Name: name, Namespace: namespace, System: system}); name != "" && namespace != "" && !slices.Contains(out, in) {
			out = append(out, in)
		}
	}
	add(r.Labels[SystemLabel], r.Labels[SystemNamespaceLabel], true)
	add(r.Labels[InstallationLabel], r.Labels[InstallationNamespaceLabel], false)
	add(r.Labels[PackageLabel], r.Namespace, false)
	return out
}
