package system_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

func labelled(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestSetLabels(t *testing.T) {
	const (
		recommended = `"app.kubernetes.io/component":"web","app.kubernetes.io/instance":"shop-web"`
		ofPods      = `"app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/part-of":"shop","team":"shop"`
		all         = `{` + recommended + `,"app.kubernetes.io/part-of":"shop","team":"shop"}`
		pods        = `{` + recommended + `,` + ofPods + `}`
	)
	for _, c := range []struct {
		name, object, other string
		want, template      string
		notes               []string
	}{
		{"an object without labels", "{kind: ConfigMap, metadata: {name: a}}", "", all, "", nil},
		{"what is there stays", "{kind: ConfigMap, metadata: {name: a, labels: {app.kubernetes.io/part-of: else, x: z}}}", "", `{` + recommended + `,"app.kubernetes.io/part-of":"else","team":"shop","x":"z"}`, "", nil},
		{"the user's own replaces", "{kind: ConfigMap, metadata: {name: a, labels: {team: else}}}", "", all, "", nil},
		{"a Deployment", "{kind: Deployment, metadata: {name: a}, spec: {template: {metadata: {labels: {app: a}}}}}", "", all, `{"app":"a",` + pods[1:], nil},
		{"a template without metadata", "{kind: StatefulSet, metadata: {name: a}, spec: {template: {spec: {}}, volumeClaimTemplates: [{metadata: {name: c}}]}}", "", all, pods, nil},
		{"a CronJob", "{kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {spec: {template: {}}}}}", "", all, pods, nil},
		{"a Job, whose template is immutable", "{kind: Job, metadata: {name: a}, spec: {template: {metadata: {labels: {app: a}}}}}", "", all, "", nil},
		{
			"a selector reads it", "{kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {team: old}}, template: {metadata: {labels: {team: old}}}}}", "",
			all, `{` + recommended + `,"app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/part-of":"shop","team":"old"}`,
			[]string{"web: the label team of Deployment a stays as it is: a selector reads it"},
		},
		{
			"a Service would select more pods", "{kind: Deployment, metadata: {name: a}, spec: {template: {}}}", "{kind: Service, metadata: {name: s}, spec: {selector: {app.kubernetes.io/component: web}}}",
			all, `{"app.kubernetes.io/instance":"shop-web",` + ofPods + `}`, nil,
		},
		{
			"a policy would select fewer pods", "{kind: Pod, metadata: {name: a, labels: {team: old}}}", "{kind: NetworkPolicy, metadata: {name: p}, spec: {podSelector: {matchExpressions: [{key: team, operator: In, values: [old]}]}}}",
			`{` + recommended + `,"app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/part-of":"shop","team":"old"}`, "",
			[]string{"web: the label team of Pod a stays as it is: a selector reads it"},
		},
		{"a definition may be shared", "{kind: CustomResourceDefinition, metadata: {name: a}}", "", "null", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &system.System{Name: "shop", Labels: map[string]string{"team": "shop"}}
			o := labelled(t, c.object)
			selectors := o.DeepCopy()
			world := []*unstructured.Unstructured{o}
			if c.other != "" {
				world = append(world, labelled(t, c.other))
			}
			if notes := s.SetLabels("web", "shop-web", world[:1], world); !slices.Equal(notes, c.notes) {
				t.Errorf("notes %q, want %q", notes, c.notes)
			}
			if got := asJSON(t, o.GetLabels()); got != c.want {
				t.Errorf("labels\n%s\nwant\n%s", got, c.want)
			}
			if got := asJSON(t, system.TemplateLabels(o)); c.template != "" && got != c.template {
				t.Errorf("labels of pods\n%s\nwant\n%s", got, c.template)
			}
			for _, path := range [][]string{{"spec", "selector"}, {"spec", "volumeClaimTemplates"}} {
				was, _, _ := unstructured.NestedFieldCopy(selectors.Object, path...)
				is, _, _ := unstructured.NestedFieldCopy(o.Object, path...)
				if asJSON(t, was) != asJSON(t, is) {
					t.Errorf("%v changed to %v", was, is)
				}
			}
			before := asJSON(t, o.Object)
			s.SetLabels("web", "shop-web", world[:1], world)
			if after := asJSON(t, o.Object); after != before {
				t.Errorf("a second time makes\n%s\nof\n%s", after, before)
			}
		})
	}
	s, o := &system.System{Name: "shop"}, labelled(t, "{kind: ConfigMap, metadata: {name: a}}")
	s.SetLabels("web", "shop-web", []*unstructured.Unstructured{o}, nil)
	if len(o.GetLabels()) > 0 || s.LabelKeys() != nil {
		t.Errorf("without spec.labels it has %v", o.GetLabels())
	}
	s.Labels = map[string]string{}
	s.SetLabels("web", "shop-web", []*unstructured.Unstructured{o}, nil)
	if len(o.GetLabels()) != 3 {
		t.Errorf("with empty spec.labels it has %v", o.GetLabels())
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestExportedLabels: what spec.labels set on the objects of a System is exported as spec.labels.
func TestExportedLabels(t *testing.T) {
	const web = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {app: web}}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: []}}}}"
	for name, own := range map[string]map[string]string{"none": nil, "the recommended ones": {}, "the user's": {"team": "shop"}} {
		t.Run(name, func(t *testing.T) {
			s := &system.System{Name: "old", Labels: own}
			objects := []*unstructured.Unstructured{labelled(t, web), labelled(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}")}
			s.SetLabels("web", "old-web", objects, objects)
			made, _ := system.Export(system.Exported{Name: "new", Namespace: "shop", Apps: []system.ExportedApp{{Name: "web", Objects: objects}}})
			if asJSON(t, made.Labels) != asJSON(t, own) {
				t.Errorf("spec.labels is %v, want %v", made.Labels, own)
			}
			for _, o := range made.Apps[0].Resources {
				want := "null"
				if o.GetKind() == "Deployment" {
					want = `{"app":"web"}`
				}
				if got := asJSON(t, o.GetLabels()); got != want {
					t.Errorf("%s has the labels %s, want %s", o.GetKind(), got, want)
				}
			}
			if own != nil && asJSON(t, objects[0].GetLabels()) == `{"app":"web"}` {
				t.Error("what was exported was changed")
			}
		})
	}
	// One object without them says that no System set them.
	objects := []*unstructured.Unstructured{labelled(t, web), labelled(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}")}
	(&system.System{Name: "old", Labels: map[string]string{}}).SetLabels("web", "old-web", objects[:1], objects)
	made, _ := system.Export(system.Exported{Name: "new", Namespace: "shop", Apps: []system.ExportedApp{{Name: "web", Objects: objects}}})
	if made.Labels != nil {
		t.Errorf("spec.labels is %v", made.Labels)
	}
}

// TestLabelDrift: a label that an object or its pods lost is said; one that a selector reads, and one
// that the System never set, is not.
func TestLabelDrift(t *testing.T) {
	web := labelled(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {tier: front}}, template: {metadata: {labels: {tier: front}}}}}")
	s := &system.System{Name: "shop", Namespace: "shop", Labels: map[string]string{"team": "till", "tier": "all"}, Apps: []system.App{{Name: "web", Resources: []*unstructured.Unstructured{web}}}}
	before := web.DeepCopy()
	set := before.DeepCopy()
	s.SetLabels("web", s.ReleaseOf("web"), []*unstructured.Unstructured{set}, []*unstructured.Unstructured{set})
	drift := func(own, pods map[string]string, found bool) string {
		var out []string
		for _, d := range s.LabelDrift(func(ref object.Ref) (map[string]string, map[string]string, bool) {
			if ref.String() != "Deployment.apps/shop/web" {
				t.Errorf("it asks for %s", ref)
			}
			return own, pods, found
		}) {
			out = append(out, d.String())
		}
		return strings.Join(out, "\n")
	}
	own, pods := set.GetLabels(), system.TemplateLabels(set)
	if got := drift(own, pods, true); got != "" || pods["tier"] != "front" {
		t.Errorf("of what was set, %q drifts; the pods have %v", got, pods)
	}
	if got := drift(nil, nil, false); got != "" {
		t.Errorf("of what was not read, %q drifts", got)
	}
	own["team"] = "lost"
	delete(pods, "team")
	want := "Deployment.apps/shop/web: the label team is lost, not till\nDeployment.apps/shop/web, pod template: the label team is missing, not till"
	if got := drift(own, pods, true); got != want {
		t.Errorf("drift is %q, want %q", got, want)
	}
	if !reflect.DeepEqual(web, before) {
		t.Error("comparing changed the manifest")
	}
}
