package monitor_test

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/monitor"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var update = flag.Bool("update", false, "draw the picture of the dashboard")

// board is the dashboard of a scope.
func board(t *testing.T, s monitor.Scope) map[string]any {
	t.Helper()
	for _, o := range monitor.Make(s).Objects {
		if text, found, _ := unstructured.NestedString(o, "data", s.Name+".json"); found {
			var out map[string]any
			if err := json.Unmarshal([]byte(text), &out); err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	t.Fatal("no dashboard is made")
	return nil
}

// sharing is the shop, in which web and worker share the database.
func sharing(t *testing.T) monitor.Scope {
	t.Helper()
	s := shop(t, "")
	i := slices.IndexFunc(s.Apps, func(a monitor.App) bool { return a.Name == "db" })
	s.System, s.Prices = true, &monitor.Prices{CPU: "0.031611", Memory: "0.004237", Currency: "USD"}
	s.Apps[i].Name, s.Apps[i].UsedBy = "shared", []string{"web", "worker"}
	s.Apps[i].Parts = map[object.Ref][]string{
		{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "db"}: {"web", "worker"},
		{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "files"}:   {"web"},
	}
	return s
}

// grafanaFields are the fields of the types of a dashboard, of testdata/grafana-fields.txt.
func grafanaFields(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/grafana-fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		out[words[0]] = map[string]string{}
		for _, word := range words[1:] {
			name, kind, _ := strings.Cut(word, ":")
			out[words[0]][name] = kind
		}
	}
	return out
}

// malformed finds the fields that a type of Grafana lacks, those of another kind, and required ones that are
// missing.
func malformed(types map[string]map[string]string, kind, path string, value any) (out []string) {
	isList := strings.HasSuffix(kind, "[]")
	if items, ok := value.([]any); ok && isList {
		for i, item := range items {
			out = append(out, malformed(types, strings.TrimSuffix(kind, "[]"), fmt.Sprintf("%s[%d]", path, i), item)...)
		}
		return out
	}
	fields, isMap := value.(map[string]any)
	if kind == "PanelOrRowPanel" {
		if kind = "Panel"; fields["type"] == "row" {
			kind = "RowPanel"
		}
	}
	fits := true
	switch kind {
	case "string", "VariableType", "StringOrMap":
		_, fits = value.(string)
	case "integer", "number":
		_, fits = value.(float64)
	case "boolean":
		_, fits = value.(bool)
	}
	if !fits || isList || types[kind] != nil && !isMap {
		return []string{fmt.Sprintf("%s is %v, want %s", path, value, kind)}
	}
	if types[kind] == nil {
		return nil
	}
	for name, inner := range fields {
		of, known := types[kind][name]
		if !known {
			out = append(out, path+"."+name+" is not in "+kind)
			continue
		}
		out = append(out, malformed(types, strings.TrimSuffix(of, "!"), path+"."+name, inner)...)
	}
	for name, of := range types[kind] {
		if _, has := fields[name]; strings.HasSuffix(of, "!") && !has {
			out = append(out, path+"."+name+" is missing")
		}
	}
	return out
}

// TestDashboardSchema: the dashboard has the fields of Grafana's schema, and all that it requires.
func TestDashboardSchema(t *testing.T) {
	types := grafanaFields(t)
	for _, problem := range malformed(types, "Dashboard", "", board(t, sharing(t))) {
		t.Error(problem)
	}
	wrong := map[string]any{"schemaVersion": "39", "templating": map[string]any{}, "panels": []any{map[string]any{"type": "row", "bad": 1.0}}}
	got := malformed(types, "Dashboard", "", wrong)
	slices.Sort(got)
	if want := []string{".annotations is missing", ".panels[0].bad is not in RowPanel", ".panels[0].collapsed is missing", ".panels[0].id is missing", ".panels[0].panels is missing", ".schemaVersion is 39, want integer"}; !slices.Equal(got, want) {
		t.Errorf("a wrong dashboard: %q, want %q", got, want)
	}
}

// TestDashboardUsers: the dashboard says which app uses which shared part.
func TestDashboardUsers(t *testing.T) {
	text, err := json.Marshal(board(t, sharing(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Shared, used by web, worker", `| StatefulSet/db | web, worker |`, `| PersistentVolumeClaim/files | web |`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if text, _ := json.Marshal(board(t, shop(t, ""))); strings.Contains(string(text), "Who uses what") {
		t.Error("nothing is shared, and a panel says who uses it")
	}
}

// TestDashboardPicture: the picture in docs/monitoring.md is the layout of the dashboard, with colours for a
// light and a dark page.
func TestDashboardPicture(t *testing.T) {
	const file = "../../docs/images/dashboard.svg"
	want := picture(t, board(t, sharing(t)))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("%s is not the layout of the dashboard: go test ./internal/monitor -run TestDashboardPicture -update draws it (%v)", file, err)
	}
	if err := xml.Unmarshal([]byte(want), new(any)); err != nil {
		t.Errorf("the picture is no XML: %v", err)
	}
}

// picture draws the panels of a dashboard where they are.
func picture(t *testing.T, dashboard map[string]any) string {
	t.Helper()
	const column, line, gap = 30, 14, 3
	panels, _, _ := unstructured.NestedSlice(dashboard, "panels")
	var b strings.Builder
	height := 0
	for _, item := range panels {
		p := item.(map[string]any)
		at := func(name string) int {
			n, found, err := unstructured.NestedFloat64(p, "gridPos", name)
			if !found || err != nil {
				t.Fatalf("panel %v: gridPos.%s: %v", p["title"], name, err)
			}
			return int(n)
		}
		x, y, w, h := at("x")*column, at("y")*line, at("w")*column, at("h")*line
		height = max(height, y+h)
		var title strings.Builder
		if err := xml.EscapeText(&title, []byte(p["title"].(string))); err != nil {
			t.Fatal(err)
		}
		if p["type"] == "row" {
			fmt.Fprintf(&b, "<text class=\"r\" x=\"%d\" y=\"%d\">%s</text>\n", x+gap, y+line-gap, &title)
			continue
		}
		fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\"/><text x=\"%d\" y=\"%d\">%s</text>\n", x+gap, y+gap, w-2*gap, h-2*gap, x+3*gap, y+line+2*gap, &title)
		units, _, _ := unstructured.NestedString(p, "fieldConfig", "defaults", "unit")
		sign := cmp.Or(map[string]string{"stat": "number", "text": "table"}[p["type"].(string)], "over time")
		if units != "" && units != "none" {
			sign += ", " + units
		}
		fmt.Fprintf(&b, "<text class=\"k\" x=\"%d\" y=\"%d\">%s</text>\n", x+3*gap, y+2*line+2*gap, sign)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="Layout of the dashboard">
<style>
text{font:12px sans-serif;fill:#1f2933}.r{font-weight:bold}.k{font-size:10px;fill:#52606d}rect{fill:#f5f7fa;stroke:#9aa5b1}
@media (prefers-color-scheme:dark){text{fill:#e5eaf1}.k{fill:#9fb3c8}rect{fill:#1f2933;stroke:#52606d}}
</style>
%[3]s</svg>
`, 24*column, height, b.String())
}
