package catalog_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

// leaves visits the values of nested fields, with their paths; an empty mapping is one.
func leaves(fields map[string]any, path string, visit func(path string, value any)) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		inner, isMap := fields[key].(map[string]any)
		if at := strings.TrimPrefix(path+"."+key, "."); isMap && len(inner) > 0 {
			leaves(inner, at, visit)
		} else {
			visit(at, fields[key])
		}
	}
}

// fits says whether a published type allows a value.
func fits(published string, value any) bool {
	kind, values, listed := strings.Cut(published, "=")
	switch v := value.(type) {
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string" && (!listed || slices.Contains(strings.Split(values, "|"), v))
	case map[string]any:
		return kind == "object"
	}
	return false
}

// TestSwitches: each field of a switch for metrics is one of the published definition, of every version
// that the entry names, and of a type that the value has.
func TestSwitches(t *testing.T) {
	text, err := os.ReadFile("testdata/switches.txt")
	if err != nil {
		t.Fatal(err)
	}
	published := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 4 && words[0] != "#" {
			published[strings.Join(words[:3], " ")] = words[3]
		}
	}
	unused := maps.Clone(published)
	kinds := 0
	for _, e := range catalog.All() {
		for _, k := range e.Kinds {
			if k.Monitoring == nil {
				continue
			}
			kinds++
			check := func(path string, value any) {
				if strings.HasPrefix(path, "metadata.") {
					return
				}
				for _, version := range k.Versions {
					key := k.Kind + " " + version + " " + path
					delete(unused, key)
					if kind, ok := published[key]; !ok || !fits(kind, value) {
						t.Errorf("%s is %v: the published type is %q", key, value, kind)
					}
				}
			}
			leaves(k.Monitoring.Set, "", check)
			leaves(k.Monitoring.HTTPS, "", check)
			if k.Monitoring.Creates != "" && len(k.Monitoring.Set) == 0 {
				t.Errorf("%s: its operator creates %s by no switch", k.Kind, k.Monitoring.Creates)
			}
		}
	}
	if len(unused) > 0 || kinds < 25 {
		t.Errorf("fields without a switch: %v; %d kinds", slices.Sorted(maps.Keys(unused)), kinds)
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		published string
		value     any
		want      bool
	}{
		{"boolean", true, true}, {"boolean", "true", false}, {"string=a|b", "b", true}, {"string=a|b", "c", false}, {"object", map[string]any{}, true}, {"string", map[string]any{}, false}, {"integer", "1", false},
	} {
		if got := fits(c.published, c.value); got != c.want {
			t.Errorf("%v fits %s: %t", c.value, c.published, got)
		}
	}
}
