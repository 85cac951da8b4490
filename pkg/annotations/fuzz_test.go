package annotations

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// FuzzParse: no text of an annotation or of an object causes a panic; findings have positions
// inside of the text; links have valid names; and the same text always gives the same result.
func FuzzParse(f *testing.F) {
	for i, value := range []string{
		"on:Ingress, key:cert-manager.io/cluster-issuer, value:INSTANCE.metadata.name",
		"on:Secret;Pod, key:cassandra.datastax.com/watched-by, value:contains(INSTANCE.metadata.name)",
		"on:Pod,key:k8s.v1.cni.cncf.io/networks,value:[{name:INSTANCE.metadata.name}]",
		"on:Deployment, value:INSTANCE.spec.selector",
		"on:Namespace;Pod, key:meta.helm.sh/release-name, value:wordpressservice-INSTANCE.metadata.name",
		"on:Pod, key:a/b, value:INSTANCE.metadata.namespace/INSTANCE.metadata.name",
		`on:INSTANCE.spec.users[].secretName;INSTANCE.metadata.labels["a/b"], value:Secret;Service.spec.metadata.name`,
		"on:INSTANCE.spec.volumeMounts, value:Deployment.spec.containers.volumemounts.mountpath",
		"on:Pod, key:a/b, value:x-INSTANCE.spec.users[1].name", `"StatefulSet, Service"`, "ns.cm.key", "on", "", "(", `["`,
		// Values that make KubePlus's parser panic, match too much, or match nothing.
		"on:Pod", "on Pod, value INSTANCE.spec.selector", "on:Ingress,key:cert-manager.io/cluster-issuer", ",", ":", "on:,key:,value:", // too few parts, no colon
		"on:Pod;Service, value:INSTANCE.spec.selector", "on:Pod,Service, value:INSTANCE.spec.selector", // two kinds
		"on:Pod, key:a/b, value:moodle1", "on:PersistentVolumeClaim, key:a/b, value:INSTANCE.metadata.name", // no INSTANCE; a label's key that was ignored
		"on:INSTANCE.spec.mySQLServiceName, value:Service.spec.metadata.name", "on:INSTANCE.spec.backend.service.name, value:Service.spec.metadata.name",
		"mysqlcluster-usage", "mysqlcluster-usage.", ".usage", "a.b.c.d", "StatefulSet Service", "StatefulSet,,Service", // usage without a dot, lists without commas
		"- {to: Secret, relation: needs, field: spec.users[].secretName}", "- {to: [Pod, Service], relation: serves, selector: spec.selector}\n- {to: Secret, relation: need}", "- [", "to: Secret",
	} {
		// Each under three of the keys; the fuzzer mixes them anyway.
		for j := range byte(3) {
			f.Add(byte(i)+5*j, value, "dc1,ns/dc2@eth0")
		}
		f.Add(byte(i), value, `[{"name":"dc1","namespace":"ns"},"x-y"]`)
	}
	kinds := testKinds()
	const fields = `{"metadata":{"labels":{"a/b":"x"}},"spec":{"selector":{"app":"web"},"users":[{"name":"u"},{"secretName":"s"}]}}`
	custom := []object.Object{read(f, "App.example.com/n/a", fields), read(f, "Fleet.example.com/f", fields)}
	f.Fuzz(func(t *testing.T, which byte, value, carried string) {
		key, crd := fuzzKeys[int(which)%len(fuzzKeys)], fuzzCRDs[int(which)/len(fuzzKeys)%len(fuzzCRDs)]
		m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: crd, Annotations: map[string]string{key: value}}}
		d, findings := Parse(m, kinds)
		for _, f := range findings {
			lines := strings.Count(value, "\n") + strings.Count(value, "\r") + 2
			if f.Line == 0 && f.Column > utf8.RuneCountInString(value)+1 || f.Line > lines || f.Column < 1 || f.Message == "" || f.Annotation != key {
				t.Errorf("finding %v is in no place of %q", f, value)
			}
		}
		again, findings2 := Parse(m, kinds)
		if !slices.Equal(findings, findings2) || len(d.Rules) != len(again.Rules) {
			t.Errorf("%q means something else the second time", value)
		}
		objects := append(fuzzPods(t, carried), custom...)
		got := edges(d, objects...)
		equal(t, edges(again, objects...), got...)
		checkLinks(t, d, objects)
	})
}

var (
	fuzzKeys = []string{"resource/usage", "resource/composition", "resource/annotation-relationship", "resource/label-relationship2", "platform-as-code/specprop-relation", Relationships}
	fuzzCRDs = []string{"apps.example.com", "fleets.example.com"}
)

// fuzzPods is a pod that carries the value under every key.
func fuzzPods(t *testing.T, carried string) []object.Object {
	pod := read(t, "Pod/n/p", "")
	values := map[string]string{}
	for _, k := range []string{"a/b", "cert-manager.io/cluster-issuer", "cassandra.datastax.com/watched-by", "k8s.v1.cni.cncf.io/networks", helmRelease} {
		values[k] = carried
	}
	pod.Meta.SetAnnotations(values)
	pod.Meta.SetLabels(values)
	return []object.Object{pod}
}

func checkLinks(t *testing.T, d Declaration, objects []object.Object) {
	for _, r := range d.Rules {
		if len(r.From) == 0 || r.Relation == 0 || r.Via == 0 || r.Name == "" || r.Origin == "" {
			t.Errorf("rule %+v is not complete", r)
		}
	}
	set := relation.NewSet(d.Rules...)
	for _, o := range objects {
		set.Links(o, func(_ int, l relation.Link) {
			switch {
			case l.Field == "" || l.Target.Kind.Kind == "":
				t.Errorf("link %+v does not say enough", l)
			case (l.Target.Selector == nil) == (l.Target.Name == ""):
				t.Errorf("link %+v: want a name or a selector", l)
			case l.Target.Name != "" && !object.MayBeName(l.Target.Name):
				t.Errorf("%q cannot be a name", l.Target.Name)
			}
			if s := l.Target.Selector; s != nil && s.Match != nil {
				s.Match("x,y")
			}
		})
	}
}
