package app

import (
	"sync/atomic"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// How much is read of a kind: no more than a rule looks at, and of definitions, which
// are huge, only where one is asked about.
func TestDetail(t *testing.T) {
	type about struct{ definitions, from bool }
	for _, c := range []struct {
		group, kind string
		custom      bool
		ask         about
		want        source.Detail
		version     string
	}{
		{"", "Pod", false, about{}, source.Typed, "v1"},
		{"", "Secret", false, about{}, source.Metadata, ""},
		{"", "LimitRange", false, about{}, source.Metadata, ""},
		{"autoscaling", "HorizontalPodAutoscaler", false, about{}, source.Typed, "v2"},
		{"apiregistration.k8s.io", "APIService", false, about{}, source.Fields, ""},
		{"scheduling.k8s.io", "PodGroup", false, about{}, source.Fields, ""},
		{"gateway.networking.k8s.io", "Gateway", true, about{}, source.Fields, ""},
		{"example.com", "Thing", true, about{}, source.Metadata, ""},
		{"apiextensions.k8s.io", "CustomResourceDefinition", false, about{}, source.Metadata, ""},
		{"apiextensions.k8s.io", "CustomResourceDefinition", false, about{definitions: true}, source.Fields, ""},
		{"apiextensions.k8s.io", "CustomResourceDefinition", false, about{from: true}, source.Fields, ""},
	} {
		o := &Input{rules: builtInRules(), Definitions: c.ask.definitions}
		if c.ask.from {
			o.From = "file"
		}
		if detail, version := o.detail()(object.Resource{Group: c.group, Kind: c.kind, Custom: c.custom}); detail != c.want || version != c.version {
			t.Errorf("%s %+v: %v in %q", c.kind, c.ask, detail, version)
		}
	}
}

// Rules that read what is left out do not make the source list it.
func TestLeftOutStaysOut(t *testing.T) {
	c := &Input{rules: builtInRules()}
	for _, k := range [][2]string{{"", "Event"}, {"events.k8s.io", "Event"}, {"coordination.k8s.io", "Lease"}, {"coordination.k8s.io", "LeaseCandidate"}, {"", "Endpoints"}} {
		if r := (object.Resource{Group: k[0], Kind: k[1]}); c.includes(r) {
			t.Errorf("%s is listed", k)
		}
	}
}

func builtInRules() *atomic.Pointer[relation.Set] {
	p := &atomic.Pointer[relation.Set]{}
	p.Store(relation.NewSet(relation.BuiltIn()...))
	return p
}
