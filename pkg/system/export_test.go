package system_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	// As a cluster gives them: whole numbers are int64.
	raw, err := o.MarshalJSON()
	if err == nil {
		err = o.UnmarshalJSON(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// exportOne exports one object, and returns its form in the manifest; empty where it is left out.
func exportOne(t *testing.T, text string) (*system.System, string, []system.Notice) {
	t.Helper()
	o := objectOf(t, text)
	before := o.DeepCopy()
	sys, notices := system.Export(system.Exported{Name: "shop", Namespace: "shop", Apps: []system.ExportedApp{{Name: "web", Objects: []*unstructured.Unstructured{o}}}})
	if fmt.Sprint(before.Object) != fmt.Sprint(o.Object) {
		t.Error("what was exported was changed")
	}
	if len(sys.Apps) == 0 {
		return sys, "", notices
	}
	out, err := yaml.Marshal(sys.Apps[0].Resources[0].Object)
	if err != nil {
		t.Fatal(err)
	}
	return sys, string(out), notices
}

func TestExportObject(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"what a cluster and its tools have put into it goes": {
			in: `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  uid: u
  resourceVersion: "7"
  generation: 3
  creationTimestamp: "2026-01-01T00:00:00Z"
  finalizers: [example.com/hold]
  labels: {app: web, app.kubernetes.io/managed-by: Helm, helm.sh/chart: web-1, applyset.kubernetes.io/part-of: x, sysop.dev/installed-by: greet}
  annotations: {note: stays, deployment.kubernetes.io/revision: "4", meta.helm.sh/release-name: web, argocd.argoproj.io/tracking-id: x, kubectl.kubernetes.io/last-applied-configuration: "{}"}
  managedFields: [{manager: m, operation: Update, apiVersion: v1}]
spec: {replicas: 2, template: {metadata: {creationTimestamp: null, annotations: {kubectl.kubernetes.io/restartedAt: now}}}}
status: {replicas: 2}
`,
			want: `apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    note: stays
  labels:
    app: web
  name: web
spec:
  replicas: 2
  template:
    metadata:
      annotations:
        kubectl.kubernetes.io/restartedAt: now
`,
		},
		"addresses of a Service": {
			in: `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: other
  managedFields: [{manager: m, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:ports": {'k:{"port":81,"protocol":"TCP"}': {"f:nodePort": {}}}}}}]
spec: {type: NodePort, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ports: [{port: 80, protocol: TCP, nodePort: 30001}, {port: 81, protocol: TCP, nodePort: 30002}]}
`,
			want: `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: other
spec:
  ports:
  - port: 80
    protocol: TCP
  - nodePort: 30002
    port: 81
    protocol: TCP
  type: NodePort
`,
		},
		"a headless Service stays one, and a held one is let go": {
			in:   `{apiVersion: v1, kind: Service, metadata: {name: db, namespace: shop}, spec: {clusterIP: None, clusterIPs: [None], selector: {app: db, sysop.dev/cordoned: "true"}}}`,
			want: "apiVersion: v1\nkind: Service\nmetadata:\n  name: db\nspec:\n  clusterIP: None\n  selector:\n    app: db\n",
		},
		"a claim": {
			in:   `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: shop, annotations: {pv.kubernetes.io/bind-completed: "yes"}}, spec: {volumeName: pv-1, accessModes: [ReadWriteOnce]}, status: {phase: Bound}}`,
			want: "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: c\nspec:\n  accessModes:\n  - ReadWriteOnce\n",
		},
		"a Job": {
			in:   `{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: shop}, spec: {selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}, template: {metadata: {labels: {batch.kubernetes.io/controller-uid: u, controller-uid: u, job-name: j, app: j}}}}}`,
			want: "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: j\nspec:\n  template:\n    metadata:\n      labels:\n        app: j\n",
		},
		"a Pod": {
			in:   `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {nodeName: n, volumes: [{name: kube-api-access-x}, {name: v}], containers: [{name: c, volumeMounts: [{name: kube-api-access-x}, {name: v}]}]}}`,
			want: "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: c\n    volumeMounts:\n    - name: v\n  volumes:\n  - name: v\n",
		},
		"a ServiceAccount":         {in: `{apiVersion: v1, kind: ServiceAccount, metadata: {name: s, namespace: shop}, secrets: [{name: s-token-1}]}`, want: "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: s\n"},
		"a Secret":                 {in: `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}, data: {a: c2VjcmV0}}`},
		"what its owner makes":     {in: `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r, namespace: shop, ownerReferences: [{kind: Deployment, name: d, uid: u, apiVersion: apps/v1}]}}`},
		"the default account":      {in: `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: shop}}`},
		"the root certificate":     {in: `{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, namespace: shop}}`},
		"a role of the cluster":    {in: `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: view, labels: {kubernetes.io/bootstrapping: rbac-defaults}}}`},
		"slices of endpoints":      {in: `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: e, namespace: shop}}`},
		"a definition of a kind":   {in: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.b.c}}`},
		"a claim without a volume": {in: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: shop}}`, want: "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: c\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, got, _ := exportOne(t, test.in); got != test.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestExportInputs(t *testing.T) {
	const pod = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {spec: {
  imagePullSecrets: [{name: pull}],
  volumes: [{name: v, secret: {secretName: files, items: [{key: tls.crt, path: x}]}}, {name: p, projected: {sources: [{secret: {name: projected}}]}}, {name: o, secret: {secretName: perhaps, optional: true}}],
  containers: [{name: c, envFrom: [{secretRef: {name: all}}], env: [{name: A, valueFrom: {secretKeyRef: {name: db, key: password}}}, {name: B, valueFrom: {secretKeyRef: {name: db, key: user}}}, {name: C, valueFrom: {secretKeyRef: {name: made, key: x}}}]}]}}}}`
	sys, notices := system.Export(system.Exported{
		Name: "shop", Namespace: "shop", Made: map[string]bool{"shop/made": true},
		Apps:   []system.ExportedApp{{Name: "web", Objects: []*unstructured.Unstructured{objectOf(t, pod)}}},
		Inputs: []system.Input{{Secret: "all", Keys: []string{"b", "a"}, Description: "of a cluster"}, {Secret: "far", Namespace: "other"}, {ConfigMap: "settings"}},
	})
	var got []string
	for _, in := range sys.Inputs {
		got = append(got, strings.TrimSpace(in.Namespace+" "+in.Secret+in.ConfigMap+" "+strings.Join(in.Keys, ",")))
	}
	want := []string{"settings", "other far", "all a,b", "db password,user", "files tls.crt", "projected", "pull .dockerconfigjson"}
	if !slices.Equal(got, want) || len(notices) > 0 {
		t.Errorf("got %q, want %q; %v", got, want, notices)
	}
}

// Fields that look like credentials are told by their place, never with their values.
func TestExportCredentials(t *testing.T) {
	const secret = "hunter2hunter2"
	for text, want := range map[string]string{
		`{env: [{name: DB_PASSWORD, value: SECRET}]}`:                     "spec.env[0].value",
		`{args: ["--user", "x", "--password", SECRET]}`:                   "spec.args[3]",
		`{args: ["--api-token=SECRET"]}`:                                  "spec.args[0]",
		`{url: "postgres://u:SECRET@db/x"}`:                               "spec.url",
		`{rootPassword: SECRET}`:                                          "spec.rootPassword",
		`{key: "-----BEGIN RSA PRIVATE KEY-----\nSECRET"}`:                "spec.key",
		`{passwordSecretName: SECRET, tokenRef: SECRET}`:                  "",
		`{env: [{name: PASSWORD_FILE, value: /x}, {name: A, value: b}]}`:  "",
		`{env: [{name: TOKEN, value: "$(OTHER)"}]}`:                       "",
		`{url: "postgres://u:$(PASSWORD)@db/x", other: "http://db:80/x"}`: "",
		`{args: ["--token-file", /x, "--automount-token=false"]}`:         "",
	} {
		_, _, notices := exportOne(t, "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x, namespace: shop}\nspec: "+strings.ReplaceAll(text, "SECRET", secret))
		var got []string
		for _, n := range notices {
			got = append(got, n.Field)
			if strings.Contains(n.String(), secret) {
				t.Errorf("%s: the value is told: %s", text, n)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestExportClaimsOfTemplates(t *testing.T) {
	set := objectOf(t, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {volumeClaimTemplates: [{metadata: {name: data}}]}}`)
	claim := func(name string) *unstructured.Unstructured {
		return objectOf(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: `+name+`, namespace: shop}}`)
	}
	sys, _ := system.Export(system.Exported{Name: "s", Namespace: "shop", Apps: []system.ExportedApp{{Name: "db", Objects: []*unstructured.Unstructured{set, claim("data-db-0"), claim("data-db-12"), claim("data-db-x"), claim("own")}}}})
	var got []string
	for _, o := range sys.Apps[0].Resources {
		got = append(got, o.GetName())
	}
	if want := []string{"data-db-x", "own", "db"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestExportDependencies(t *testing.T) {
	app := func(name string) system.ExportedApp {
		return system.ExportedApp{Name: name, Objects: []*unstructured.Unstructured{objectOf(t, `{apiVersion: v1, kind: Service, metadata: {name: `+name+`, namespace: shop}}`)}}
	}
	sys, notices := system.Export(system.Exported{
		Name: "s", Namespace: "shop", Apps: []system.ExportedApp{app("a"), app("b"), app("c"), {Name: "empty"}},
		Dependencies: []system.Dependency{{From: "a", To: "b"}, {From: "b", To: "c"}, {From: "c", To: "a"}, {From: "a", To: "empty"}, {From: "a", To: "a"}},
	})
	var got []string
	for _, d := range sys.Dependencies {
		got = append(got, d.From+">"+d.To)
	}
	if want := []string{"a>b", "b>c"}; !slices.Equal(got, want) || len(notices) != 2 {
		t.Errorf("got %q, want %q; %v", got, want, notices)
	}
}

// Whatever is exported, Parse reads it, and it has nothing that a cluster put there.
func TestExportParses(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 8))
		from := randomExport(r)
		sys, _ := system.Export(from)
		if len(sys.Apps) == 0 {
			continue
		}
		text, err := sys.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, problems := system.Parse("x", text)
		if len(problems) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, problems, text)
		}
		for i := range again.Apps {
			if got, want := len(again.Apps[i].Resources), len(sys.Apps[i].Resources); got != want {
				t.Errorf("seed %d: app %s has %d objects, was written with %d", seed, again.Apps[i].Name, got, want)
			}
			for _, o := range again.Apps[i].Resources {
				if o.GetKind() == "Secret" || o.GetUID() != "" || o.GetResourceVersion() != "" || o.Object["status"] != nil || o.GetNamespace() == "shop" || len(o.GetManagedFields()) > 0 {
					t.Errorf("seed %d: %v", seed, o.Object)
				}
			}
		}
		if strings.Contains(string(text), "c2VjcmV0") {
			t.Errorf("seed %d: a secret is in it", seed)
		}
		if other, _ := system.Export(from); true {
			if same, err := other.YAML(); err != nil || string(same) != string(text) {
				t.Errorf("seed %d: other bytes, %v", seed, err)
			}
		}
	}
}

func oneOf[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

func randomExport(r *rand.Rand) system.Exported {
	out := system.Exported{Name: "shop", Namespace: "shop"}
	for i := range 1 + r.IntN(4) {
		app := system.ExportedApp{Name: fmt.Sprintf("app-%d", i), Operator: oneOf(r, "", "cert-manager")}
		for range r.IntN(8) {
			gvk := oneOf(r, "v1 Service", "serving.knative.dev/v1 Service", "apps/v1 Deployment", "v1 ConfigMap", "v1 Secret", "example.com/v1 Databases", "example.com/v1 Database",
				"rbac.authorization.k8s.io/v1 ClusterRole", "v1 Pod", "networking.k8s.io/v1 Ingress")
			version, kind, _ := strings.Cut(gvk, " ")
			meta := map[string]any{
				"name": oneOf(r, "a", "b", "on", "1", "y.z", "system:x", "odd name", "a/b"), "namespace": oneOf(r, "shop", "other"), "uid": "u", "resourceVersion": "1",
				"annotations": map[string]any{"k": oneOf(r, "", "yes", "a\nb", "\u2028", " x", "é\t", "{{ .Values.x }}", "0123")},
			}
			if kind == "ClusterRole" {
				delete(meta, "namespace")
			}
			app.Objects = append(app.Objects, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": version, "kind": kind, "metadata": meta, "status": map[string]any{"x": int64(1)},
				"data": map[string]any{"s": oneOf(r, "c2VjcmV0", "x")},
				"spec": randomValue(r, 4),
			}})
			if kind != "Secret" {
				delete(app.Objects[len(app.Objects)-1].Object, "data")
			}
		}
		for range r.IntN(2) {
			app.Roots = append(app.Roots, system.Root{Type: oneOf(r, "service", "deployment", "database.example.com"), Name: oneOf(r, "a", "b")})
		}
		out.Apps = append(out.Apps, app)
	}
	for range r.IntN(5) {
		out.Dependencies = append(out.Dependencies, system.Dependency{From: fmt.Sprintf("app-%d", r.IntN(4)), To: fmt.Sprintf("app-%d", r.IntN(4)), Reason: oneOf(r, "x", "a\nb", "")})
		out.Inputs = append(out.Inputs, system.Input{Secret: oneOf(r, "a", "UPPER", "x.y"), Namespace: oneOf(r, "", "shop", "other"), Keys: []string{oneOf(r, "k", " ", "a\nb")}, Description: oneOf(r, "", "x")})
	}
	return out
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(9); {
	case depth > 0 && n < 3:
		m := map[string]any{}
		for range r.IntN(4) {
			m[oneOf(r, "a", "on", "template", "env", "secret", "name", "value", "items", "metadata", "clusterIP", "ports", "selector", "spec", "x y", "1")] = randomValue(r, depth-1)
		}
		return m
	case depth > 0 && n < 5:
		var l []any
		for range r.IntN(3) {
			l = append(l, randomValue(r, depth-1))
		}
		return l
	case n == 5:
		return int64(r.IntN(1000)) - 500
	case n == 6:
		return r.Float64()
	case n == 7:
		return oneOf[any](r, nil, true, false)
	}
	return oneOf(r, "", "x", "no", "1e3", "a: b", "multi\nline\n", "\u00e9", "- x", "#c", "password", "http://u:p@h/")
}
