package annotations

import (
	"fmt"
	"strings"
	"testing"
)

func TestProperty(t *testing.T) {
	const app = "App.example.com/shop/web"
	tests := []struct {
		name, value, fields string
		want                []string // the text after "App.example.com/shop/web -needs/spec-> "
	}{
		{"a name", "on:INSTANCE.spec.secretName, value:Secret.metadata.name", "spec: {secretName: tls}", []string{"Secret/shop/tls because spec.secretName = tls"}},
		{"as documented", "on:INSTANCE.spec.secretName, value:Secret.spec.metadata.name", "spec: {secretName: tls}", []string{"Secret/shop/tls because spec.secretName = tls"}},
		{"the exact path", "on:INSTANCE.spec.secretName, value:Secret.metadata.name", "{spec: {x: {secretName: a}, secretname: b}, secretName: c, status: {secretName: d}}", nil},
		{"through a list", "on:INSTANCE.spec.users.secretName, value:Secret.metadata.name", "spec: {users: [{secretName: a}, {}, {secretName: b}]}", []string{
			"Secret/shop/a because spec.users[0].secretName = a", "Secret/shop/b because spec.users[2].secretName = b",
		}},
		{"a list of names", "on:INSTANCE.spec.secrets, value:Secret.metadata.name", "spec: {secrets: [a, b, '', 3]}", []string{
			"Secret/shop/a because spec.secrets[0] = a", "Secret/shop/b because spec.secrets[1] = b",
		}},
		{"a list of references", "on:INSTANCE.spec.secrets[], value:Secret.metadata.name", "spec: {secrets: [{name: a}, {id: b}, {name: c, namespace: vault}]}", []string{
			"Secret/shop/a because spec.secrets[0].name = a", "Secret/vault/c because spec.secrets[2].name = c",
		}},
		{"a reference", "on:INSTANCE.spec.ref, value:Secret.metadata.name", "spec: {ref: {name: a}}", []string{"Secret/shop/a because spec.ref.name = a"}},
		{"a cluster-scoped kind", "on:INSTANCE.spec.node, value:Node.metadata.name", "spec: {node: n1}", []string{"Node/n1 because spec.node = n1"}},
		{"a custom kind", "on:INSTANCE.spec.db, value:MysqlCluster.mysql.presslabs.org.metadata.name", "spec: {db: c1}", []string{"MysqlCluster.mysql.presslabs.org/shop/c1 because spec.db = c1"}},
		{"in another namespace", "on:INSTANCE.spec.x, value:Secret.metadata.name", "spec: {x: vault/a}", []string{"Secret/vault/a because spec.x = vault/a"}},
		{"a reference to another kind", "on:INSTANCE.spec.ref, value:Secret.metadata.name", "spec: {ref: {kind: ConfigMap, name: a}}", nil},
		{"no name", "on:INSTANCE.spec.x, value:Secret.metadata.name", "spec: {x: 'ns/name/x'}", nil},
		{"no name at all", "on:INSTANCE.spec.x, value:Secret.metadata.name", "spec: {x: 'a, b'}", nil},
		{"empty", "on:INSTANCE.spec.x, value:Secret.metadata.name", "spec: {x: ''}", nil},
		{"absent", "on:INSTANCE.spec.x, value:Secret.metadata.name", "", nil},
		{"one of two kinds", "on:INSTANCE.spec.x, value:Secret;ConfigMap.metadata.name", "spec: {x: a}", []string{
			"Secret/shop/a (if present) because spec.x = a", "ConfigMap/shop/a (if present) because spec.x = a",
		}},
		{"one of two kinds in full", "on:INSTANCE.spec.x, value:Secret.metadata.name; ConfigMap.spec.metadata.name", "spec: {x: a}", []string{
			"Secret/shop/a (if present) because spec.x = a", "ConfigMap/shop/a (if present) because spec.x = a",
		}},
		{"two fields", "on:INSTANCE.spec.x;INSTANCE.spec.z, value:Secret.metadata.name", "spec: {x: a, z: b}", []string{"Secret/shop/a because spec.x = a", "Secret/shop/b because spec.z = b"}},
		{"the name of the instance", "on:INSTANCE.metadata.name, value:Service.metadata.name", "", []string{"Service/shop/web because metadata.name = web"}},
		{"itself", "on:INSTANCE.metadata.name, value:App.metadata.name", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := parseClean(t, "apps.example.com", "resource/specproperty-relationship", tt.value)
			var want []string
			for _, w := range tt.want {
				want = append(want, app+" -needs/spec-> "+w)
			}
			equal(t, edges(d, read(t, app, tt.fields)), want...)
			for _, r := range d.Rules {
				if r.Metadata && !strings.HasPrefix(r.Field, "metadata.") {
					t.Error("the rule says that metadata is enough")
				}
			}
		})
	}
}

func TestSelector(t *testing.T) {
	tests := []struct {
		name, selector string
		want           []string // the selectors
	}{
		{"flat", "{app: web, tier: front}", []string{"app=web,tier=front"}},
		{"labels", "{matchLabels: {app: web}}", []string{"app=web"}},
		{"expressions", "{matchExpressions: [{key: a, operator: In, values: [x, w]}, {key: b, operator: Exists}, {key: c, operator: DoesNotExist}, {key: d, operator: NotIn, values: [z]}]}", []string{"!c,a in (x,w),b,d notin (z)"}},
		{"both", "{matchLabels: {app: web}, matchExpressions: [{key: b, operator: Exists}]}", []string{"app=web,b"}},
		{"several", "[{app: web}, {matchLabels: {app: db}}]", nil},
		{"absent", "null", nil},
		{"empty", "{}", nil},
		{"empty labels", "{matchLabels: {}}", nil},
		{"empty both", "{matchLabels: {}, matchExpressions: []}", nil},
		{"labels are strings", "{app: 1}", nil},
		{"labels are flat", "{app: {x: y}}", nil},
		{"label is null", "{matchLabels: null}", nil},
		{"unknown operator", "{matchLabels: {app: web}, matchExpressions: [{key: a, operator: Near}]}", nil},
		{"no key", "{matchExpressions: [{operator: Exists}]}", nil},
		{"no values", "{matchExpressions: [{key: a, operator: In}]}", nil},
		{"values too many", "{matchExpressions: [{key: a, operator: Exists, values: [b]}]}", nil},
		{"values are strings", "{matchExpressions: [{key: a, operator: In, values: [1]}]}", nil},
		{"expression is a word", "{matchExpressions: [a]}", nil},
		{"a word", "app", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := parseClean(t, "apps.example.com", "resource/label-relationship", "on:Pod;Deployment, value:INSTANCE.spec.selector")
			var want []string
			for _, s := range tt.want {
				for _, k := range []string{"Pod", "Deployment.apps"} {
					want = append(want, fmt.Sprintf("App.example.com/n/a -serves/label-> %s/n/{%s} because spec.selector = %s", k, s, s))
				}
			}
			equal(t, edges(d, read(t, "App.example.com/n/a", "spec: {selector: "+tt.selector+"}")), want...)
		})
	}
	d := parseClean(t, "apps.example.com", "resource/label-relationship", "on:Pod, value:INSTANCE.spec.groups[].selector")
	got := edges(d, read(t, "App.example.com/n/a", "spec: {groups: [{selector: {a: b}}, {}, {selector: {matchLabels: {c: d}}}]}"))
	equal(t, got,
		"App.example.com/n/a -serves/label-> Pod/n/{a=b} because spec.groups[0].selector = a=b",
		"App.example.com/n/a -serves/label-> Pod/n/{c=d} because spec.groups[2].selector = c=d")
	if strings.Contains(strings.Join(got, ""), "inferred") {
		t.Error("a selector is no guess")
	}
}

// An instance with metadata only has no fields to read.
func TestMetadataOnly(t *testing.T) {
	d := parseClean(t, "apps.example.com",
		"resource/label-relationship", "on:Pod, value:INSTANCE.spec.selector",
		"resource/specproperty-relationship", "on:INSTANCE.spec.x, value:Secret.metadata.name")
	o := read(t, "Pod/n/a", "")
	o.Group, o.Kind = "example.com", "App"
	equal(t, edges(d, o))
}
