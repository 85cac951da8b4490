package regulate

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// What somebody changes of a held target is told with who and when, by managedFields; what stands
// as the hold wrote it is not.
func TestDrifts(t *testing.T) {
	b := tiered(t, system.Action{Label: map[string]*string{"tier": new("held")}}, system.Action{Scale: &system.Scale{Replicas: 0}})
	b.until(t, "web")
	if d := Drifts(t.Context(), b.api, b.journal(t)); len(d) != 0 {
		t.Fatalf("nothing was changed: %+v", d)
	}
	web := Target{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}
	b.api.change(t, web, "bob", int64(5), "spec", "replicas")
	b.api.change(t, web, "bob", "mine", "metadata", "labels", "tier")
	all := Drifts(t.Context(), b.api, b.journal(t))
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	for i, want := range []struct{ says, again string }{
		{`metadata.labels.tier is "mine", and Stop holds it at "held"`, `kubectl patch deployments.apps web -n shop --type=json -p '[{"op":"add","path":"/metadata/labels/tier","value":"held"}]'`},
		{`spec.replicas is 5, and Stop holds it at 0`, `kubectl patch deployments.apps web -n shop --subresource=scale --type=json -p '[{"op":"add","path":"/spec/replicas","value":0}]'`},
	} {
		d := all[i]
		if d.By != "bob" || d.At.IsZero() || !strings.HasPrefix(d.Text(), "changed since by bob at "+d.At.Format(time.RFC3339)+": ") || !strings.HasSuffix(d.Text(), want.says) {
			t.Errorf("%s", d.Text())
		}
		c := d.Choices("shop")
		if len(c) != 3 || c[0].Command != "kubectl sysop regulate recover shop web" || c[1].Command != "kubectl sysop regulate recover shop web --force" || c[2].Command != want.again {
			t.Errorf("%+v", c)
		}
	}
	b.api.change(t, web, "bob", map[string]any{}, "metadata", "labels")
	if d := Drifts(t.Context(), b.api, b.journal(t)); !strings.HasPrefix(d[0].Text(), "changed since by an unknown client: metadata.labels.tier is not set") {
		t.Errorf("%s", d[0].Text())
	}
	unread := Drifts(t.Context(), noReads{b.api}, b.journal(t))
	if len(unread) != 2 || !strings.Contains(unread[0].Text(), "could not be read: read ") || unread[0].Choices("shop") != nil {
		t.Errorf("%+v", unread)
	}
	unsigned := b.journal(t)
	unsigned.SetTrust(journal.Unsigned)
	if d := Drifts(t.Context(), b.api, unsigned); len(d) != 0 {
		t.Errorf("what an unsigned journal names is looked at: %+v", d)
	}
	delete(b.api.objects, "Deployment.apps/shop/web")
	if d := Drifts(t.Context(), b.api, b.journal(t)); len(d) != 0 {
		t.Errorf("it is gone: %+v", d)
	}
}

// noReads is a cluster in which nothing may be read.
type noReads struct{ Client }

func (noReads) Get(_ context.Context, t Target) (*unstructured.Unstructured, error) {
	return nil, apierrors.NewForbidden(schema.GroupResource{Resource: t.Resource}, t.Name, errors.New("no"))
}
