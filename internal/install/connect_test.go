package install

import (
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func TestMakeConnections(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*connection.Connection)
		say    string
	}{
		{"to a field that there is not", func(c *connection.Connection) { c.Field = "spec.nothing" }, "has no field nothing"},
		{"to an object that it does not make", func(c *connection.Connection) { c.To.Name = "api" }, "it creates no Deployment.apps/shop/api"},
		{"from a field that there is not", func(c *connection.Connection) { c.Path = "status.nothing" }, "has no field nothing"},
		{"to an item beyond the end of a list", func(c *connection.Connection) {
			c.Field = "spec.template.spec.containers[0].envFrom[1].secretRef.name"
		}, "[1] is beyond the end"},
		{"a value of a Secret", func(c *connection.Connection) {
			c.From, c.Path = object.Ref{Kind: "Secret", Namespace: "shop", Name: "db-app"}, "data.password"
		}, "connect its name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parts := shopParts(t)
			c.change(&parts[0].Connections[0])
			p := NewPlan(Install, shopSystem, parts, emptyState(), planOptions)
			wantRefusal(t, p, "connection", c.say)
		})
	}
	t.Run("a value that does not fit", func(t *testing.T) {
		parts := shopParts(t)
		parts[0].Connections[0].Field = "spec.replicas"
		s := doPlan(t, emptyState(), NewPlan(Install, shopSystem, shopParts(t), emptyState(), planOptions))
		db := s.Objects[parts[0].Connections[0].From].DeepCopy()
		if err := connection.Set(db, "status.host", "db.shop.svc"); err != nil {
			t.Fatal(err)
		}
		s.Objects[object.RefOf(db)] = db
		wantRefusal(t, NewPlan(Install, shopSystem, parts, s, planOptions), "connection", "does not fit into spec.replicas")
	})
	t.Run("the name of a Secret that is to be made", func(t *testing.T) {
		parts := shopParts(t)
		parts[0].Connections[0].From, parts[0].Connections[0].Path = object.Ref{Kind: "Secret", Namespace: "shop", Name: "db-app"}, "metadata.name"
		p := NewPlan(Install, shopSystem, parts, emptyState(), planOptions)
		if len(p.Refusals) > 0 {
			t.Error(refusalTexts(p))
		}
		if p.Parts[len(p.Parts)-1].Name != "web" {
			t.Error("the app comes before the one that makes its Secret")
		}
	})
}
