package system_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

const shopManifest = "# mine\napiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: shop}\nspec: {apps: [{name: web, roots: [deployment/web]}]}\n"

func shopMembers() []object.Ref {
	return []object.Ref{
		{Group: "apps", Kind: "StatefulSet", Namespace: "data", Name: "db"},
		{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
		{Group: "apps", Kind: "Deployment", Namespace: "data", Name: "more"},
		{Kind: "Namespace", Name: "shop"},
		{Kind: "Secret", Namespace: "archive", Name: "key"},
	}
}

// The marks are those that kubectl writes. The ID was computed apart from this program:
// base64url(sha256("sysop-shop.shop.ConfigMap.")).
func TestParent(t *testing.T) {
	o := system.NewSet("shop", "shop", shopManifest, shopMembers()).Parent("v1.2.3")
	want := map[string]string{
		"applyset.kubernetes.io/tooling":               "kubectl-sysop/v1.2.3",
		"applyset.kubernetes.io/contains-group-kinds":  "Deployment.apps,Namespace,Secret,StatefulSet.apps",
		"applyset.kubernetes.io/additional-namespaces": "archive,data",
	}
	if got := o.GetAnnotations(); len(got) != len(want) {
		t.Errorf("annotations %v", got)
	}
	for k, v := range want {
		if got := o.GetAnnotations()[k]; got != v {
			t.Errorf("%s = %q, want %q", k, got, v)
		}
	}
	labels := o.GetLabels()
	if len(labels) != 2 || labels["applyset.kubernetes.io/id"] != "applyset-QQ7g-FzPL4pH7NBgFr6jqy-qAoFwAy2MoGtMElstahU-v1" || labels["sysop.dev/system"] != "shop" {
		t.Errorf("labels %v", labels)
	}
	if o.GetName() != "sysop-shop" || o.GetNamespace() != "shop" || o.GetKind() != "ConfigMap" || o.GetAPIVersion() != "v1" {
		t.Errorf("%v", o)
	}
	if !system.IsParent(object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "sysop-shop"}, labels) {
		t.Error("it is no parent")
	}
	s, err := system.ParseParent(o)
	if err != nil || s.Name != "shop" || s.Namespace != "shop" || len(s.Apps) != 1 {
		t.Errorf("%+v: %v", s, err)
	}
	set, err := system.ParseSet(o)
	if err != nil || set.Manifest != shopManifest || !set.Matches(o, "v1.2.3") || set.Matches(o, "v1.2.4") {
		t.Errorf("%+v: %v", set, err)
	}
}

// A set without other namespaces says so, as kubectl does.
func TestParentOfOneNamespace(t *testing.T) {
	set := system.NewSet("shop", "shop", "", shopMembers()[1:2])
	if got, ok := set.Parent("v1").GetAnnotations()["applyset.kubernetes.io/additional-namespaces"]; got != "" || !ok {
		t.Errorf("%q %v", got, ok)
	}
}

func TestNotOurParent(t *testing.T) {
	fresh := func() *unstructured.Unstructured {
		return system.NewSet("shop", "shop", shopManifest, shopMembers()).Parent("v1")
	}
	mark := func(labels bool, key, value string) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) {
			all := o.GetAnnotations()
			if labels {
				all = o.GetLabels()
			}
			if all[key] = value; value == "" {
				delete(all, key)
			}
			if labels {
				o.SetLabels(all)
			} else {
				o.SetAnnotations(all)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*unstructured.Unstructured)
		want   string
	}{
		{"tooling", mark(false, "applyset.kubernetes.io/tooling", "kubectl/v1.33"), `other tooling ("kubectl/v1.33")`},
		{"like ours", mark(false, "applyset.kubernetes.io/tooling", "kubectl-sysop/fork/v1"), "other tooling"},
		{"no tooling", mark(false, "applyset.kubernetes.io/tooling", ""), "other tooling"},
		{"no id", mark(true, "applyset.kubernetes.io/id", ""), "holds no ApplySet"},
		{"copied", func(o *unstructured.Unstructured) { o.SetNamespace("copy") }, "that of another object"},
		{"name", func(o *unstructured.Unstructured) { o.SetName("shop") }, "holds no System"},
		{"label", mark(true, "sysop.dev/system", "other"), "holds no System"},
		{"kind", func(o *unstructured.Unstructured) { o.SetKind("Secret") }, "holds no System"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := fresh()
			c.change(o)
			if _, err := system.ParseSet(o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	for manifest, want := range map[string]string{
		"": "system.yaml]:1:1: ", "apiVersion: v1\n": "system.yaml]:1:",
		strings.Replace(shopManifest, "name: shop", "name: other", 1):                      "another System: other",
		strings.Replace(shopManifest, "{name: shop}", "{name: shop, namespace: other}", 1): "another System",
	} {
		o := system.NewSet("shop", "shop", manifest, shopMembers()).Parent("v1")
		if _, err := system.ParseParent(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("manifest %q: %v, want %q", manifest, err, want)
		}
	}
}

func found(ref object.Ref, of string, controlled bool) system.Member {
	f := system.Member{Ref: ref, Labels: map[string]string{}, Controlled: controlled}
	if of != "" {
		f.Labels[system.MemberLabel] = of
	}
	return f
}

func TestAdopt(t *testing.T) {
	m := shopMembers()
	pod := object.Ref{Kind: "Pod", Namespace: "shop", Name: "web-1"}
	want := system.NewSet("shop", "shop", shopManifest, m[:2])
	before := system.NewSet("shop", "shop", "", []object.Ref{m[1], m[4], pod})
	id := want.ID()
	a, errs := system.Adopt(want, &before, []system.Member{found(m[0], "", false), found(m[1], id, false), found(m[0], "", false)},
		[]system.Member{found(m[4], id, false), found(m[1], id, false), found(pod, id, true), found(m[4], id, false)})
	if len(errs) > 0 || a.Parent != system.Update {
		t.Fatalf("%v, parent %s", errs, a.Parent)
	}
	var got []string
	for _, s := range a.Members {
		got = append(got, string(s.Change)+" "+s.Object.Ref.String())
	}
	if !slices.Equal(got, []string{"label StatefulSet.apps/data/db", "none Deployment.apps/shop/web", "left Pod/shop/web-1", "unlabel Secret/archive/key"}) {
		t.Errorf("%v", got)
	}
	kinds := []schema.GroupKind{{Group: "apps", Kind: "Deployment"}, {Kind: "Pod"}, {Kind: "Secret"}, {Group: "apps", Kind: "StatefulSet"}}
	if !slices.Equal(a.Wide.Kinds, kinds) || !slices.Equal(a.Wide.Namespaces, []string{"archive", "data"}) || a.Wide.Manifest != shopManifest {
		t.Errorf("in between %+v", a.Wide)
	}
	if _, errs := system.Adopt(want, nil, []system.Member{found(m[0], "applyset-other-v1", false)}, nil); len(errs) != 1 || !strings.Contains(errs[0].Error(), "StatefulSet.apps/data/db is in another ApplySet") {
		t.Errorf("%v", errs)
	}
	if a, _ := system.Adopt(want, nil, nil, nil); a.Parent != system.Create {
		t.Errorf("parent %s", a.Parent)
	}
}

func TestRelease(t *testing.T) {
	m := shopMembers()
	id := system.SetID(system.ParentRef("shop", "shop"))
	steps := system.Release([]system.Member{found(m[1], id, false), found(m[0], id, true), found(m[1], id, false)})
	if len(steps) != 2 || steps[0].Change != system.RemoveLabel || steps[1].Change != system.NotAMember {
		t.Errorf("%+v", steps)
	}
}
