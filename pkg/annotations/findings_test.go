package annotations

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Each value is wrong at the position of the caret: the finding must have that position and say
// what is valid.
func TestMalformed(t *testing.T) {
	const (
		byAnnotation = "resource/annotation-relationship"
		byLabel      = "resource/label-relationship"
		byField      = "resource/specproperty-relationship"
	)
	tests := []struct{ key, value, caret, says string }{
		// Values that make KubePlus panic (1.4, 1).
		{byAnnotation, "", "^", "is empty"},
		{byAnnotation, "   ", "   ^", "is empty"},
		{byAnnotation, "Ingress", "^", "expected on:, key: or value: (kinds"},
		{byAnnotation, "on", "^", "expected on:, key: or value:"},
		{byAnnotation, "on:", "   ^", "the value after on: is missing"},
		{byAnnotation, ",", "^", "this part is empty"},
		{byAnnotation, "on:Ingress", "          ^", "value:INSTANCE.metadata.name is missing"},
		{byAnnotation, "on:Ingress,", "           ^", "this part is empty"},
		{byAnnotation, "on:Ingress, key:a/b", "                   ^", "value:INSTANCE.metadata.name is missing"},
		{byAnnotation, "on:Ingress, key, value:INSTANCE.metadata.name", "            ^", `"key" is not a part`},
		{byAnnotation, "on:Ingress, value:INSTANCE.metadata.name", "                                        ^", "key:<annotation key> is missing"},
		{byAnnotation, "key:a/b, value:INSTANCE.metadata.name", "                                     ^", "on:<Kind> is missing"},
		{byAnnotation, "on=Ingress, key:a/b, value:INSTANCE.metadata.name", "^", `"on=Ingress" is not a part`},
		{byAnnotation, "for:Ingress, key:a/b, value:INSTANCE.metadata.name", "^", `unknown part "for:"`},
		{byAnnotation, "on:Ingress, on:Pod, key:a/b, value:INSTANCE.metadata.name", "            ^", "a second on:"},
		{byAnnotation, "on:Ingress, Service, key:a/b, value:INSTANCE.metadata.name", "            ^", "separated by semicolons"},
		{byAnnotation, `"on:Ingress, key:a/b, value:INSTANCE.metadata.name`, "^", "not closed"},
		{byAnnotation, "on:Ingress, key:a b, value:INSTANCE.metadata.name", "                ^", "is not a valid key: expected"},
		// Kinds.
		{byAnnotation, "on:Ingres, key:a/b, value:INSTANCE.metadata.name", "   ^", "did you mean Ingress?"},
		{byAnnotation, "on:Moodel, key:a/b, value:INSTANCE.metadata.name", "   ^", "did you mean Moodle.moodlecontroller.kubeplus"},
		{byAnnotation, "on:Xyzzyplugh, key:a/b, value:INSTANCE.metadata.name", "   ^", "expected a kind that the cluster serves"},
		{byAnnotation, "on:Pod; Cluster, key:a/b, value:INSTANCE.metadata.name", "        ^", "expected one of Cluster.a.example.com, Cluster.b.example.com"},
		{byAnnotation, "on:Pod;, key:a/b, value:INSTANCE.metadata.name", "       ^", "a kind is missing"},
		{byAnnotation, "on:INSTANCE.spec.x, key:a/b, value:INSTANCE.metadata.name", "   ^", "expected Kind or Kind.group"},
		{byAnnotation, "on:" + strings.Repeat("x", 4000) + ", key:a/b, value:INSTANCE.metadata.name", "   ^", "unknown kind"},
		// Values.
		{byAnnotation, "on:Pod, key:a/b, value:name", "                       ^", "does not use the instance"},
		{byAnnotation, "on:Pod, key:a/b, value:instance.metadata.name", "                       ^", "expected INSTANCE.metadata.name"},
		{byAnnotation, "on:Pod, key:a/b, value:INSTANCE", "                       ^", "INSTANCE has no path"},
		{byAnnotation, "on:Pod, key:a/b, value:x-INSTANCE.", "                                  ^", "a field name is missing"},
		{byAnnotation, "on:Pod, key:a/b, value:INSTANCE.spec..x", "                                     ^", "a field name is missing"},
		{byAnnotation, "on:Pod, key:a/b, value:INSTANCE" + strings.Repeat(".x", 101), "                               " + strings.Repeat("  ", 100) + "^", "too long"},
		{byAnnotation, "on:Pod, key:a/b, value:INSTANCE.spec.x[y]", "                                       ^", "expected []"},
		{byAnnotation, "on:Pod, key:a/b, value:contains(INSTANCE.metadata.name", "                               ^", "not closed: a ) is missing"},
		{byAnnotation, "on:Pod, key:a/b, value:INSTANCE.metadata.name)", "                                             ^", "it closes no open bracket"},
		{byAnnotation, "on:Pod, key:a/b, value:prefix(INSTANCE.metadata.name)", "                             ^", "expected INSTANCE.metadata.name"},
		{byAnnotation, "on:Pod, key:a/b, value:[{id:INSTANCE.metadata.name}]", "                         ^", `unexpected field "id"`},
		{byAnnotation, "on:Pod, key:a/b, value:[{namespace:INSTANCE.metadata.namespace}]", "                        ^", "the name is missing"},
		{byAnnotation, "on:Pod, key:a/b, value:[{name}]", "                         ^", `"name" is not a field`},
		{byAnnotation, "on:Pod, key:a/b, value:[{'name:INSTANCE.metadata.name'}]", "                         ^", "not closed"},
		{byAnnotation, `on:Pod, key:a/b, value:[{name:"INSTANCE".metadata.name}]`, "                              ^", "not closed"},
		{byAnnotation, "on:Pod, key:a/b, value:INSTANCE.metadata.name x", "                                             ^", `unexpected " "`},
		{byAnnotation, "on:'Pod, key:a/b, value:INSTANCE.metadata.name", "   ^", "not closed"},
		{"resource/composition", "'Pod", "^", "not closed"},
		{"resource/usage", "'cm.key", "^", "not closed"},
		{"resource/composition", "Pod, (Service", "     ^", "a ) is missing"},
		{byField, "value:Secret.metadata.name", "                          ^", "on:INSTANCE.spec.<path> is missing"},
		{byField, "on:INSTANCE.spec.x", "                  ^", "value:<Kind>.metadata.name is missing"},
		{byAnnotation, "on:Pod, key:a/b, value:a INSTANCE.metadata.name", "                        ^", `unexpected " "`},
		{byAnnotation, "on:Pod, key:a/b, value:INSTANCE.spec.a/INSTANCE.spec.b", "                                       ^", "a second path"},
		{byLabel, "on:Pod, value:INSTANCE.metadata.name", "                                    ^", "key:<label key> is missing"},
		// Fields.
		{byField, "on:spec.x, value:Service.metadata.name", "   ^", "expected on:INSTANCE.<path>"},
		{byField, "on:INSTANCE.spec.x-y z, value:Service.metadata.name", "                    ^", `unexpected " "`},
		{byField, "on:INSTANCE.spec.x, value:Service", "                          ^", "cannot be evaluated: expected <Kind>.metadata.name"},
		{byField, "on:INSTANCE.spec.x, value:INSTANCE.metadata.name", "                          ^", "cannot be evaluated"},
		{byField, "on:INSTANCE.spec.x, value:.metadata.name", "                          ^", "cannot be evaluated"},
		{byField, "on:INSTANCE.spec.x, value:Servce.metadata.name", "                          ^", "did you mean Service"},
		{byField, "on:INSTANCE.spec.x, key:y, value:Service.metadata.name", "                        ^", "on: and value: only"},
		// Statements.
		{"resource/composition", "Pod, , Service", "     ^", "a kind is missing"},
		{"resource/composition", "Pod, Srvice", "     ^", "did you mean Service?"},
		{"resource/composition", "", "^", "a kind is missing"},
		{"resource/usage", "manual", "^", "expected <configmap>.<key>"},
		{"resource/usage", "a.b.c.d", "^", "expected <configmap>.<key>"},
		{"resource/usage", "cm.", "   ^", "cannot be a name"},
		{"resource/usage", " größe.x", " ^", "cannot be a name"},
		{"resource/usage", "ok.größe", "   ^", "cannot be a name"},
		// Characters are counted, not bytes.
		{byAnnotation, "on:Größe;Pood, key:a/b, value:INSTANCE.metadata.name", "         ^", "did you mean Pod"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %.60s", tt.key, tt.value), func(t *testing.T) {
			_, findings := parse(t, "apps.example.com", tt.key, tt.value)
			column := len(tt.caret)
			for _, f := range findings {
				if f.CRD == "apps.example.com" && f.Annotation == tt.key && f.Column == column && strings.Contains(f.Message, tt.says) {
					return
				}
			}
			t.Errorf("want column %d: ...%s...\n got %v", column, tt.says, findings)
		})
	}
}

func TestFindingStopsNothingElse(t *testing.T) {
	d, findings := parse(t, "apps.example.com",
		"resource/usage", "nodot",
		"resource/composition", "Pod, Nonsense, Secret",
		"resource/annotation-relationship", "on:Pod;Cluster;Nonsense;Service, key:a/b, value:INSTANCE.metadata.name",
		"resource/annotation-relationship2", "garbage",
		"resource/label-relationship1", "on:",
		"resource/label-relationship2", "on:Pod, value:INSTANCE.spec.selector",
		"resource/specproperty-relationship", "on:INSTANCE.spec.a;spec.b;INSTANCE.spec.c, value:Service.metadata.name;Nonsense.metadata.name",
		"resource/label-relation", "on:Pod, value:INSTANCE.spec.selector",
	)
	if got := kindsOf(d); got != "Pod Secret" {
		t.Errorf("composition %q", got)
	}
	var rules []string
	for _, r := range d.Rules {
		rules = append(rules, fmt.Sprintf("%s From%v To %s Field %s", r.Name, r.From, r.To, r.Field))
	}
	equal(t, rules,
		`crd:apps.example.com:resource/annotation-relationship From[Pod Service] To App.example.com Field metadata.annotations["a/b"]`,
		"crd:apps.example.com:resource/label-relationship2 From[App.example.com] To Pod Field spec.selector",
		"crd:apps.example.com:resource/specproperty-relationship From[App.example.com] To Service Field spec.a",
		"crd:apps.example.com:resource/specproperty-relationship:2 From[App.example.com] To Service Field spec.c",
	)
	var lines []string
	for _, f := range findings {
		lines = append(lines, fmt.Sprintf("%s %d", f.Annotation, f.Column))
	}
	equal(t, lines, "resource/label-relation 0", "resource/usage 1", "resource/composition 6",
		"resource/annotation-relationship 8", "resource/annotation-relationship 16", "resource/annotation-relationship2 1",
		"resource/label-relationship1 4", "resource/specproperty-relationship 20", "resource/specproperty-relationship 72")
}

func TestFindingNamesThePlace(t *testing.T) {
	_, findings := parse(t, "apps.example.com", "resource/usage", "nodot")
	const want = `CRD apps.example.com: annotation resource/usage: column 1: "nodot" does not name the location of the manual: expected <configmap>.<key> or <namespace>.<configmap>.<key>`
	if len(findings) != 1 || findings[0].String() != want {
		t.Errorf("got %v, want %s", findings, want)
	}
}

func TestDefinitionThatIsNotServed(t *testing.T) {
	for _, crd := range []string{"", "widgets", "widgets.example.com", "services", "App.example.com"} {
		d, findings := parse(t, crd, "resource/composition", "Pod", "resource/label-relationship", "on:Pod, value:INSTANCE.spec.selector")
		want := 1
		if crd == "services" { // A built-in kind has no definition, but it is served.
			want = 0
		}
		if len(findings) != want || kindsOf(d) != "Pod" {
			t.Errorf("%q: findings %v, composition %q", crd, findings, kindsOf(d))
		}
		if _, findings = parse(t, crd, "resource/composition", "Pod"); len(findings) != 0 {
			t.Errorf("%q: findings %v", crd, findings)
		}
	}
}

func TestNothingDeclared(t *testing.T) {
	d, findings := Parse(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "apps.example.com"}}, testKinds())
	if len(findings) > 0 || len(d.Rules) > 0 || d.Composition != nil || d.Usage != (Usage{}) {
		t.Errorf("got %+v, %v", d, findings)
	}
	if d.Kind.String() != "App.example.com" || d.CRD != "apps.example.com" {
		t.Errorf("got kind %v of %q", d.Kind, d.CRD)
	}
}

func TestScopesThatCannotMeet(t *testing.T) {
	d, findings := parse(t, "fleets.example.com", "resource/specproperty-relationship", "on:INSTANCE.spec.x, value:Secret.metadata.name;Node.metadata.name")
	if len(findings) != 1 || findings[0].Column != 27 || !strings.Contains(findings[0].Message, "namespace of the Secret is unknown") {
		t.Errorf("got %v", findings)
	}
	equal(t, edges(d, read(t, "Fleet.example.com/f", "spec: {x: n1}")), "Fleet.example.com/f -needs/spec-> Node/n1 (if present) because spec.x = n1")

	_, findings = parse(t, "fleets.example.com", "resource/annotation-relationship", "on:Pod, key:a/b, value:INSTANCE.metadata.namespace/INSTANCE.metadata.name")
	if len(findings) != 1 || findings[0].Column != 24 || !strings.Contains(findings[0].Message, "cluster-scoped") {
		t.Errorf("got %v", findings)
	}
}

// A value may be as long as the server allows; a list in it gives only as many findings as a person
// reads.
func TestLongValues(t *testing.T) {
	const size = 16 << 10
	for _, part := range []string{"x;", "Pod;", ",", "on:Pod,", "(", "[", `["`, "INSTANCE.metadata.name", "INSTANCE.spec.a[]", " ", "ü"} {
		long := strings.Repeat(part, size/len(part))
		for _, key := range []string{"resource/composition", "resource/usage", "resource/annotation-relationship", "resource/label-relationship", "resource/specproperty-relationship"} {
			for _, value := range []string{long, "on:" + long + ", value:INSTANCE.spec.x, key:a/b", "on:Pod, key:a/b, value:" + long, "on:INSTANCE." + long + ", value:" + long} {
				_, findings := parse(t, "apps.example.com", key, value)
				if len(findings) > 2*maxParts+2 {
					t.Errorf("%s: %.20s...: %d findings", key, value, len(findings))
				}
				for _, f := range findings {
					if len(f.Message) > 2000 {
						t.Errorf("%s: %.20s...: a message of %d bytes", key, value, len(f.Message))
					}
				}
			}
		}
	}
}
