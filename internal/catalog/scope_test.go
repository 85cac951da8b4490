package catalog_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// TestScopes holds the scope and the plural of each kind against published definitions.
func TestScopes(t *testing.T) {
	text, err := os.ReadFile("testdata/definitions.txt")
	if err != nil {
		t.Fatal(err)
	}
	published := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] != "#" {
			published[f[0]] = f[1:]
		}
	}
	known := object.NewKinds(nil).Knowing(catalog.Kinds()...)
	unpublished := 0
	for _, e := range written(t) {
		for _, k := range e.Kinds {
			want, ok := published[k.Kind]
			delete(published, k.Kind)
			if !ok {
				unpublished++
				continue
			}
			if (want[0] == "Cluster") != k.ClusterScoped || want[1] != k.Plural {
				t.Errorf("%s of %s: clusterScoped %v, plural %q; the definition says %s, %s", k.Kind, e.Name, k.ClusterScoped, k.Plural, want[0], want[1])
			}
			if namespaced, ok := known.Namespaced(declare.GroupKind(k.Kind)); !ok || namespaced == k.ClusterScoped {
				t.Errorf("%s is namespaced: %v, known: %v", k.Kind, namespaced, ok)
			}
		}
	}
	for kind := range published {
		t.Errorf("no entry has %s", kind)
	}
	if unpublished > 13 {
		t.Errorf("%d kinds are in testdata/definitions.txt no more than in any entry: add what their definitions say", unpublished)
	}
}

// TestRelationScopes: what relations name is of a known scope, so that two who name one
// object without a namespace name the same.
func TestRelationScopes(t *testing.T) {
	// Those of operators that the catalogue lacks.
	foreign := strings.Fields(`ApisixRoute.apisix.apache.org InferencePool.inference.networking.k8s.io Mapping.getambassador.io ProvisioningRequest.autoscaling.x-k8s.io
		TrafficSplit.split.smi-spec.io VirtualNode.appmesh.k8s.aws VirtualService.appmesh.k8s.aws`)
	known := source.BuiltInKinds().Knowing(catalog.Kinds()...)
	for _, kind := range foreign {
		if _, ok := known.Namespaced(declare.GroupKind(kind)); ok {
			t.Errorf("%s is known by now", kind)
		}
	}
	for _, e := range written(t) {
		for i := range e.Relations {
			for _, kind := range append(e.Relations[i].From, e.Relations[i].To...) {
				_, ok := known.Namespaced(declare.GroupKind(kind))
				if !ok && kind != declare.Any && !strings.Contains(strings.Join(foreign, " ")+" ", kind+" ") {
					t.Errorf("%s: nothing tells the scope of %s", e.Name, kind)
				}
			}
		}
	}
}
