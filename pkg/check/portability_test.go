package check

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	runner := "---" + yamlDeployment("ops/car-operator", "acme/car-operator:1", "cars", "") + strings.TrimSuffix(yamlGrant("cars", "ops/cars", "x.example", "cars, cars/status", full), "---")
	registers := runner + "---" + strings.TrimSuffix(yamlGrant("registers", "ops/cars", "apiextensions.k8s.io", "customresourcedefinitions", "create, update"), "---")
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
			w := readWorld(t, findOperators, text, c.unread)
			expectResult(t, only(t, Rules(), c.id, w.definition("cars.x.example").Check), c.want)
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
		if got := portabilityInstaller(manager); got != want {
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
	if got := strings.Join(portabilityWriters(entries), " "); got != "helm" {
		t.Errorf("written by %q", got)
	}
}

// TestRightsPortable holds what is said of operators.
func TestRightsPortable(t *testing.T) {
	base := yamlDefinition("widgets.acme.example.org", "Widget", "") + yamlGrant("runner", "ops/runner", "acme.example.org", "widgets, widgets/status", full)
	for name, c := range map[string]struct{ id, meta, grants, unread, want string }{
		"nothing says":         {id: "operator-packaged", want: "info runner metadata.labels="},
		"Helm":                 {id: "operator-packaged", meta: ", annotations: {meta.helm.sh/release-name: a, meta.helm.sh/release-namespace: b}", want: "fine runner"},
		"OLM":                  {id: "operator-packaged", meta: ", labels: {operators.coreos.com/runner.ops: ''}", want: "fine runner"},
		"Argo CD":              {id: "operator-packaged", meta: ", annotations: {argocd.argoproj.io/tracking-id: 'a:b'}", want: "fine runner"},
		"Flux":                 {id: "operator-packaged", meta: ", labels: {kustomize.toolkit.fluxcd.io/name: apps}", want: "fine runner"},
		"its own labels":       {id: "operator-packaged", meta: ", labels: {app: runner}", want: "info runner metadata.labels="},
		"no right":             {id: "operator-registers-crds", want: "fine runner"},
		"the right":            {id: "operator-registers-crds", grants: yamlGrant("more", "ops/runner", "apiextensions.k8s.io", "customresourcedefinitions", "create"), want: "info more rules[0]=create customresourcedefinitions"},
		"patch alone":          {id: "operator-registers-crds", grants: yamlGrant("more", "ops/runner", "apiextensions.k8s.io", "customresourcedefinitions", "patch, update"), want: "fine runner"},
		"roles of namespaces":  {id: "operator-registers-crds", unread: "RoleBinding", want: "open runner"},
		"today's":              {id: "operator-removed-apis", grants: yamlGrant("more", "ops/runner", "networking.k8s.io", "ingresses", "create"), want: "fine runner"},
		"yesterday's":          {id: "operator-removed-apis", grants: yamlGrant("more", "ops/runner", "extensions", "ingresses", "create"), want: "warning more rules[0]=ingresses.extensions"},
		"an old cluster":       {id: "operator-removed-apis", grants: yamlGrant("more", "ops/runner", "extensions", "ingresses", "create") + "\napiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {nodeInfo: {kubeletVersion: v1.21.14}}\n---", want: "fine runner"},
		"both":                 {id: "operator-removed-apis", grants: yamlGrant("old", "ops/runner", "extensions", "ingresses", "create") + yamlGrant("new", "ops/runner", "networking.k8s.io", "ingresses", "create"), want: "fine runner"},
		"pod security":         {id: "operator-removed-apis", grants: yamlGrant("more", "ops/runner", "policy", "podsecuritypolicies", "use"), want: "info more rules[0]=podsecuritypolicies.policy"},
		"everything of it all": {id: "operator-removed-apis", grants: yamlGrant("more", "ops/runner", "*", "'*'", "'*'"), want: "fine runner"},
		"one Deployment":       {id: "operator-one-deployment", want: "fine runner"},
	} {
		t.Run(name, func(t *testing.T) {
			w := operatorsWorld(t, base+c.grants+yamlDeployment("ops/runner", "acme/runner:1", "runner", c.meta), c.unread)
			ops := w.Operators()
			if len(ops) != 1 || len(ops[0].Workloads) != 1 {
				t.Fatalf("operators: %d, %s", len(ops), ops[0].Unknown)
			}
			expectResult(t, only(t, Rules(), c.id, ops[0].Check), c.want)
		})
	}
}

// TestPodsPortable holds what is said of pods of a stack.
func TestPodsPortable(t *testing.T) {
	const node = "\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {kubernetes.io/arch: %s}}\n---"
	one, two := fmt.Sprintf(node, "a", "amd64"), fmt.Sprintf(node, "a", "amd64")+fmt.Sprintf(node, "b", "arm64")
	ready := func(on string) string {
		return fmt.Sprintf("\napiVersion: v1\nkind: Pod\nmetadata: {name: web-%s, namespace: shop, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: 40000000-0000-0000-0000-000000000012, controller: true}]}\nspec: {nodeName: %s, containers: [{name: web, image: x}]}\nstatus: {phase: Running, conditions: [{type: Ready, status: 'True'}]}\n---", on, on)
	}
	const set = "\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web-1, namespace: shop, uid: 40000000-0000-0000-0000-000000000012, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: 40000000-0000-0000-0000-000000000011, controller: true}]}\nspec: {template: {spec: {containers: [{name: web, image: x}]}}}\n---"
	for name, c := range map[string]struct{ id, spec, notes, around, unread, want string }{
		"one architecture":    {id: "stack-platforms", around: one, want: "fine web"},
		"two":                 {id: "stack-platforms", around: two, want: "open web"},
		"two, and chosen":     {id: "stack-platforms", around: two, spec: "nodeSelector: {kubernetes.io/arch: amd64}, ", want: "fine web"},
		"two, and required":   {id: "stack-platforms", around: two, spec: "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}}}, ", want: "fine web"},
		"runs on one of two":  {id: "stack-platforms", around: two + set + ready("a"), want: "open web"},
		"runs on both":        {id: "stack-platforms", around: two + set + ready("a") + ready("b"), want: "fine web"},
		"nodes unread":        {id: "stack-platforms", around: two, unread: "Node", want: "open web"},
		"nothing old":         {id: "stack-deprecated-fields", spec: "nodeSelector: {kubernetes.io/os: linux}, ", want: "fine web"},
		"an old selector":     {id: "stack-deprecated-fields", spec: "nodeSelector: {beta.kubernetes.io/os: linux}, ", want: "info web spec.template.spec.nodeSelector=beta.kubernetes.io/os"},
		"an old toleration":   {id: "stack-deprecated-fields", spec: "tolerations: [{key: node-role.kubernetes.io/master, operator: Exists}], ", want: "fine web"},
		"an old spread":       {id: "stack-deprecated-fields", spec: "topologySpreadConstraints: [{topologyKey: failure-domain.beta.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}], ", want: "warning web spec.template.spec.topologySpreadConstraints[0].topologyKey=failure-domain.beta.kubernetes.io/zone"},
		"an old annotation":   {id: "stack-deprecated-fields", notes: "container.seccomp.security.alpha.kubernetes.io/web: runtime/default", want: "warning web spec.template.metadata.annotations=container.seccomp.security.alpha.kubernetes.io/web"},
		"an old volume":       {id: "stack-deprecated-fields", spec: "volumes: [{name: v, cephfs: {monitors: [a]}}], ", want: "warning web spec.template.spec.volumes[0]=cephfs"},
		"preferred affinity":  {id: "stack-deprecated-fields", spec: "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname}}]}}, ", want: "fine web"},
		"everything but that": {id: "stack-deprecated-fields", notes: "seccomp.security.alpha.kubernetes.io/other: x", want: "fine web"},
	} {
		t.Run(name, func(t *testing.T) {
			w := readWorld(t, findOperators, c.around+fmt.Sprintf("\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop, uid: 40000000-0000-0000-0000-000000000011}\nspec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}, annotations: {%s}}, spec: {%scontainers: [{name: web, image: x}]}}}\n", c.notes, c.spec), c.unread)
			expectResult(t, only(t, Rules(), c.id, w.stack("Deployment.apps/shop/web").Check), c.want)
		})
	}
}
