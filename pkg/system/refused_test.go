package system_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

const head = `apiVersion: sysop.dev/v1alpha1
kind: System
metadata: {name: a, namespace: n}
spec:
  values: {text: "0123456789", deep: {list: [1, 2, 3]}}
  apps:
  - name: web
    roots: [deployment/web]
`

// told are the problems of a text, a line each.
func told(text string) string {
	_, problems := system.Parse("f", []byte(text))
	var all []string
	for _, p := range problems {
		all = append(all, p.String())
	}
	return strings.Join(all, "\n")
}

// TestRefusedTexts: what is no manifest is refused with a word, and quickly.
func TestRefusedTexts(t *testing.T) {
	laughs := "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"# nothing\n---\n", "line 1, column 1: the file is empty: expected a document of apiVersion sysop.dev/v1alpha1, kind System"},
		"large":            {head + strings.Repeat("# filler\n", 1<<17), "line 1, column 1: it has more than 1 MiB"},
		"not YAML":         {"a: [", "not YAML"},
		"a list":           {"- a", "line 1, column 1: expected a document of apiVersion"},
		"two documents":    {head + "---\nkind: ConfigMap\n", "line 10, column 1: a second document: a manifest is one"},
		"another kind":     {"apiVersion: v1\nkind: ConfigMap\n", `line 2, column 7: kind: there is no "ConfigMap": expected System`},
		"an alias":         {strings.Replace(head, "[deployment/web]", "&r [deployment/web]\n  - {name: b, roots: *r}", 1), "line 9, column 22: spec.apps[1]: aliases are not read"},
		"aliased item":     {strings.Replace(head, "[deployment/web]", "[&r deployment/web, *r]", 1), "spec.apps[0].roots[1]: aliases are not read"},
		"aliased value":    {strings.Replace(head, "deep: {", "one: &o 1, two: [*o], deep: {", 1), "spec.values.two[0]: aliases are not read"},
		"a merge":          {strings.Replace(head, "deep: {", "deep: {<<: {a: 1}, ", 1), "spec.values.deep: merge keys are not read: write the fields out"},
		"merged fields":    {head + "    <<: {operator: x}\n", `spec.apps[0]: unknown key "<<"`},
		"laughs":           {laughs + head, "unknown key"},
		"deep":             {strings.Replace(head, "deep: {", "x: "+strings.Repeat("[", 200)+strings.Repeat("]", 200)+", deep: {", 1), "it is nested more than 100 deep"},
		"infinite":         {strings.Replace(head, "deep: {", "x: .inf, deep: {", 1), "spec.values.x: .inf is not a JSON value"},
		"key of a value":   {strings.Replace(head, "deep: {", "1: x, deep: {", 1), "spec.values: the key 1 is not a string: put it in quotes"},
		"twice in value":   {strings.Replace(head, "deep: {", "text: x, deep: {", 1), "spec.values: a second text: expected one"},
		"a List":           {head + "    resources: [{apiVersion: v1, kind: List, metadata: {name: x}, items: []}]\n", "it is a list: write an item for each object"},
		"no kind":          {head + "    resources: [{apiVersion: v1, metadata: {name: x}}]\n", "spec.apps[0].resources[0]: kind is missing"},
		"twice brought":    {head + "    resources:\n    - &x {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\n    - {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\n", "line 11, column 7: spec.apps[0].resources[1]: a second ConfigMap/x: expected one"},
		"brought by two":   {head + "    resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}]\n  - {name: b, resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: n}}]}\n", "spec.apps[1].resources[0]: ConfigMap/n/x is already a root of app web"},
		"two operators":    {head + "  operators: [{name: redis}, {name: redis}]\n", "spec.operators[1]: a second operator redis: the first is on line 9"},
		"an input of two":  {head + "  inputs: [{secret: a, configMap: b}]\n", "spec.inputs[0]: expected either secret or configMap"},
		"an input of none": {head + "  inputs: [{keys: [a]}]\n", "spec.inputs[0]: expected either secret or configMap"},
		"no object name":   {head + "  inputs: [{secret: A/b}]\n", "is not an object name"},
		"regulate":         {head + "  upgrade: {regulate: maybe}\n", "spec.upgrade.regulate: expected true"},
		"an interval":      {head + "  monitoring: {interval: 0s}\n", "spec.monitoring.interval: expected more than 0s"},
		"a label":          {head + "  monitoring: {labels: {release: a b}}\n", `spec.monitoring.labels.release: "a b" is not the value of a label`},
		"a label key":      {head + "  monitoring: {labels: {a b: c}}\n", `"a b" is not a label`},
		"a threshold":      {head + "  monitoring: {thresholds: {memoryPercents: 90}}\n", `did you mean memoryPercent?`},
		"a threshold of 0": {head + "  monitoring: {thresholds: {memoryPercent: 0}}\n", "expected a number above 0"},
		"monitored":        {head + "    monitoring: true\n", "spec.apps[0].monitoring: expected false, or port and path"},
		"a port":           {head + "    monitoring: {port: 70000}\n", "spec.apps[0].monitoring.port: 70000 is not a port"},
		"a port name":      {head + "    monitoring: {port: a_b}\n", "is not a port"},
		"a metrics path":   {head + "    monitoring: {path: metrics}\n", "is not a path: it begins with /"},
		"no check":         {head + "  backup: {verify: {timeout: 5m}}\n", "spec.backup.verify: expected one of job, http, exec"},
		"two checks":       {head + "  backup: {verify: {exec: {command: [a]}, http: {service: web, port: 80}}}\n", "spec.backup.verify: expected one of job, http, exec"},
		"a probe":          {head + "  backup: {verify: {http: {service: web, port: 80, path: x}}}\n", "spec.backup.verify.http.path: \"x\" is not a path: it begins with /"},
		"a check's job":    {head + "  backup: {verify: {job: {template: {}}}}\n", "spec.backup.verify.job.template: template is missing"},
		"nothing left":     {head + "  - name: b\n    resources: [{template: \"# none\"}]\n", "spec.apps[1]: the app is empty: expected roots, or resources"},
	} {
		if got := told(c.text); !strings.Contains(got, c.want) {
			t.Errorf("%s: told\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestProblemsAreBounded: of many problems the first are told, and how many more there are.
func TestProblemsAreBounded(t *testing.T) {
	_, problems := system.Parse("f", []byte(head+strings.Repeat("    wrong: 1\n", 300)))
	if len(problems) != 100 || !strings.HasSuffix(problems[99].Message, "; and 200 problems more") {
		t.Errorf("%d problems: %v", len(problems), problems[len(problems)-1])
	}
}

// TestTemplates: what a template is filled in to, and what it cannot do: go on for good,
// take all memory, look at what is not the manifest's.
func TestTemplates(t *testing.T) {
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  v: "
	for name, c := range map[string]struct{ template, want string }{
		"values":        {object + `{{ .Values.text | quote }}`, ""},
		"nothing":       {object + `{{ index .Values "none" | default .System | quote }}`, ""},
		"required":      {object + `{{ required "name it" (index .Values "none") }}`, "name it"},
		"missing key":   {object + `{{ .Values.none }}`, `line 5: executing "resources" at <.Values.none>: map has no entry for key "none"`},
		"syntax":        {object + `{{ if }}`, "line 5: missing value for if"},
		"no function":   {object + `{{ env "HOME" }}`, `function "env" not defined`},
		"no file":       {object + `{{ readFile "/etc/passwd" }}`, `function "readFile" not defined`},
		"for web pages": {object + `{{ html "a" }}`, "it is not available in a manifest"},
		"not YAML":      {"a: [", "the template of app web renders to not YAML"},
		"no object":     {"a: 1", "document 1 of the template of app web, line 1 of the output: apiVersion is missing"},
		"endless loop":  {`{{ range 99999999999 }}{{ end }}`, "it does not terminate: it has"},
		"nested loops":  {`{{ range 9999 }}{{ range 9999 }}{{ if true }}{{ end }}{{ end }}{{ end }}`, "it does not terminate: it has"},
		"calls itself":  {`{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`, "it does not terminate: it has"},
		"doubling":      {`{{ $x := .Values.text }}{{ range 100 }}{{ $x = print $x $x }}{{ end }}`, "its intermediate output is too large"},
		"wide":          {`{{ printf "%999999d" 1 }}`, "printf requires a short format"},
		"positions":     {`{{ printf "%[1]s%[1]s" "x" }}`, "printf requires a short format"},
		"indented":      {`{{ indent 1000000 "x" }}`, "expected 0 to 100 columns"},
		"long":          {`{{ range 9999 }}` + strings.Repeat("#", 500) + "\n{{ end }}", "its output has more than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			text := head + "    resources:\n    - template: |\n        " + strings.ReplaceAll(c.template, "\n", "\n        ") + "\n"
			got := told(text)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("told %q, want %q", got, c.want)
			}
			if took := time.Since(began); took > timeout.Scaled(4*time.Second) {
				t.Errorf("it takes %s", took)
			}
		})
	}
}

// TestResources: what comes out of templates is among the resources and the roots, once.
func TestResources(t *testing.T) {
	s := read(t, "testdata/full.yaml")
	web, ok := s.App("web")
	if !ok || len(web.Resources) != 3 {
		t.Fatalf("%+v", web)
	}
	hosts := web.Resources[1]
	data, _ := hosts.Object["data"].(map[string]any)
	if hosts.GetName() != "shop-hosts" || hosts.GetNamespace() != "shop" || data["image"] != "nginx:1.29" || data["size"] != "3" || data["motd"] != "hello" || data["hosts"] != "- a.example.com\n- b.example.com\n" {
		t.Errorf("filled in to %v", hosts.Object)
	}
	var roots []string
	for _, r := range web.Roots {
		roots = append(roots, r.String())
	}
	if got := strings.Join(roots, " "); got != "deployment/web ConfigMap/web-settings ConfigMap/shop/shop-hosts" {
		t.Errorf("roots %s", got)
	}
}

// TestWords: rules and actions in a sentence.
func TestWords(t *testing.T) {
	s := read(t, "testdata/full.yaml")
	web, _ := s.App("web")
	got := []string{s.Regulation.Rules[0].Words(), s.Regulation.Rules[1].Words(), strings.Join(web.Signals(), " ")}
	for _, signal := range web.Signals() {
		for i := range web.On[signal] {
			got = append(got, web.On[signal][i].Words())
		}
	}
	want := []string{
		"when any app is Degraded or Missing or is being upgraded for 30s, Stop to its neighbours, and the neighbours of these; Recover when that has been over for 1m",
		"when db is being upgraded, drain to web, mail; Recover when that has been over for 30s",
		"Stop Recover drain",
		"scale to 0: deployment/web, cronjob", "json patch", "merge patch of status", "annotate example.com/hold=true, old.key-", "label tier=",
		"suspend CronJobs", "stop traffic", "restart", "run a Job (within 5m)", "POST to hooks.example.com",
		"run sh; back: run echo (within 1m30s)", "POST to hooks.example.com",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("in words\n%s\nwant\n%s", g, w)
	}
}

// TestParseWith: values from outside are laid over those of the manifest before templates
// are filled in.
func TestParseWith(t *testing.T) {
	text := head + `    resources:
    - template: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: made}
        data: {text: {{ .Values.text | quote }}, one: {{ index .Values.deep.list 0 | quote }}, host: {{ .Values.deep.host }}}
`
	if _, problems := system.Parse("f", []byte(text)); len(problems) == 0 {
		t.Fatal("a value that is not there was read")
	}
	s, problems := system.ParseWith("f", []byte(text), map[string]any{"text": "other", "deep": map[string]any{"host": "db"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := s.Apps[0].Resources[0].Object["data"]; !reflect.DeepEqual(got, map[string]any{"text": "other", "one": "1", "host": "db"}) {
		t.Errorf("filled in with %v", got)
	}
}
