package installer

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// worldReader reads objects of a test. Kinds in forbidden cannot be read.
type worldReader struct {
	install.Reader
	objects   []*unstructured.Unstructured
	forbidden []string
}

func (r *worldReader) List(_ context.Context, kind object.Resource, namespace, selector string) ([]*unstructured.Unstructured, error) {
	if slices.Contains(r.forbidden, kind.Kind) {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: kind.Plural}, "", errors.New("no"))
	}
	wanted, err := labels.Parse(selector)
	var out []*unstructured.Unstructured
	for _, o := range r.objects {
		if o.GetKind() == kind.Kind && o.GetNamespace() == namespace && wanted.Matches(labels.Set(o.GetLabels())) {
			out = append(out, o)
		}
	}
	return out, err
}

func (r *worldReader) Get(_ context.Context, kind object.Resource, namespace, name string) (*unstructured.Unstructured, error) {
	for _, o := range r.objects {
		if o.GetKind() == kind.Kind && o.GetNamespace() == namespace && o.GetName() == name {
			return o, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: kind.Plural}, name)
}

func documents(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for doc := range strings.SplitSeq(text, "\n---\n") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			t.Fatal(err)
		}
		out = append(out, u)
	}
	return out
}

const (
	dbSet = `
    - apiVersion: apps/v1
      kind: StatefulSet
      metadata: {name: db}
      spec:
        serviceName: SERVICE
        selector: {matchLabels: {app: db}}
        template:
          metadata: {labels: {app: db, tier: data}}
          spec: {containers: [{name: mysql, image: m, ports: [{name: mysql, containerPort: 3306}]}]}
`
	webSet = `
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: web, image: w, env: [{name: MODE, value: x}]}], initContainers: [{name: wait, image: w}]}
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: web}}
`
	dbService = `
    - apiVersion: v1
      kind: Service
      metadata: {name: store}
      spec: {selector: {app: db}, ports: [{name: sql, port: 1234, targetPort: mysql}]}
`
	liveDeny    = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: deny, namespace: shop}\nspec: {podSelector: {}, policyTypes: [Ingress]}"
	liveStays   = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: stays, namespace: shop}\nspec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Egress]}"
	liveService = "apiVersion: v1\nkind: Service\nmetadata: {name: live, namespace: shop}\nspec: {selector: {app: db}, ports: [{port: 3306}]}"
)

// wired plans the connections of a System of the apps db and web.
func wired(t *testing.T, db, web, connections string, r *worldReader) (*wiring, error) {
	t.Helper()
	text := "apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: sys, namespace: shop}\nspec:\n  apps:\n  - name: db\n" + db + "\n  - name: web\n    resources:" + web + "\n  connections:\n" + connections
	sys, problems := system.Parse("shop.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems, text)
	}
	c := newPartLoader(&Request{System: sys}, nil, source.BuiltInKinds(), "", nil)
	if r != nil {
		c.reader = r
	}
	return c.wire(t.Context())
}

// made returns the resources of an app that the manifest does not have.
func made(w *wiring, app string) (names []string) {
	a, _ := w.sys.App(app)
	for _, o := range w.resources[app][len(a.Resources):] {
		names = append(names, o.GetKind()+"/"+o.GetName())
	}
	return names
}

// valueOf returns a field of the last object of a kind that an app creates, as JSON.
func valueOf(t *testing.T, w *wiring, app, kind, path string) string {
	t.Helper()
	for _, o := range slices.Backward(w.resources[app]) {
		if o.GetKind() == kind {
			value, err := connection.Resolve(o, path)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	t.Fatalf("%s creates no %s", app, kind)
	return ""
}

func TestConnectPorts(t *testing.T) {
	t.Parallel()
	resources := func(text string) string { return "    resources:" + strings.ReplaceAll(text, "SERVICE", "governs") }
	env := "  - from: {app: db, port: mysql}\n    to: {app: web, env: DB_HOST}\n"
	for _, c := range []struct {
		name, db, web, connections, world string
		db2, web2                         []string // the objects that are made
		env                               string   // the variables of the first container
		notes                             []string
	}{
		{
			name: "a Service is made", db: resources(dbSet), web: webSet, connections: env,
			db2: []string{"Service/governs"}, env: `[{"name":"DB_HOST","value":"governs"},{"name":"MODE","value":"x"}]`,
			notes: []string{"db: creates Service/shop/governs for port mysql of StatefulSet.apps/shop/db, which no Service serves"},
		},
		{
			name: "the governing Service exists and serves another port", db: resources(dbSet), web: webSet, connections: env,
			world: "apiVersion: v1\nkind: Service\nmetadata: {name: governs, namespace: shop}\nspec: {selector: {app: db}, ports: [{port: 1}]}",
			db2:   []string{"Service/db-mysql"}, env: `[{"name":"DB_HOST","value":"db-mysql"},{"name":"MODE","value":"x"}]`,
		},
		{
			name: "a Service of the manifest leads to the port", db: resources(dbSet + dbService), web: webSet,
			connections: strings.Replace(env, "mysql}", "mysql, value: address}", 1), env: `[{"name":"DB_HOST","value":"store:1234"},{"name":"MODE","value":"x"}]`,
		},
		{
			name: "the port of a Service by its name", db: resources(dbSet + dbService), web: webSet,
			connections: strings.Replace(env, "mysql}", "sql, value: port}", 1), env: `[{"name":"DB_HOST","value":"1234"},{"name":"MODE","value":"x"}]`,
		},
		{
			name: "a Service of others leads to the port", db: resources(dbSet), web: webSet, connections: env, world: liveService,
			env: `[{"name":"DB_HOST","value":"live"},{"name":"MODE","value":"x"}]`,
		},
		{
			name: "one of an earlier run does not count", db: resources(dbSet), web: webSet, connections: env,
			world: strings.Replace(liveService, "namespace: shop}", "namespace: shop, annotations: {meta.helm.sh/release-name: sys-db, meta.helm.sh/release-namespace: shop}}", 1),
			db2:   []string{"Service/governs"}, env: `[{"name":"DB_HOST","value":"governs"},{"name":"MODE","value":"x"}]`,
		},
		{
			name: "one container, and a number that no container declares", db: resources(dbSet), web: webSet,
			connections: "  - from: {app: db, port: 9104, value: address}\n    to: {app: web, env: METRICS, container: wait}\n",
			db2:         []string{"Service/governs"}, env: `[{"name":"MODE","value":"x"}]`,
		},
		{
			name: "two ports, one Service each", db: resources(dbSet), web: webSet, connections: env + "  - from: {app: db, port: 9104, value: address}\n    to: {app: web, configMap: web, key: metrics}\n",
			db2: []string{"Service/governs", "Service/db-9104"}, env: `[{"name":"DB_HOST","value":"governs"},{"name":"MODE","value":"x"}]`,
		},
		{
			name: "another namespace", db: resources(strings.Replace(dbSet, "{name: db}", "{name: db, namespace: data}", 1)), web: webSet, connections: env,
			db2: []string{"Service/governs"}, env: `[{"name":"DB_HOST","value":"governs.data.svc"},{"name":"MODE","value":"x"}]`,
		},
		{
			name: "the provider exists already", db: "    roots: [statefulset/db]", web: webSet, connections: env,
			world: "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\nspec: {selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, ports: [{name: mysql, containerPort: 3306}]}]}}}",
			web2:  []string{"Service/db-mysql"}, env: `[{"name":"DB_HOST","value":"db-mysql"},{"name":"MODE","value":"x"}]`,
		},
		{
			name: "the provider is a Service", db: "    roots: [service/live]", web: webSet, connections: strings.Replace(env, "port: mysql", "port: 3306", 1),
			world: liveService + "\n---\n" + liveDeny, web2: []string{"NetworkPolicy/db-3306-from-web"}, env: `[{"name":"DB_HOST","value":"live"},{"name":"MODE","value":"x"}]`,
		},
		{
			name: "a policy keeps the consumer out", db: resources(dbSet), web: webSet, connections: env, world: liveDeny,
			db2: []string{"Service/governs", "NetworkPolicy/db-mysql-from-web"}, env: `[{"name":"DB_HOST","value":"governs"},{"name":"MODE","value":"x"}]`,
			notes: []string{"db: creates NetworkPolicy.networking.k8s.io/shop/db-mysql-from-web for Deployment.apps/shop/web, which NetworkPolicy/deny keeps from port mysql of StatefulSet.apps/shop/db"},
		},
		{
			name: "a policy of the manifest keeps it out", db: resources(dbSet + "    - {apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: deny}, spec: {podSelector: {}}}\n"), web: webSet, connections: env,
			db2: []string{"Service/governs", "NetworkPolicy/db-mysql-from-web"}, env: `[{"name":"DB_HOST","value":"governs"},{"name":"MODE","value":"x"}]`,
		},
		{
			name: "a policy keeps the consumer in", db: resources(dbSet), web: webSet, connections: env, world: liveStays,
			db2: []string{"Service/governs"}, web2: []string{"NetworkPolicy/web-to-db-mysql"}, env: `[{"name":"DB_HOST","value":"governs"},{"name":"MODE","value":"x"}]`,
			notes: []string{"web: NetworkPolicy/stays restricts what Deployment.apps/shop/web connects to, and does not surely allow the DNS (UDP 53 of kube-system): governs may not be resolved"},
		},
		{
			name: "no rule selects pods on the network of their nodes", db: resources(strings.Replace(dbSet, "spec: {containers", "spec: {hostNetwork: true, containers", 1)), web: webSet, connections: env, world: liveStays,
			db2: []string{"Service/governs"}, env: `[{"name":"DB_HOST","value":"governs"},{"name":"MODE","value":"x"}]`,
			notes: []string{"web: the pods of StatefulSet.apps/shop/db use the network of their nodes, and NetworkPolicy/stays restricts what Deployment.apps/shop/web connects to: whether it may connect is unknown"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := wired(t, c.db, c.web, c.connections, &worldReader{objects: documents(t, c.world)})
			if err != nil {
				t.Fatal(err)
			}
			if got := made(w, "db"); !slices.Equal(got, c.db2) {
				t.Errorf("db creates %q, want %q", got, c.db2)
			}
			if got := made(w, "web"); !slices.Equal(got, c.web2) {
				t.Errorf("web creates %q, want %q", got, c.web2)
			}
			if got := valueOf(t, w, "web", "Deployment", "spec.template.spec.containers[0].env"); got != c.env {
				t.Errorf("the variables are %s, want %s", got, c.env)
			}
			for _, note := range c.notes {
				if !slices.Contains(w.notes, note) {
					t.Errorf("it does not note %q but %q", note, w.notes)
				}
			}
		})
	}
}

func TestConnectObjects(t *testing.T) {
	t.Parallel()
	db := "    resources:" + strings.ReplaceAll(strings.Replace(dbSet, "{name: db}", "{name: db, namespace: data}", 1), "SERVICE", "''")
	route := webSet + `
    - apiVersion: gateway.networking.k8s.io/v1
      kind: HTTPRoute
      metadata: {name: door}
      spec: {rules: [{backendRefs: [{weight: 1}]}]}
`
	w, err := wired(t, db, route, `  - {from: {app: db, port: mysql}, to: {app: web, env: DB_HOST, container: web}}
  - {from: {app: db, port: mysql, value: port}, to: {app: web, configMap: web, key: port}}
  - {from: {app: db, port: mysql, value: port}, to: {app: web, root: deployment/web, path: spec.replicas}}
  - {from: {app: db, port: mysql}, to: {app: web, root: httproute.gateway.networking.k8s.io/door, path: "spec.rules[0].backendRefs[0]"}}
  - {from: {app: db, root: statefulset/data/db, path: status.currentRevision}, to: {app: web, env: REVISION}}
`, &worldReader{objects: documents(t, strings.ReplaceAll(liveDeny, "shop", "data")+"\n---\n"+liveStays)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ app, kind, path, want string }{
		{"db", "Service", "spec", `{"clusterIP":"None","ports":[{"name":"mysql","port":3306,"protocol":"TCP","targetPort":"mysql"}],"selector":{"app":"db"}}`},
		{"db", "Service", "metadata", `{"name":"db-mysql","namespace":"data"}`},
		{"db", "NetworkPolicy", "metadata.namespace", `"data"`},
		{"db", "NetworkPolicy", "spec", `{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"shop"}},"podSelector":{"matchLabels":{"app":"web"}}}],"ports":[{"port":3306,"protocol":"TCP"}]}],"podSelector":{"matchLabels":{"app":"db"}},"policyTypes":["Ingress"]}`},
		{"web", "NetworkPolicy", "spec", `{"egress":[{"ports":[{"port":3306,"protocol":"TCP"}],"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"data"}},"podSelector":{"matchLabels":{"app":"db"}}}]}],"podSelector":{"matchLabels":{"app":"web"}},"policyTypes":["Egress"]}`},
		{"db", "ReferenceGrant", "spec", `{"from":[{"group":"gateway.networking.k8s.io","kind":"HTTPRoute","namespace":"shop"}],"to":[{"group":"","kind":"Service","name":"db-mysql"}]}`},
		{"web", "HTTPRoute", "spec.rules[0].backendRefs[0]", `{"name":"db-mysql","namespace":"data","port":3306,"weight":1}`},
		{"web", "ConfigMap", "data", `{"port":"3306"}`},
		{"web", "Deployment", "spec.replicas", "3306"},
		{"web", "Deployment", "spec.template.spec.containers[0].env", `[{"name":"REVISION"},{"name":"DB_HOST","value":"db-mysql.data.svc"},{"name":"MODE","value":"x"}]`},
	} {
		if got := valueOf(t, w, c.app, c.kind, c.path); got != c.want {
			t.Errorf("%s of the %s of %s is\n%s\nwant\n%s", c.path, c.kind, c.app, got, c.want)
		}
	}
	var later []string
	for _, v := range w.values["web"] {
		later = append(later, v.Field)
	}
	want := []string{"spec.template.spec.containers[0].env[0].value", "spec.template.spec.initContainers[0].env[0].value"}
	if !slices.Equal(later, want) || !slices.Equal(w.needs["web"], []string{"db"}) {
		t.Errorf("the run sets %q, and web needs %q", later, w.needs["web"])
	}
	if a, _ := w.sys.App("web"); a.Resources[0].Object["spec"].(map[string]any)["replicas"] != nil {
		t.Error("the manifest itself was changed")
	}
}

func TestConnectRefused(t *testing.T) {
	t.Parallel()
	db := "    resources:" + strings.ReplaceAll(dbSet, "SERVICE", "''")
	for _, c := range []struct{ name, db, web, connection, forbidden, want string }{
		{"no such port", db, webSet, "{from: {app: db, port: mysq}, to: {app: web, env: H}}", "", "no container of StatefulSet.apps/shop/db has a port mysq (did you mean mysql?)"},
		{"no such container", db, webSet, "{from: {app: db, port: mysql}, to: {app: web, env: H, container: wep}}", "", "Deployment.apps/shop/web has no container wep (did you mean web?)"},
		{"the variable comes from elsewhere", db, strings.Replace(webSet, "{name: MODE, value: x}", "{name: MODE, valueFrom: {fieldRef: {fieldPath: metadata.name}}}", 1), "{from: {app: db, port: mysql}, to: {app: web, env: MODE}}", "", "container web of Deployment.apps/shop/web takes MODE from another object"},
		{"no workload", db, "\n    - {apiVersion: v1, kind: ConfigMap, metadata: {name: web}}", "{from: {app: db, port: mysql}, to: {app: web, env: H}}", "", "web creates no workload: H cannot be set"},
		{"a root that is none", db, webSet, "{from: {app: db, port: mysql}, to: {app: web, root: configmap/web, env: H}}", "", "ConfigMap/shop/web is no workload that web creates"},
		{"no ConfigMap", db, webSet, "{from: {app: db, port: mysql}, to: {app: web, configMap: wep, key: k}}", "", "web creates no ConfigMap wep"},
		{"no object", db, webSet, "{from: {app: db, port: mysql}, to: {app: web, root: deployment/api, path: spec.x}}", "", "web creates no Deployment.apps/shop/api"},
		{"the status", db, webSet, "{from: {app: db, port: mysql}, to: {app: web, root: deployment/web, path: status.x}}", "", "a connection cannot set status.x"},
		{"nothing that serves", "    roots: [configmap/x]", webSet, "{from: {app: db, port: mysql}, to: {app: web, env: H}}", "", "no Service of app db serves port mysql"},
		{"Services unread", db, webSet, "{from: {app: db, port: mysql}, to: {app: web, env: H}}", "Service", "whether a Service serves port mysql of StatefulSet.apps/shop/db is unknown"},
		{"a Job", "    resources:\n    - {apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, ports: [{name: mysql, containerPort: 1}]}]}}}}", webSet, "{from: {app: db, port: mysql}, to: {app: web, env: H}}", "", "Job.batch/shop/j runs to its end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := wired(t, c.db, c.web, "  - "+c.connection+"\n", &worldReader{forbidden: []string{c.forbidden}})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "shop.yaml:") {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	w, err := wired(t, "    roots: [service/live]", webSet, "  - {from: {app: db, port: 3306}, to: {app: web, env: H}}\n", &worldReader{objects: documents(t, liveService), forbidden: []string{"Service", "Pod"}})
	if err != nil || valueOf(t, w, "web", "Deployment", "spec.template.spec.containers[0].env[0].value") != `"live"` {
		t.Errorf("a Service that is named, among others that are unread: %v", err)
	}
	w, err = wired(t, db, webSet, "  - {from: {app: db, port: mysql}, to: {app: web, env: H}}\n", &worldReader{forbidden: []string{"NetworkPolicy"}})
	if err != nil || !strings.Contains(strings.Join(w.notes, "\n"), "web: whether NetworkPolicies restrict it in shop is unknown: ") {
		t.Errorf("unread policies: %v, and the notes %q", err, w.notes)
	}
	// A bundle is made without a cluster.
	if w, err = wired(t, "    roots: [statefulset/db]", webSet, "  - {from: {app: db, port: mysql}, to: {app: web, env: H}}\n", nil); err != nil || len(made(w, "web")) > 0 {
		t.Errorf("without a cluster: %v", err)
	}
}

// The labels of the System decide which policies restrict its pods.
func TestConnectLabelled(t *testing.T) {
	t.Parallel()
	db := "    resources:" + strings.ReplaceAll(dbSet, "SERVICE", "''")
	deny := strings.Replace(liveDeny, "podSelector: {}", "podSelector: {matchLabels: {team: t1}}", 1)
	w, err := wired(t, db, webSet, "  - {from: {app: db, port: mysql}, to: {app: web, env: H}}\n  labels: {team: t1}\n", &worldReader{objects: documents(t, deny)})
	if err != nil {
		t.Fatal(err)
	}
	if got := made(w, "db"); !slices.Equal(got, []string{"Service/db-mysql", "NetworkPolicy/db-mysql-from-web"}) {
		t.Errorf("db creates %q, want the rule as well", got)
	}
	for app, kinds := range map[string][]string{"db": {"StatefulSet", "Service", "NetworkPolicy"}, "web": {"Deployment"}} {
		for _, kind := range kinds {
			if got := valueOf(t, w, app, kind, "metadata.labels.team"); got != `"t1"` {
				t.Errorf("%s of %s has the team %s", kind, app, got)
			}
		}
	}
}

// What cannot be scaled is refused before anything is written.
func TestRefusedScalers(t *testing.T) {
	t.Parallel()
	text := "apiVersion: sysop.dev/v1alpha1\nkind: System\nmetadata: {name: sys, namespace: shop}\nspec:\n  apps:\n  - name: web\n    autoscaling: {max: 3}\n    resources:" + webSet
	sys, problems := system.Parse("shop.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p := &Plan{req: Request{System: sys}}
	p.loader = newPartLoader(&p.req, nil, source.BuiltInKinds(), "", nil)
	err := p.loadLevels(t.Context())
	want := "shop.yaml:6: app web: autoscaling: Deployment.apps/web cannot be scaled: a utilization is a part of the requests, and its container web requests no cpu"
	if err == nil || err.Error() != want || hint.For(err) != "set the requests first" || len(p.loader.parts) > 0 {
		t.Errorf("the error is %v with %q, want %s", err, hint.For(err), want)
	}
}
