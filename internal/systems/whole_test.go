package systems

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// TestExportTakesKeysAlone: a Secret is read whole, and the names of its keys are taken, and
// nothing else of it.
func TestExportTakesKeysAlone(t *testing.T) {
	secret := func(kind string, owners ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "type": kind,
			"metadata": map[string]any{"name": "db", "namespace": "shop", "annotations": map[string]any{"note": "MARKER"}, "ownerReferences": owners},
			"data":     map[string]any{"user": "MARKER", "password": "MARKER"},
		}}
	}
	for kind, want := range map[string]string{"Opaque": "read by web", "kubernetes.io/tls": "read by web, of the type kubernetes.io/tls"} {
		in := system.Input{Secret: "db", Namespace: "shop", Description: "read by web"}
		if !takeKeys(&in, secret(kind)) || !slices.Equal(in.Keys, []string{"password", "user"}) || in.Description != want {
			t.Errorf("%s: %+v", kind, in)
		}
		if strings.Contains(fmt.Sprintf("%+v", in), "MARKER") {
			t.Errorf("a value is taken: %+v", in)
		}
	}
	owner := map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b"}
	for _, made := range []*unstructured.Unstructured{secret("kubernetes.io/service-account-token"), secret("helm.sh/release.v1"), secret("Opaque", owner)} {
		if in := (system.Input{}); takeKeys(&in, made) || in.Keys != nil {
			t.Errorf("what is made is an input: %+v", in)
		}
	}
}
