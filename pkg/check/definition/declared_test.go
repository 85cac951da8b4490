package definition

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

// shopInstance is a Shop, and ownedBy an object of a kind that it owns.
const shopInstance = `apiVersion: test.example.org/v1
kind: Shop
metadata: {name: a, namespace: ns, uid: 50000000-0000-0000-0000-000000000001}
`

func ownedBy(apiVersion, kind, name string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n  namespace: ns\n  uid: 50000000-0000-0000-0000-0000" + kind[:1] + name +
		"\n  ownerReferences: [{apiVersion: test.example.org/v1, kind: Shop, name: a, uid: 50000000-0000-0000-0000-000000000001}]\n"
}

func annotated(notes string) string {
	return strings.Replace(definitionText, "metadata: {name: shops.test.example.org}", "metadata:\n  name: shops.test.example.org\n  annotations: {"+notes+"}", 1)
}

func TestComposition(t *testing.T) {
	service, deployment := ownedBy("v1", "Service", "s"), ownedBy("apps/v1", "Deployment", "d")
	replicaSet := strings.NewReplacer("test.example.org/v1, kind: Shop, name: a, uid: 50000000-0000-0000-0000-000000000001", "apps/v1, kind: Deployment, name: d, uid: 50000000-0000-0000-0000-0000Dd").
		Replace(ownedBy("apps/v1", "ReplicaSet", "r"))
	for _, tt := range []struct {
		name, parts string
		docs        []string
		unread      []string
		want        string
	}{
		{"nothing declared", "", []string{shopInstance, service}, nil, ""},
		{"no instance", "Service", nil, nil, ""},
		{"nothing owned yet", "Service", []string{shopInstance}, nil, "open"},
		{"as declared", "Service, Deployment", []string{shopInstance, service, deployment}, nil, "fine"},
		{"parts of parts need no word", "Deployment", []string{shopInstance, deployment, replicaSet}, nil, "fine"},
		{"parts of parts may have one", "Deployment, ReplicaSet", []string{shopInstance, deployment, replicaSet}, nil, "fine"},
		{"one that is not declared", "Deployment", []string{shopInstance, deployment, service}, nil, "info Service"},
		{"one that is not there", "Deployment, ConfigMap", []string{shopInstance, deployment}, nil, "info ConfigMap"},
		{"one that was not read", "Deployment, ConfigMap", []string{shopInstance, deployment}, []string{"ConfigMap"}, "open"},
		{"one that cannot be owned", "Deployment, PersistentVolume", []string{shopInstance, deployment}, nil, "fine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := definitionText
			if tt.parts != "" {
				text = annotated("resource/composition: '" + tt.parts + "'")
			}
			w := checktest.Read(t, operator.Find, strings.Join(append([]string{text}, tt.docs...), "\n---\n"), tt.unread...)
			if got := said(t, w.Definitions[0], "crd-composition"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDeclared(t *testing.T) {
	plain := checktest.Read(t, operator.Find, definitionText).Definitions[0]
	if got := said(t, plain, "crd-relationships"); got != "info " {
		t.Errorf("nothing declared: %q", got)
	}
	plain.World.Catalogued = func(gk schema.GroupKind) (string, bool) { return "shop-operator", gk == plain.Kind }
	if got := said(t, plain, "crd-relationships"); got != "fine" {
		t.Errorf("the catalog knows it: %q", got)
	}
	for id, want := range map[string]string{"crd-annotations": "", "crd-usage": "", "crd-composition": ""} {
		if got := said(t, plain, id); got != want {
			t.Errorf("%s has nothing to look at: %q", id, got)
		}
	}
	declared := checktest.Read(t, operator.Find, annotated("resource/label-relationship: 'on:Pod, key:shop, value:INSTANCE.metadata.name'")).Definitions[0]
	if got := said(t, declared, "crd-relationships") + said(t, declared, "crd-annotations"); got != "finefine" {
		t.Errorf("declared: %q", got)
	}
	broken := checktest.Read(t, operator.Find, annotated("resource/label-relationship: 'on:Nothing, key:shop, value:INSTANCE.metadata.name'")).Definitions[0]
	r := checktest.Only(t, Rules(), "crd-annotations", broken.Check)
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, `unknown kind "Nothing"`) || strings.HasPrefix(r.Findings[0].Message, "CRD ") {
		t.Errorf("a kind that nobody serves: %+v", r.Findings)
	}
}

func TestUsage(t *testing.T) {
	text := annotated("resource/usage: ns.manual.usage")
	manual := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: manual, namespace: ns}\ndata: {usage: \"%s\"}\n"
	for _, tt := range []struct{ name, more, want string }{
		{"there", strings.Replace(manual, "%s", "Open a shop.", 1), "fine"},
		{"blank", strings.Replace(manual, "%s", "   ", 1), "warning "},
		{"no such key", strings.Replace(manual, "usage:", "other:", 1), "warning "},
		{"not there", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: ns}\n", "warning "},
	} {
		if got := said(t, checktest.Read(t, operator.Find, text+"\n---\n"+tt.more).Definitions[0], "crd-usage"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	unread := checktest.Read(t, operator.Find, text).Definitions[0]
	unread.Usage, unread.UsageMissing, unread.UsageUnread = "", "", "forbidden"
	if r := checktest.Only(t, Rules(), "crd-usage", unread.Check); len(r.Findings) != 0 || len(r.Unknowns) != 1 || !strings.Contains(r.Unknowns[0].Reason, "forbidden") {
		t.Errorf("may not be read: %+v", r)
	}
}
