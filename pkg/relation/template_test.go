package relation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

var rollout = schema.GroupKind{Group: "argoproj.io", Kind: "Rollout"}

func custom(t *testing.T, namespace, text string) object.Object {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return object.Object{Ref: object.Ref{Group: rollout.Group, Kind: rollout.Kind, Namespace: namespace, Name: "r"}, Version: "v1", Meta: u, Body: u}
}

func linksOf(set *relation.Set, o object.Object) []string {
	var out []string
	set.Links(o, func(rule int, l relation.Link) {
		flags := ""
		if l.Optional {
			flags += " optional"
		}
		if l.Inferred {
			flags += " inferred"
		}
		out = append(out, fmt.Sprintf("%s %s/%s/%s %s%s", set.Rules()[rule].Name, l.Target.Kind.Kind, l.Target.Namespace, l.Target.Name, l.Field, flags))
	})
	slices.Sort(out)
	return out
}

// at returns the rules of templates for a shape at spec.template.
func at(shape relation.PodShape, inferred bool) []relation.Rule {
	return relation.Templates([]schema.GroupKind{rollout}, "spec.template", "test", func(o object.Object, visit func(relation.PodPart)) {
		spec, _ := o.Fields()["spec"].(map[string]any)
		if m, ok := spec["template"].(map[string]any); ok {
			visit(relation.PodPart{Path: "spec.template", Shape: shape, Fields: m, Inferred: inferred})
		}
	})
}

const podTemplate = `
spec:
  template:
    metadata: {annotations: {k8s.v1.cni.cncf.io/networks: net}}
    spec:
      serviceAccountName: web
      imagePullSecrets: [{name: pull}]
      priorityClassName: high
      resourceClaims: [{name: gpu, resourceClaimName: gpus}]
      securityContext: {windowsOptions: {gmsaCredentialSpecName: g}, fsGroup: "{{ group }}"}
      initContainers: [{name: i, command: [x, --db-host=db]}]
      containers:
      - broken
      - name: c
        resources: {limits: {memory: "{{ memory }}"}}
        ports: [{containerPort: "{{ port }}"}]
        env: [{name: DB_HOST, value: db}, {name: P, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}]
        envFrom: [{configMapRef: {name: c}}]
      volumes: [7, {name: a, emptyDir: {sizeLimit: "{{ size }}"}}, {name: v, secret: {secretName: tls}}, {name: d, csi: {driver: csi.x.io}}]`

func TestTemplates(t *testing.T) {
	set := relation.NewSet(at(relation.PodTemplate, false)...)
	if !set.Reads(rollout) {
		t.Error("they read whole objects")
	}
	want := []string{
		"pod-csi-driver CSIDriver//csi.x.io spec.template.spec.volumes[3].csi.driver",
		"pod-env-host Service/shop/db spec.template.spec.containers[1].env[0].value inferred",
		"pod-env-secret Secret/shop/s spec.template.spec.containers[1].env[1].valueFrom.secretKeyRef.name optional",
		"pod-envfrom-configmap ConfigMap/shop/c spec.template.spec.containers[1].envFrom[0].configMapRef.name",
		"pod-gmsa GMSACredentialSpec//g spec.template.spec.securityContext.windowsOptions.gmsaCredentialSpecName",
		"pod-network NetworkAttachmentDefinition/shop/net spec.template.metadata.annotations[k8s.v1.cni.cncf.io/networks]",
		"pod-priority-class PriorityClass//high spec.template.spec.priorityClassName",
		"pod-pull-secret Secret/shop/pull spec.template.spec.imagePullSecrets[0].name",
		"pod-resource-claim ResourceClaim/shop/gpus spec.template.spec.resourceClaims[0].resourceClaimName",
		"pod-service-account ServiceAccount/shop/web spec.template.spec.serviceAccountName",
		"pod-volume-secret Secret/shop/tls spec.template.spec.volumes[2].secret.secretName",
	}
	if got := linksOf(set, custom(t, "shop", podTemplate)); !slices.Equal(withoutArgs(got), want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// The namespace of a cluster-scoped carrier's pods is unknown.
	want = []string{want[0], want[4], want[6]}
	if got := linksOf(set, custom(t, "", podTemplate)); !slices.Equal(got, want) {
		t.Errorf("cluster-scoped:\n%s", strings.Join(got, "\n"))
	}
	for _, r := range set.Rules() {
		if r.Origin != "test" || !strings.HasPrefix(r.Field, "spec.template.") {
			t.Errorf("row %+v", r)
		}
		n := 0
		r.Links(custom(t, "shop", podTemplate), func(relation.Link) { n++ })
		if all := len(linksOf(relation.NewSet(r), custom(t, "shop", podTemplate))); n != all {
			t.Errorf("%s alone: %d links, %d in a set", r.Name, n, all)
		}
	}
}

func withoutArgs(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasPrefix(l, "pod-arg-host ") })
}

func TestTemplateShapes(t *testing.T) {
	for _, c := range []struct {
		shape relation.PodShape
		text  string
		want  string
	}{
		{relation.PodSpec, "{volumes: [{name: v, configMap: {name: c, optional: true}}]}", "pod-volume-configmap ConfigMap/shop/c spec.template.volumes[0].configMap.name optional inferred"},
		{relation.Container, "{envFrom: [{secretRef: {name: s}}]}", "pod-envfrom-secret Secret/shop/s spec.template.envFrom[0].secretRef.name inferred"},
		{relation.Container, "{env: [{name: A, valueFrom: {configMapKeyRef: {name: c, key: k}}}]}", "pod-env-configmap ConfigMap/shop/c spec.template.env[0].valueFrom.configMapKeyRef.name inferred"},
		{relation.Container, "{securityContext: {windowsOptions: {gmsaCredentialSpecName: g}}}", ""},
		{relation.PodTemplate, "{metadata: 7, spec: 7}", ""},
		{relation.PodTemplate, "{}", ""},
		{relation.PodSpec, "{containers: [{env: {A: b}, envFrom: x}], volumes: {a: b}, imagePullSecrets: [a], serviceAccountName: 3, securityContext: no}", ""},
	} {
		got := strings.Join(linksOf(relation.NewSet(at(c.shape, true)...), custom(t, "shop", "spec: {template: "+c.text+"}")), "\n")
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

// TestTogether: a rule that was removed from a family emits no link; the others keep their names.
func TestTogether(t *testing.T) {
	rules := at(relation.PodTemplate, false)
	rules = slices.DeleteFunc(rules, func(r relation.Rule) bool { return r.Name != "pod-pull-secret" && r.Name != "pod-csi-driver" })
	rules = append([]relation.Rule{{Name: "first", Links: func(object.Object, relation.EmitFunc) {}}}, rules...)
	got := strings.Join(linksOf(relation.NewSet(rules...), custom(t, "shop", podTemplate)), "\n")
	want := "pod-csi-driver CSIDriver//csi.x.io spec.template.spec.volumes[3].csi.driver\npod-pull-secret Secret/shop/pull spec.template.spec.imagePullSecrets[0].name"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func BenchmarkTemplate(b *testing.B) {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(podTemplate), &u.Object); err != nil {
		b.Fatal(err)
	}
	set, o := relation.NewSet(at(relation.PodTemplate, false)...), object.Object{Ref: object.Ref{Group: rollout.Group, Kind: rollout.Kind, Namespace: "shop", Name: "r"}, Meta: u, Body: u}
	b.ReportAllocs()
	for b.Loop() {
		set.Links(o, func(int, relation.Link) {})
	}
}

// TestTemplateIsThePod: each pod template of the fixtures gives the same links in a custom
// resource, except for the rules that read only the topmost template of built-in kinds.
func TestTemplateIsThePod(t *testing.T) {
	const path = "spec.template"
	edges := relation.NewSet(slices.DeleteFunc(relation.BuiltIn(), func(r relation.Rule) bool { return r.Evidence })...)
	n := 0
	for name := range fixtureNames(t) {
		f := readFixture(t, name)
		for _, o := range f.objects {
			switch o.Kind {
			case "Deployment", "StatefulSet", "DaemonSet", "Job":
			default:
				continue
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.Body)
			if err != nil {
				t.Fatal(err)
			}
			u := &unstructured.Unstructured{Object: content}
			part := o
			part.Group, part.Kind, part.Body, part.Meta = rollout.Group, rollout.Kind, u, u
			same := relation.NewSet(at(relation.PodTemplate, false)...)
			got := linksOf(same, part)
			want := slices.DeleteFunc(linksOf(edges, o), func(l string) bool {
				topmost := strings.Contains(l, "affinity") || strings.Contains(l, "spread") || strings.Contains(l, "subdomain")
				return topmost || !strings.Contains(l, path) || strings.HasSuffix(l, "default spec.template.spec.serviceAccountName")
			})
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s\ngot\n%s\nwant\n%s", name, o.Ref, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			n += len(got)
		}
	}
	if n < 20 {
		t.Errorf("%d links only", n)
	}
}
