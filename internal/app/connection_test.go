package app

import (
	"slices"
	"testing"
	"time"
)

// TestAnother: what is read holds for the questions that read for themselves; what they change of
// it is their own.
func TestAnother(t *testing.T) {
	c := &Input{From: "demo", AllNamespaces: true, NoInferred: true, RulesFiles: []string{"a.yaml", "b.yaml"}, Now: time.Now, Report: &reported{}}
	c.Configure()
	here := "here"
	c.Config.Context = &here
	fresh := c.Another("")
	if fresh.From != "demo" || !fresh.AllNamespaces || !fresh.NoInferred || !slices.Equal(fresh.RulesFiles, c.RulesFiles) || *fresh.Config.Context != here {
		t.Errorf("%+v", fresh)
	}
	quiet := c.Another("shop")
	if *quiet.Config.Namespace != "shop" || quiet.AllNamespaces || !c.AllNamespaces || *c.Config.Namespace == "shop" {
		t.Error("a question about one namespace changes the page's")
	}
	// The flags are those of the first: a later change of a value is its own.
	other := "other"
	fresh.Config.Context = &other
	if *c.Config.Context != here {
		t.Error("a question changes the context of the page")
	}
}
