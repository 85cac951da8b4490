package annotations

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// annotated is an object with the annotation and the label a/b.
func annotated(t testing.TB, id, value string) object.Object {
	return read(t, id, fmt.Sprintf("metadata: {annotations: {a/b: %q}, labels: {a/b: %q}}", value, value))
}

func TestCarrierNamesInstances(t *testing.T) {
	tests := []struct {
		expr, value string
		want        []string // namespace/name of the instances, in order
	}{
		// The whole name, never a substring.
		{"INSTANCE.metadata.name", "moodle1", []string{"shop/moodle1"}},
		{"INSTANCE.metadata.name", "moodle10", []string{"shop/moodle10"}},
		{"INSTANCE.metadata.name", "Moodle1", []string{"shop/Moodle1"}},
		{"INSTANCE.metadata.name", "moodle1,moodle2", nil},
		{"INSTANCE.metadata.name", "shop/moodle1", nil},
		{"INSTANCE.metadata.name", "", nil},
		{"INSTANCE.metadata.name", " moodle1", nil},
		{`"INSTANCE.metadata.name"`, "m", []string{"shop/m"}},
		// Templates.
		{"wordpressservice-INSTANCE.metadata.name", "wordpressservice-wp", []string{"shop/wp"}},
		{"wordpressservice-INSTANCE.metadata.name", "wordpressservice-", nil},
		{"wordpressservice-INSTANCE.metadata.name", "wordpressservice", nil},
		{"wordpressservice-INSTANCE.metadata.name", "wp", nil},
		{"wordpressservice-INSTANCE.metadata.name", "my-wordpressservice-wp", nil},
		{"INSTANCE.metadata.name-tls", "wp-tls", []string{"shop/wp"}},
		{"INSTANCE.metadata.name-tls", "wp-tls-2", nil},
		{"INSTANCE.metadata.name-tls", "-tls", nil},
		{"a-INSTANCE.metadata.name-a", "a-a", nil},
		{"a-INSTANCE.metadata.name-a", "a-x-a", []string{"shop/x"}},
		{"INSTANCE.metadata.name.svc.local", "db.svc.local", []string{"shop/db"}},
		{"urn:x:INSTANCE.metadata.name", "urn:x:wp", []string{"shop/wp"}},
		{"INSTANCE.metadata.namespace/INSTANCE.metadata.name", "certs/ca", []string{"certs/ca"}},
		{"INSTANCE.metadata.namespace/INSTANCE.metadata.name", "ca", nil},
		{"INSTANCE.metadata.namespace/INSTANCE.metadata.name", "a/b/c", nil},
		{"INSTANCE.metadata.name@INSTANCE.metadata.namespace", "ca@certs", []string{"certs/ca"}},
		// Lists.
		{"contains(INSTANCE.metadata.name)", "moodle10, moodle2 moodle3", []string{"shop/moodle10", "shop/moodle2", "shop/moodle3"}},
		{"contains( INSTANCE.metadata.name )", "a,,a\n\tb,", []string{"shop/a", "shop/b"}},
		{"contains(INSTANCE.metadata.name)", `["a","n/b"]`, []string{"shop/a", "n/b"}},
		{"contains(INSTANCE.metadata.name)", `["a"`, nil},
		{"contains(INSTANCE.metadata.name)", `[["a"],1,null,{"nam":"b"},{"name":7}]`, nil},
		{"contains(INSTANCE.metadata.name)", `{"name":"a"}`, []string{"shop/a"}},
		{"contains(x-INSTANCE.metadata.name)", "x-a y-b n/x-c", []string{"shop/a", "n/c"}},
		{"contains(INSTANCE.metadata.namespace/INSTANCE.metadata.name)", `["n/b","c",{"name":"d","namespace":"m"}]`, []string{"n/b", "m/d"}},
		{"[{name:INSTANCE.metadata.name}]", `[{"name":"a"},{"name":"b","namespace":"n"},{"name":"m/c"}]`, []string{"shop/a", "n/b", "m/c"}},
		{`[ { "name" : "INSTANCE.metadata.name", namespace: INSTANCE.metadata.namespace } ]`, "n/a@eth0,b@eth1", []string{"n/a", "shop/b"}},
		{"[INSTANCE.metadata.name]", "a b", []string{"shop/a", "shop/b"}},
		{"contains(INSTANCE.metadata.name)", "a/b/c @x /", nil},
	}
	for _, tt := range tests {
		t.Run(tt.expr+" "+tt.value, func(t *testing.T) {
			d := parseClean(t, "apps.example.com", "resource/annotation-relationship", "on:Pod, key:a/b, value:"+tt.expr)
			var got []string
			relation.NewSet(d.Rules...).Links(annotated(t, "Pod/shop/p", tt.value), func(_ int, l relation.Link) {
				got = append(got, l.Target.Namespace+"/"+l.Target.Name)
				if l.Backward || l.Inferred || l.Value != tt.value || l.Target.Kind != (schema.GroupKind{Group: "example.com", Kind: "App"}) {
					t.Errorf("link %+v", l)
				}
			})
			equal(t, got, tt.want...)
			for _, r := range d.Rules {
				if !r.Metadata {
					t.Error("the rule reads more than metadata")
				}
			}
		})
	}
}

func TestDirection(t *testing.T) {
	const because = ` because metadata.annotations["a/b"] = x`
	d := parseClean(t, "apps.example.com", "resource/annotation-relationship",
		"on:Pod;Secret;ConfigMap;PersistentVolumeClaim;PersistentVolume;Deployment;App, key:a/b, value:INSTANCE.metadata.name")
	equal(t, edges(d,
		annotated(t, "Pod/n/o", "x"), annotated(t, "Secret/n/o", "x"), annotated(t, "ConfigMap/n/o", "x"), annotated(t, "PersistentVolumeClaim/n/o", "x"),
		annotated(t, "Deployment.apps/n/o", "x"), annotated(t, "App.example.com/n/o", "x"),
	),
		"Pod/n/o -needs/annotation-> App.example.com/n/x"+because,
		"App.example.com/n/x -needs/annotation-> Secret/n/o"+because,
		"App.example.com/n/x -needs/annotation-> ConfigMap/n/o"+because,
		"App.example.com/n/x -needs/annotation-> PersistentVolumeClaim/n/o"+because,
		"Deployment.apps/n/o -needs/annotation-> App.example.com/n/x"+because,
		"App.example.com/n/o -needs/annotation-> App.example.com/n/x"+because,
		// The instance selects cluster-scoped carriers.
		"App.example.com/n/o -needs/annotation-> PersistentVolume/n/{a/b} (inferred) because metadata.name = o",
	)
	// Nothing is related to itself.
	d = parseClean(t, "apps.example.com", "resource/annotation-relationship", "on:App, key:a/b, value:INSTANCE.metadata.name")
	equal(t, edges(d, annotated(t, "App.example.com/n/x", "x")))
}

func TestClusterScoped(t *testing.T) {
	d := parseClean(t, "fleets.example.com",
		"resource/annotation-relationship", "on:Pod;Node, key:a/b, value:INSTANCE.metadata.name",
		"resource/label-relationship", "on:Pod, value:INSTANCE.spec.selector",
	)
	equal(t, edges(d, annotated(t, "Pod/n/p", "f"), annotated(t, "Node/n1", "f"), read(t, "Fleet.example.com/f", "spec: {selector: {app: web}}")),
		`Pod/n/p -needs/annotation-> Fleet.example.com/f because metadata.annotations["a/b"] = f`,
		`Node/n1 -needs/annotation-> Fleet.example.com/f because metadata.annotations["a/b"] = f`,
		"Fleet.example.com/f -serves/label-> Pod/*/{app=web} because spec.selector = app=web",
	)
	// A value with the namespace does not need that of the carrier.
	d = parseClean(t, "apps.example.com", "resource/annotation-relationship", "on:Node, key:a/b, value:INSTANCE.metadata.namespace/INSTANCE.metadata.name")
	equal(t, edges(d, annotated(t, "Node/n1", "shop/web")), `Node/n1 -needs/annotation-> App.example.com/shop/web because metadata.annotations["a/b"] = shop/web`)
}

// matches runs the rule of an annotation on an instance and reports whether the selector of its
// link accepts the value.
func matches(t *testing.T, expr, instance, fields, value string) bool {
	t.Helper()
	d := parseClean(t, "apps.example.com", "resource/annotation-relationship", "on:Node;Pod, key:a/b, value:"+expr)
	found := false
	relation.NewSet(d.Rules...).Links(read(t, instance, fields), func(_ int, l relation.Link) {
		if s := l.Target.Selector; s == nil || s.Annotation != "a/b" || !l.Backward {
			t.Fatalf("link %+v", l)
		}
		found = found || l.Target.Selector.Match(value)
	})
	return found
}

func TestInstanceFindsCarriers(t *testing.T) {
	const instance = "App.example.com/shop/web"
	tests := []struct {
		expr, fields, value string
		want                bool
	}{
		{"INSTANCE.metadata.name", "", "web", true},
		{"INSTANCE.metadata.name", "", "web1", false},
		{"x-INSTANCE.metadata.name", "", "x-web", true},
		{"x-INSTANCE.metadata.name", "", "web", false},
		{"contains(INSTANCE.metadata.name)", "", "a web", true},
		{"contains(INSTANCE.metadata.name)", "", "a web1", false},
		{"contains(INSTANCE.metadata.name)", "", "other/web", false},
		{"contains(INSTANCE.metadata.name)", "", "shop/web", true},
		{"INSTANCE.metadata.namespace-INSTANCE.metadata.name", "", "shop-web", true},
		{"INSTANCE.metadata.name.INSTANCE.metadata.name", "", "web.web", true},
		{"INSTANCE.spec.class", "spec: {class: fast}", "fast", true},
		{"INSTANCE.spec.class", "spec: {class: fast}", "faster", false},
		{"INSTANCE.spec.class", "spec: {}", "", false},
		{"INSTANCE.spec.class", "spec: {class: {}}", "", false},
		{"p-INSTANCE.spec.port", "spec: {port: 8080}", "p-8080", true},
		{"p-INSTANCE.spec.hosts[]", "spec: {hosts: [a, b]}", "p-b", true},
		{"INSTANCE.metadata.name-INSTANCE.spec.open", "spec: {open: true}", "web-true", true},
		{`INSTANCE.metadata.labels["a.b/c"]`, "metadata: {labels: {a.b/c: d}}", "d", true},
	}
	for _, tt := range tests {
		if got := matches(t, tt.expr, instance, tt.fields, tt.value); got != tt.want {
			t.Errorf("%s on %q: value %q: got %v, want %v", tt.expr, tt.fields, tt.value, got, tt.want)
		}
	}
}

func TestLabels(t *testing.T) {
	// KubePlus reads "Pod;Service" as one kind.
	d := parseClean(t, "moodles.moodlecontroller.kubeplus", "resource/label-relationship", "on:Pod;Service;PersistentVolume, key:a/b, value:INSTANCE.metadata.name")
	equal(t, edges(d, annotated(t, "Pod/n/p", "moodle10"), annotated(t, "Service/n/s", "moodle1"), annotated(t, "PersistentVolume/v", "moodle1"), read(t, "Moodle.moodlecontroller.kubeplus/n/moodle1", "")),
		`Moodle.moodlecontroller.kubeplus/n/moodle10 -owns/label-> Pod/n/p (if present, inferred) because metadata.labels["a/b"] = moodle10`,
		`Moodle.moodlecontroller.kubeplus/n/moodle1 -owns/label-> Service/n/s (if present, inferred) because metadata.labels["a/b"] = moodle1`,
		"Moodle.moodlecontroller.kubeplus/n/moodle1 -owns/label-> PersistentVolume/n/{a/b=moodle1} (inferred) because metadata.name = moodle1",
	)
	d = parseClean(t, "apps.example.com",
		"resource/label-relationship1", "on:Pod, key:tier, value:INSTANCE.spec.tier",
		"resource/label-relationship2", "on:Pod, key:tier, value:x-INSTANCE.spec.tier",
	)
	equal(t, edges(d, read(t, "App.example.com/n/a", "spec: {tier: web}"), read(t, "App.example.com/n/b", "spec: {}")),
		"App.example.com/n/a -serves/label-> Pod/n/{tier=web} because spec.tier = tier=web",
		"App.example.com/n/a -serves/label-> Pod/n/{tier=x-web} because spec.tier = x-web",
	)
}

func TestSameNamesInOtherGroups(t *testing.T) {
	// A bare kind is the built-in one, although Knative has one of that name.
	d := parseClean(t, "services.serving.knative.dev",
		"resource/annotation-relationship", "on:Service;Service.serving.knative.dev, key:a/b, value:INSTANCE.metadata.name",
		"resource/label-relationship", "on:Service, value:INSTANCE.spec.selector",
		"resource/specproperty-relationship", "on:INSTANCE.spec.next, value:Service.serving.knative.dev.spec.metadata.name",
	)
	equal(t, edges(d, annotated(t, "Service/n/core", "k"), annotated(t, "Service.serving.knative.dev/n/kn", "k"),
		read(t, "Service.serving.knative.dev/n/k", "spec: {selector: {app: web}, next: k2}"), read(t, "Service/n/k", "spec: {selector: {app: web}, next: k2}")),
		`Service/n/core -needs/annotation-> Service.serving.knative.dev/n/k because metadata.annotations["a/b"] = k`,
		`Service.serving.knative.dev/n/kn -needs/annotation-> Service.serving.knative.dev/n/k because metadata.annotations["a/b"] = k`,
		"Service.serving.knative.dev/n/k -serves/label-> Service/n/{app=web} because spec.selector = app=web",
		"Service.serving.knative.dev/n/k -needs/spec-> Service.serving.knative.dev/n/k2 because spec.next = k2",
	)
	// The group disambiguates a kind that two custom groups have.
	d = parseClean(t, "clusters.a.example.com", "resource/annotation-relationship", "on:Cluster.b.example.com, key:a/b, value:INSTANCE.metadata.name")
	equal(t, edges(d, annotated(t, "Cluster.a.example.com/n/x", "y"), annotated(t, "Cluster.b.example.com/n/x", "y")),
		`Cluster.b.example.com/n/x -needs/annotation-> Cluster.a.example.com/n/y because metadata.annotations["a/b"] = y`)
}

func TestNumberedKeys(t *testing.T) {
	const key = "resource/annotation-relationship"
	var annotations, want []string
	for _, n := range []string{"10", "2", "", "1", "03", "99999999999999999999"} {
		annotations = append(annotations, key+n, "on:Pod, key:a/n"+n+", value:INSTANCE.metadata.name")
	}
	for _, n := range []string{"", "1", "2", "03", "10", "99999999999999999999"} {
		want = append(want, "crd:apps.example.com:"+key+n)
	}
	for range 20 { // over many orders of the map
		var got []string
		for _, r := range parseClean(t, "apps.example.com", annotations...).Rules {
			got = append(got, r.Name)
		}
		equal(t, got, want...)
	}
}

func TestOlderSpellingBesideTheNew(t *testing.T) {
	const value = "on:Pod, key:a/b, value:INSTANCE.metadata.name"
	d := parseClean(t, "apps.example.com",
		"resource/annotation-relationship", value, "platform-as-code/annotation-relation", value+" ",
		"resource/usage", "new.usage", "platform-as-code/usage", "old.usage",
		"resource/composition", "Pod", "platform-as-code/composition", "Secret")
	if len(d.Rules) != 1 || d.Usage.ConfigMap != "new" || kindsOf(d) != "Pod" {
		t.Errorf("got %+v", d)
	}
}

func TestWhiteSpaceAndQuotes(t *testing.T) {
	const want = `Ingress.networking.k8s.io/n/i -needs/annotation-> App.example.com/n/x because metadata.annotations["a/b"] = x`
	for _, value := range []string{
		"on:Ingress,key:a/b,value:INSTANCE.metadata.name",
		"  on : Ingress ,\tkey : a/b ,\n value : INSTANCE.metadata.name\n",
		`"on:Ingress, key:a/b, value:INSTANCE.metadata.name"`,
		`' on:Ingress, key:a/b, value:INSTANCE.metadata.name '`,
		`value:"INSTANCE.metadata.name", key:'a/b', on:"Ingress"`,
		"on:Ingress;Ingress ; Ingress.networking.k8s.io, key:a/b, value:INSTANCE.metadata.name",
	} {
		d := parseClean(t, "apps.example.com", "resource/annotation-relationship", value)
		equal(t, edges(d, annotated(t, "Ingress.networking.k8s.io/n/i", "x")), want)
	}
}

// Some kinds are needed and others need: two relations in our grammar.
func TestSpecsOfBothDirections(t *testing.T) {
	d := parseClean(t, "moodles.moodlecontroller.kubeplus", "resource/annotation-relationship", "on:Ingress;Secret;ConfigMap, key:a/b, value:INSTANCE.metadata.name")
	const want = `- {to: [Secret, ConfigMap], relation: needs, annotation: a/b, value: "{metadata.name}"}
- {from: Ingress, relation: needs, annotation: a/b, value: "{metadata.name}", read: to}
`
	if got := declare.Format(d.Specs, "Moodle.moodlecontroller.kubeplus"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
