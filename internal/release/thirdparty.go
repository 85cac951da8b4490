package release

import (
	"fmt"
	"slices"
	"strings"

	gomodule "golang.org/x/mod/module"
)

// thirdParty returns the file THIRD_PARTY_LICENSES: the modules of a binary, the addresses of their
// sources, and every text that must be distributed, equal ones once.
func thirdParty(o Options, all []Licensed) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s is built from these modules of others, each unchanged; npm: ones are in\nits page, minified.\n\n", o.Suite.Binary, o.Version)
	for _, l := range all {
		fmt.Fprintf(&out, "%s %s\n    licence: %s\n    source: %s\n", l.Module, l.Version, l.Expression(), sourceOf(l))
	}
	writeTexts(&out, "Notices", all, true)
	writeTexts(&out, "Licences", all, false)
	return []byte(out.String())
}

// sourceOf returns the public address of a module's source.
func sourceOf(l Licensed) string {
	if name, ok := strings.CutPrefix(l.Module, npm); ok {
		return "https://registry.npmjs.org/" + name + "/-/" + name[strings.LastIndex(name, "/")+1:] + "-" + l.Version + ".tgz"
	}
	path, err := gomodule.EscapePath(l.Module)
	version, err2 := gomodule.EscapeVersion(l.Version)
	if l.Module == stdlib || err != nil || err2 != nil {
		return "https://go.dev/dl/" + l.Version + ".src.tar.gz"
	}
	return "https://proxy.golang.org/" + path + "/@v/" + version + ".zip"
}

func writeTexts(out *strings.Builder, title string, all []Licensed, notices bool) {
	modules := map[string][]string{}
	var order []string
	for _, l := range all {
		for _, t := range l.Texts {
			if t.Notice != notices {
				continue
			}
			if modules[t.Text] == nil {
				order = append(order, t.Text)
			}
			modules[t.Text] = append(modules[t.Text], fmt.Sprintf("%s %s, %s", l.Module, l.Version, t.Name))
		}
	}
	// Longest lists first: those of most modules.
	slices.SortStableFunc(order, func(a, b string) int { return len(modules[b]) - len(modules[a]) })
	line := strings.Repeat("=", 80)
	fmt.Fprintf(out, "\n%s\n%s\n%s\n", line, title, line)
	for _, text := range order {
		fmt.Fprintf(out, "\nOf %s:\n\n%s\n%s\n", strings.Join(modules[text], "\n   "), text, strings.Repeat("-", 80))
	}
}
