package luahealth

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// objectOf is a custom resource of YAML.
func objectOf(t testing.TB, text string) object.Object {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	gvk := u.GroupVersionKind()
	ref := object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
	return object.Object{Ref: ref, Version: gvk.Version, Meta: u, Body: u}
}

const backup = `
apiVersion: shop.example.com/v1
kind: Backup
metadata: {name: nightly, namespace: shop, labels: {b: "2", a: "1"}}
spec: {copies: 3, paused: false}
status:
  phase: Done
  size: 12.5
  conditions:
  - {type: Ready, status: "True", message: all is there}
  - null
  - {type: Old, status: "False"}
`

// setOf has one script, for all kinds.
func setOf(t testing.TB, script string, open bool) *Set {
	t.Helper()
	s, notes := OfConfigMap("argocd/argocd-cm", map[string]string{"resource.customizations.health.all": script, "resource.customizations.useOpenLibs.all": fmt.Sprint(open)})
	if len(notes) > 0 {
		t.Fatal(notes)
	}
	return s
}

func TestAssess(t *testing.T) {
	tests := []struct {
		name, script string
		want         health.Status
		message      string
	}{
		{"status and message", `hs = {} hs.status = "Degraded" hs.message = "no disk" return hs`, health.Degraded, "no disk (by argocd-cm (argocd/argocd-cm, resource.customizations.health.all))"},
		{"status alone", `return {status = "Healthy"}`, health.Healthy, "by argocd-cm (argocd/argocd-cm, resource.customizations.health.all)"},
		{"fields", `return {status = "Suspended", message = obj.kind .. " " .. obj.metadata.name .. " " .. obj.spec.copies .. " " .. obj.status.size .. " " .. tostring(obj.spec.paused)}`, health.Suspended, "Backup nightly 3 12.5 false (by argocd-cm (argocd/argocd-cm, resource.customizations.health.all))"},
		{"a null is no item", `local n = 0 for _, c in ipairs(obj.status.conditions) do n = n + 1 end return {status = "Missing", message = n .. "/" .. #obj.status.conditions}`, health.Missing, "2/2 (by argocd-cm (argocd/argocd-cm, resource.customizations.health.all))"},
		{"fields come in order", `local s = "" for k, v in pairs(obj.metadata.labels) do s = s .. k .. v end return {status = "Unknown", message = s}`, health.Unknown, "a1b2 (by argocd-cm (argocd/argocd-cm, resource.customizations.health.all))"},
		{"a number is a message", `return {status = "Progressing", message = 3}`, health.Progressing, "3 (by argocd-cm (argocd/argocd-cm, resource.customizations.health.all))"},
		{"nothing to say", `return nil`, "", ""},
		{"no return", `local a = 1`, "", ""},
		{"an empty script says nothing", ` `, "", ""},
		{"no table", `return "Healthy"`, "", "it returns a string: expected a table with status and message"},
		{"no status", `return {}`, "", "it returns a status that is a nil: expected a string"},
		{"an unknown status", `return {status = "Great"}`, "", `it returns the status "Great": expected Healthy, Progressing, Degraded, Suspended, Missing, Unknown`},
		{"a message that is none", `return {status = "Healthy", message = {}}`, "", "it returns a message that is a table: expected a string"},
		{"an error", "\n\nreturn {status = obj.nothing.at.all}", "", "health.lua:3: attempt to index a non-table object(nil) with key 'at'"},
		{"an error of its own", `error("not mine")`, "", "health.lua:1: not mine"},
		{"an error that is no text", `error({})`, "", "an error that is a table"},
		{"no program", `if then`, "", `health.lua line:1(column:7) near 'then': syntax error`},
		{"too many variables", "local a = 1\n" + strings.Repeat("local x = a\n", 250), "", "too many local variables"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, ok := setOf(t, test.script, false).Assess(objectOf(t, backup))
			if test.want != "" {
				if !ok || h.Status != test.want || h.Message != test.message || h.Reason != Customization {
					t.Errorf("got %+v, %v", h, ok)
				}
				return
			}
			if ok || !strings.Contains(h.Message, test.message) || (h.Message == "") != (test.message == "") {
				t.Errorf("got %+v, %v: want a note with %q", h, ok, test.message)
			}
		})
	}
}

// What a script cannot have: files, processes, time, code, chance.
func TestNothingElse(t *testing.T) {
	gone := []string{
		"io", "os", "package", "debug", "coroutine", "channel", "load", "loadstring", "loadfile", "dofile", "require", "module",
		"collectgarbage", "getfenv", "setfenv", "newproxy", "_printregs", "string.dump", "math.random", "math.randomseed", "_GOPHER_LUA_VERSION",
	}
	for _, name := range gone {
		h, ok := setOf(t, `return {status = "Healthy", message = type(`+name+`)}`, true).Assess(objectOf(t, backup))
		if !ok || !strings.HasPrefix(h.Message, "nil (") {
			t.Errorf("%s: got %+v", name, h)
		}
	}
	for _, name := range []string{"string", "math"} {
		h, _ := setOf(t, `return {status = "Healthy", message = type(`+name+`)}`, false).Assess(objectOf(t, backup))
		if !strings.HasPrefix(h.Message, "nil (") {
			t.Errorf("%s without useOpenLibs: got %+v", name, h)
		}
	}
}

// A run leaves nothing behind for the next one.
func TestRunsAreApart(t *testing.T) {
	s := setOf(t, `if seen then return {status = "Degraded"} end seen = true string.find = nil obj.status.phase = "x" return {status = "Healthy"}`, true)
	o := objectOf(t, backup)
	for range 3 {
		if h, ok := s.Assess(o); !ok || h.Status != health.Healthy {
			t.Fatalf("got %+v, %v", h, ok)
		}
	}
	if phase := o.Fields()["status"].(map[string]any)["phase"]; phase != "Done" {
		t.Errorf("the object was written: phase %v", phase)
	}
}

func TestFailuresAreNotes(t *testing.T) {
	s := setOf(t, `return {status = obj.a.b}`, false)
	o := objectOf(t, backup)
	s.Assess(o)
	o.Name = "a-first"
	s.Assess(o)
	want := "the health rule argocd-cm (argocd/argocd-cm, resource.customizations.health.all) fails on Backup.shop.example.com/shop/a-first and 1 more, which other rules evaluate: health.lua:1: attempt to index a non-table object(nil) with key 'b'"
	if notes := s.Notes(); len(notes) != 1 || notes[0] != want {
		t.Errorf("got %q", notes)
	}
}

// The judge asks a set before the entries, after deletion and generation, and falls back.
func TestJudge(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rule := health.Rule{Kind: "Backup.shop.example.com", Healthy: `status.?phase.orValue("") == "Done"`}
	judge := func(script string) health.Health {
		return health.NewEvaluator(now, rule).Consult(setOf(t, script, false)).Evaluate(objectOf(t, backup))
	}
	if h := judge(`return {status = "Degraded", message = "x"}`); h.Status != health.Degraded || h.Stage != "customization" {
		t.Errorf("got %+v", h)
	}
	if h := judge(`return nil`); h.Status != health.Healthy || h.Stage != "entry" {
		t.Errorf("got %+v", h)
	}
	if h := judge(`return {status = "Good"}`); h.Status != health.Healthy || h.Stage != "entry" || !strings.Contains(h.Message, `fails on it: it returns the status "Good"`) {
		t.Errorf("got %+v", h)
	}
	deleted := objectOf(t, strings.Replace(backup, "name: nightly,", "name: nightly, deletionTimestamp: '2025-12-31T23:59:00Z', finalizers: [x],", 1))
	if h := health.NewEvaluator(now).Consult(setOf(t, `return {status = "Healthy"}`, false)).Evaluate(deleted); h.Stage != "deletion" {
		t.Errorf("got %+v", h)
	}
}

func TestConfigMap(t *testing.T) {
	is := func(status string) string { return `return {status = "` + status + `"}` }
	s, notes := OfConfigMap("argocd-cm.yaml", map[string]string{
		"url": "https://argocd.example.com",
		"resource.customizations": `
"*.crossplane.io/*":
  health.lua: ` + is("Progressing") + `
"ec2.*.crossplane.io/*":
  health.lua: ` + is("Suspended") + `
"*/Backup":
  health.lua: ` + is("Missing") + `
shop.example.com/Backup:
  health.lua: ` + is("Degraded") + `
  health.lua.useOpenLibs: true
batch/Job:
  ignoreDifferences: |
    jsonPointers: [/spec]
wrong.example.com/Kind: text
"bad[.example.com/Kind":
  health.lua: ` + is("Healthy") + `
`,
		"resource.customizations.health.shop.example.com_Backup":                is("Healthy"),
		"resource.customizations.health.Pod":                                    is("Unknown"),
		"resource.customizations.health.a_b_c":                                  is("Healthy"),
		"resource.customizations.actions.apps_Deployment":                       "discovery.lua: x",
		"resource.customizations.useOpenLibs.shop.example.com_Backup":           "yes",
		"resource.customizations.ignoreDifferences.all":                         "x",
		"resource.customizations.ignoreResourceUpdates.shop.example.com_Backup": "x",
	})
	wantNotes := []string{
		"argocd-cm.yaml, resource.customizations: wrong.example.com/Kind: unmarshal errors:\n  line 14: cannot unmarshal !!str `text` into struct",
		`argocd-cm.yaml, resource.customizations.health.a_b_c: expected GROUP_KIND, or KIND of the core group`,
		`argocd-cm.yaml, resource.customizations.useOpenLibs.shop.example.com_Backup: "yes" is neither true nor false`,
		`argocd-cm.yaml, resource.customizations: bad[.example.com/Kind: "bad[.example.com/Kind" is not a pattern of kinds`,
	}
	if len(notes) != len(wantNotes) {
		t.Fatalf("notes: got %q", notes)
	}
	for i, want := range wantNotes {
		if !strings.HasPrefix(notes[i], want) {
			t.Errorf("note %d: got %q, want %q", i, notes[i], want)
		}
	}
	if s.Len() != 5 {
		t.Errorf("got %d customizations", s.Len())
	}
	for kind, want := range map[string]health.Status{
		"Backup.shop.example.com":        health.Healthy,     // the key of its own goes before the block
		"Backup.other.example.com":       health.Missing,     // a pattern
		"Instance.ec2.aws.crossplane.io": health.Suspended,   // of two patterns the one that says more
		"Bucket.s3.aws.crossplane.io":    health.Progressing, // the other
		"Pod":                            health.Unknown,     // of the core group
		"Job.batch":                      "",                 // it has no script
		"Backup":                         "",                 // */Backup has a group
	} {
		gk := schema.ParseGroupKind(kind)
		o := objectOf(t, "apiVersion: "+schema.GroupVersion{Group: gk.Group, Version: "v1"}.String()+"\nkind: "+gk.Kind+"\nmetadata: {name: x}\n")
		h, ok := s.Assess(o)
		if h.Status != want || ok != (want != "") || s.Has(gk) != ok {
			t.Errorf("%s: got %+v, %v; want %q", kind, h, ok, want)
		}
	}
	s.Skip(health.Rule{Kind: "Pod"})
	if s.Has(schema.GroupKind{Kind: "Pod"}) {
		t.Error("a kind that is skipped is asked about")
	}
	s.Skip(health.Rule{Kind: "Backup.shop.example.com", Versions: []string{"v2"}})
	for version, want := range map[string]bool{"v1": true, "v2": false} {
		o := objectOf(t, "apiVersion: shop.example.com/"+version+"\nkind: Backup\nmetadata: {name: x}\n")
		if _, ok := s.Assess(o); ok != want {
			t.Errorf("%s, of which v2 is skipped: assessed %v", version, ok)
		}
	}
}

func TestConfigMapIsNoYAML(t *testing.T) {
	for _, block := range []string{"a: [", "text", "- a", "&a [*a]", "a: &a [*a, *a]"} {
		s, notes := OfConfigMap("x", map[string]string{"resource.customizations": block})
		if s.Len() != 0 || len(notes) != 1 {
			t.Errorf("%q: got %d customizations, notes %q", block, s.Len(), notes)
		}
	}
	long := strings.Repeat("-- x\n", maxScriptBytes/4)
	if s, notes := OfConfigMap("x", map[string]string{"resource.customizations.health.Pod": long}); s.Len() != 0 || len(notes) != 1 {
		t.Errorf("a long script: notes %q", notes)
	}
}

func TestKeys(t *testing.T) {
	tests := []struct {
		key   string
		match string
		not   string
	}{
		{"shop.example.com/Backup", "shop.example.com/Backup", "shop-example-com/Backup a/shop.example.com/Backup"},
		{"*.example.com/*", "shop.example.com/Backup a.b.example.com/X", "example.com/Backup Pod"},
		{"*/*", "a/b apps/Deployment", "Pod"},
		{"*", "a/b Pod", ""},
		{"shop.example.com/Back*", "shop.example.com/Backup shop.example.com/Back", "shop.example.com/Restore"},
		{"a?c/X", "abc/X a.c/X", "ac/X abbc/X"},
		{"a[bc]d/X", "abd/X acd/X", "aed/X"},
		{"a[!b]d/X", "acd/X", "abd/X"},
		{"{apps,batch}/*", "apps/Deployment batch/Job", "core/Pod"},
		{"a.(b)+/X*", "a.(b)+/X a.(b)+/XY", "a.bb/X"},
	}
	for _, test := range tests {
		k, err := parseKey(test.key)
		if err != nil {
			t.Errorf("%s: %v", test.key, err)
			continue
		}
		for text := range strings.FieldsSeq(test.match) {
			if !k.matches(text) {
				t.Errorf("%s does not match %s", test.key, text)
			}
		}
		for text := range strings.FieldsSeq(test.not) {
			if k.matches(text) {
				t.Errorf("%s matches %s", test.key, text)
			}
		}
	}
	for _, wrong := range []string{"", "a[", "a[]", "a[!]b*", "{a", "a}*", "{a,{b}", strings.Repeat("{", 2000) + "*"} {
		if k, err := parseKey(wrong); err == nil && k.wild() {
			t.Errorf("%.20s is taken", wrong)
		}
	}
}

func TestFolder(t *testing.T) {
	is := func(status string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(`return {status = "` + status + `", message = string.upper("x")}`)}
	}
	s, notes, err := OfFolder("rules", fstest.MapFS{
		"shop.example.com/Backup/health.lua":            is("Healthy"),
		"shop.example.com/Backup/testdata/healthy.yaml": is("x"),
		"shop.example.com/Backup/actions/health.lua":    is("Degraded"), // too deep
		"_.example.com/_/health.lua":                    is("Suspended"),
		"_.example.com/Restore/health.lua":              is("Missing"),
		"Pod/health.lua":                                is("Progressing"),
		"health.lua":                                    is("Degraded"), // of no kind
		"long.example.com/X/health.lua":                 {Data: make([]byte, maxScriptBytes+1)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) != 1 || notes[0] != "rules/long.example.com/X/health.lua: a script of more than 64 KiB" {
		t.Errorf("notes: %q", notes)
	}
	for kind, want := range map[string]string{
		"Backup.shop.example.com":  "Healthy X (by rules/shop.example.com/Backup/health.lua)",
		"Restore.shop.example.com": "Missing X (by rules/_.example.com/Restore/health.lua)", // the first in the folder
		"Other.a.example.com":      "Suspended X (by rules/_.example.com/_/health.lua)",
		"Pod":                      "Progressing X (by rules/Pod/health.lua)",
	} {
		gk := schema.ParseGroupKind(kind)
		o := objectOf(t, "apiVersion: "+schema.GroupVersion{Group: gk.Group, Version: "v1"}.String()+"\nkind: "+gk.Kind+"\nmetadata: {name: x}\n")
		if h, _ := s.Assess(o); string(h.Status)+" "+h.Message != want {
			t.Errorf("%s: got %+v, want %s", kind, h, want)
		}
	}
}
