package declare_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
)

// An absent selector chooses all only where that is said, and where the conditions hold.
func TestAbsentSelector(t *testing.T) {
	for _, tt := range []struct{ rule, content, want string }{
		{"absent: all", "spec: {}", "<everything>"},
		{"absent: all", "status: {}", "<everything>"},
		{"absent: none", "spec: {}", ""},
		{"empty: all", "spec: {}", ""},
		{"absent: all", "spec: {sel: {}}", ""},
		{"absent: all, empty: all", "spec: {sel: {}}", "<everything>"},
		{"absent: all", "spec: {sel: {a: b}}", "a=b"},
		{"absent: all", "spec: {sel: {a: 7}}", ""},
		{"absent: all, when: {spec.targets: null}", "spec: {targets: [x]}", ""},
		{"absent: all, when: {spec.targets: null}", "spec: {sel: {a: b}, targets: [x]}", ""},
		{"absent: all, when: {spec.targets: null}", "spec: {}", "<everything>"},
	} {
		specs := parse(t, "- {to: Pod, relation: serves, selector: spec.sel, "+tt.rule+"}")
		got := links(specs, read(t, "App.x.io/shop/web", tt.content))
		if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)) {
			t.Errorf("%s of %s: %q, want %q", tt.rule, tt.content, got, tt.want)
		}
	}
}

// To a mesh a host with a dot is complete.
func TestQualifiedHosts(t *testing.T) {
	for host, want := range map[string]string{
		"api": "Service/shop/api", "api.lab.svc.cluster.local": "Service/lab/api", "api.lab.svc.cluster.local.": "Service/lab/api",
		"api.lab": "", "api.lab.svc": "", "www.example.com": "", "*": "", "*.lab.svc.cluster.local": "", "10.0.0.1": "",
	} {
		got := strings.Join(links(parse(t, "- {relation: serves, host: spec.host, format: fqdn}"), read(t, "App.x.io/shop/web", `spec: {host: "`+host+`"}`)), "; ")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

// A name with an @ in it is one of a role, or of nothing that is an object.
func TestNamesOfProviders(t *testing.T) {
	for kind, want := range map[string]int{"Secret": 0, "Part.x.io": 0, "ClusterRole": 1} {
		specs := parse(t, "- {to: "+kind+", relation: needs, field: spec.ref}")
		if got := links(specs, read(t, "App.x.io/shop/web", `spec: {ref: "api@internal"}`)); len(got) != want {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

func TestRoutesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"- {to: Secret, relation: needs, field: spec.a, exposes: true}":            "exposes goes with relation: serves",
		"- {to: Secret, relation: needs, field: spec.a, format: fqdn}":             `unknown format "fqdn": expected inventory`,
		"- {relation: needs, host: spec.a, format: inventory}":                     `unknown format "inventory": expected fqdn`,
		"- {to: Secret, relation: needs, field: spec.a, absent: all}":              "absent has no effect beside field",
		"- {to: Pod, relation: serves, selector: spec.a, absent: everything}":      `unknown absent "everything": expected all or none`,
		"- {to: Service, relation: serves, field: spec.a, exposes: true, rule: r}": "",
	} {
		_, problems := declare.ParseList([]byte(text), declare.Options{Self: "App.x.io", Kinds: kinds})
		var all []string
		for _, p := range problems {
			all = append(all, p.Message)
		}
		if got := strings.Join(all, "; "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
