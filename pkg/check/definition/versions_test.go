package definition

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

// TestDefinitionsPortable holds what is said of definitions, each case a definition of one
// kind and what is around it.
func TestDefinitionsPortable(t *testing.T) {
	const (
		plain    = "  versions: [{name: v1, served: true, storage: true}]\nstatus: {storedVersions: [v1]}\n"
		instance = "---\napiVersion: x.example/v1\nkind: Car\nmetadata: {name: red, namespace: shop}\n"
	)
	managed := func(manager, fields string) string {
		return fmt.Sprintf(", managedFields: [{manager: %s, operation: Update, time: '2026-01-01T00:00:00Z', fieldsType: FieldsV1, fieldsV1: {'f:spec': %s}}]", manager, fields)
	}
	runner := "---" + checktest.Deployment("ops/car-operator", "acme/car-operator:1", "cars", "") + strings.TrimSuffix(checktest.Grant("cars", "ops/cars", "x.example", "cars, cars/status", checktest.AllVerbs), "---")
	registers := runner + "---" + strings.TrimSuffix(checktest.Grant("registers", "ops/cars", "apiextensions.k8s.io", "customresourcedefinitions", "create, update"), "---")
	const keep, release = ", helm.sh/resource-policy: keep", ", annotations: {meta.helm.sh/release-name: cars, meta.helm.sh/release-namespace: ops"
	for name, c := range map[string]struct{ id, meta, spec, around, unread, want string }{
		"by kubectl":                      {id: "crd-by-manifest", meta: managed("kubectl-client-side-apply", "{'f:group': {}}"), spec: plain, want: "fine cars.x.example"},
		"by helm":                         {id: "crd-by-manifest", meta: managed("helm", "{'f:group': {}}"), spec: plain, want: "fine cars.x.example"},
		"by the operator":                 {id: "crd-by-manifest", meta: managed("car-operator", "{'f:group': {}}"), spec: plain, around: registers, want: "warning cars.x.example metadata.managedFields=car-operator"},
		"its name, without the right":     {id: "crd-by-manifest", meta: managed("car-operator", "{'f:group': {}}"), spec: plain, around: runner, want: "open cars.x.example"},
		"its name, and roles unread":      {id: "crd-by-manifest", meta: managed("car-operator", "{'f:group': {}}"), spec: plain, around: registers, unread: "ClusterRole", want: "open cars.x.example"},
		"by nobody known":                 {id: "crd-by-manifest", meta: managed("Go-http-client", "{'f:group': {}}"), spec: plain, around: registers, want: "open cars.x.example"},
		"nobody says":                     {id: "crd-by-manifest", spec: plain, want: "open cars.x.example"},
		"in the templates, with objects":  {id: "crd-survives-uninstall", meta: release + "}", spec: plain, around: instance, want: "warning cars.x.example metadata.annotations[meta.helm.sh/release-name]=cars"},
		"in the templates, without":       {id: "crd-survives-uninstall", meta: release + "}", spec: plain, want: "info cars.x.example metadata.annotations[meta.helm.sh/release-name]=cars"},
		"in the templates, and kept":      {id: "crd-survives-uninstall", meta: release + keep + "}", spec: plain, want: "fine cars.x.example"},
		"nothing says what installed it":  {id: "crd-survives-uninstall", spec: plain, want: ""},
		"stored in one":                   {id: "crd-stored-versions", spec: plain, want: "fine cars.x.example"},
		"stored in two":                   {id: "crd-stored-versions", spec: "  versions: [{name: v1, served: true, storage: true}, {name: v0, served: true, storage: false}]\nstatus: {storedVersions: [v0, v1]}\n", around: instance, want: "warning cars.x.example status.storedVersions[0]=v0"},
		"stored in two, and nothing is":   {id: "crd-stored-versions", spec: "  versions: [{name: v1, served: true, storage: true}, {name: v0, served: false, storage: false}]\nstatus: {storedVersions: [v0, v1]}\n", want: "info cars.x.example status.storedVersions[0]=v0"},
		"stored in two, and unread":       {id: "crd-stored-versions", spec: "  versions: [{name: v1, served: true, storage: true}, {name: v0, served: false, storage: false}]\nstatus: {storedVersions: [v0, v1]}\n", unread: "Car", want: "warning cars.x.example status.storedVersions[0]=v0"},
		"stored in one that is gone":      {id: "crd-stored-versions", spec: "  versions: [{name: v1, served: true, storage: true}]\nstatus: {storedVersions: [v0, v1]}\n", want: "error cars.x.example status.storedVersions[0]=v0"},
		"stored in who knows what":        {id: "crd-stored-versions", spec: "  versions: [{name: v1, served: true, storage: true}]\n", want: "open cars.x.example"},
		"none deprecated":                 {id: "crd-deprecated-versions", spec: plain, want: "fine cars.x.example"},
		"deprecated, and says so":         {id: "crd-deprecated-versions", spec: "  versions: [{name: v1, served: true, storage: true}, {name: v0, served: true, storage: false, deprecated: true, deprecationWarning: use v1}]\n", want: "fine cars.x.example"},
		"deprecated, and says nothing":    {id: "crd-deprecated-versions", spec: "  versions: [{name: v1, served: true, storage: true}, {name: v0, served: true, storage: false, deprecated: true}]\n", want: "info cars.x.example spec.versions[1].deprecationWarning="},
		"deprecated, and stored":          {id: "crd-deprecated-versions", spec: "  versions: [{name: v1, served: true, storage: true, deprecated: true, deprecationWarning: it goes}]\n", want: "warning cars.x.example spec.versions[0].deprecated=true"},
		"alpha":                           {id: "crd-stable-version", spec: "  versions: [{name: v1alpha1, served: true, storage: true}]\n", want: "info cars.x.example spec.versions=v1alpha1"},
		"alpha, and beta not served":      {id: "crd-stable-version", spec: "  versions: [{name: v1alpha1, served: true, storage: true}, {name: v1beta1, served: false, storage: false}]\n", want: "info cars.x.example spec.versions=v1alpha1"},
		"alpha and beta":                  {id: "crd-stable-version", spec: "  versions: [{name: v1alpha1, served: true, storage: true}, {name: v1beta1, served: true, storage: false}]\n", want: "fine cars.x.example"},
		"a name of another form":          {id: "crd-stable-version", spec: "  versions: [{name: alphabet, served: true, storage: true}]\n", want: "fine cars.x.example"},
		"established":                     {id: "crd-established", spec: plain + "  \n", want: "open cars.x.example"},
		"established, says the condition": {id: "crd-established", spec: "  versions: [{name: v1, served: true, storage: true}]\nstatus: {conditions: [{type: Established, status: 'True'}, {type: NamesAccepted, status: 'True'}, {type: NonStructuralSchema, status: 'True'}]}\n", want: "fine cars.x.example"},
		"names refused":                   {id: "crd-established", spec: "  versions: [{name: v1, served: true, storage: true}]\nstatus: {conditions: [{type: Established, status: 'True'}, {type: NamesAccepted, status: 'False'}]}\n", want: "error cars.x.example status.conditions[NamesAccepted].status=False"},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: cars.x.example%s}\nspec:\n  group: x.example\n  scope: Namespaced\n  names: {plural: cars, kind: Car}\n%s%s", c.meta, c.spec, c.around)
			w := checktest.Read(t, operator.Find, text, c.unread)
			checktest.ExpectResult(t, checktest.Only(t, Rules(), c.id, w.Definition("cars.x.example").Check), c.want)
		})
	}
}

// TestInstallers tells tools that apply manifests from programs.
func TestInstallers(t *testing.T) {
	for manager, want := range map[string]bool{
		"kubectl": true, "kubectl-client-side-apply": true, "helm": true, "Helm": true, "argocd-controller": true, "kustomize-controller": true, "oc": true, "oc-apply": true,
		"Terraform": true, "deploy@server-1": true, "olm": true, "catalog": true,
		"octavia-operator": false, "manager": false, "Go-http-client": false, "prometheus-operator": false, "operator": false,
	} {
		if got := installer(manager); got != want {
			t.Errorf("%s installs: %v", manager, got)
		}
	}
	// A CA bundle that is written into a definition does not make it.
	entries := []metav1.ManagedFieldsEntry{
		{Manager: "cainjector", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:conversion":{"f:webhook":{"f:clientConfig":{"f:caBundle":{}}}}}}`)},
		{Manager: "helm", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:group":{},"f:names":{}}}`)},
		{Manager: "kube-apiserver", Subresource: "status", FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)},
		{Manager: "broken", FieldsV1: metav1.NewFieldsV1(`{`)},
	}
	if got := strings.Join(fieldWriters(entries), " "); got != "helm" {
		t.Errorf("written by %q", got)
	}
}
