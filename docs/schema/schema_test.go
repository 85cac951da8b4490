// Package schema_test holds the published JSON schemas against the documents
// that the commands write, and against the Go types behind them.
package schema_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
	"github.com/kubectl-sysop/kubectl-sysop/internal/page"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// schemas are the files beside this one.
var schemas = []string{
	"graph", "problems", "path", "impact", "health", "health-change", "metrics", "metrics-doctor", "monitor-plan", "monitor-status", "stacks", "ui-state", "ui", "logs", "man", "version", "snapshot", "rules", "rules-explain", "rules-lint", "prices", "prices-nodes", "check", "preflight", "colocation", "drain", "autoscale-plan", "autoscale-status",
	"regulate-plan", "regulate-status", "regulate-history", "regulate-done", "regulate-run", "regulate-neighbours", "signals", "system", "system-show", "system-validate", "system-change", "systems", "entry",
	"event", "install-plan", "install-done", "install-history", "install-diff", "catalog", "catalog-show", "catalog-validate", "backup", "backups", "restore",
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	s, err := c.Compile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, name string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// run returns what a command writes on standard output.
func run(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errOut bytes.Buffer
	env := command.Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut},
		Getenv:    func(string) string { return "" }, Demo: demotest.FS(), Now: func() time.Time { return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC) },
	}
	if code := cli.Main(t.Context(), env, args); code != command.ExitDone {
		t.Fatalf("%v: exit code %d: %s", args, code, &errOut)
	}
	return out.Bytes()
}

func instance(t *testing.T, document []byte) any {
	t.Helper()
	text, err := yaml.YAMLToJSON(document)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// document is that of an answer, as it is written.
func document(t *testing.T, a view.Output) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := render.Write(&out, "json", a, render.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestEverySchemaIsListed(t *testing.T) {
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) != len(schemas) {
		t.Errorf("files %v, schemas %v: %v", files, schemas, err)
	}
	for _, name := range schemas {
		compile(t, name)
		doc := read(t, name)
		if id, _ := doc["$id"].(string); !strings.HasSuffix(id, "/docs/schema/"+name+".json") {
			t.Errorf("%s: $id %q", name, id)
		}
	}
}

func TestDocumentsOfTheCommands(t *testing.T) {
	for _, c := range []struct {
		schema string
		args   string
	}{
		{"graph", "graph moodle/moodle-1 -o json --from demo"},
		{"graph", "graph moodle/moodle-1 -o yaml --from demo"},
		{"graph", "graph moodle/moodle-1 moodle/moodle-2 --why --show-boundary -o json --from demo"},
		{"graph", "graph deployment/moodle-1 --up -o json --from demo"},
		{"graph", "graph deployment/moodle-1 --connected -o json --from demo"},
		{"graph", "graph deployment/moodle-1 --kinds pods -o json --from demo"},
		{"graph", "graph moodles -A -o json --from demo"},
		{"problems", "graph moodles -A --problems -o json --from demo"},
		{"problems", "graph ingress/wordpress --problems -o yaml --from demo"},
		{"preflight", "check --atomic moodle/moodle-1 -o json --from demo"},
		{"preflight", "check --atomic deployment/wordpress --assume-autoscaler -o yaml --from demo"},
		{"colocation", "check moodle/moodle-1 --colocation -o json --from demo"},
		{"colocation", "check -A --colocation -o yaml --from demo"},
		{"colocation", "check deployments --colocation -n nobody -o json --from demo"},
		{"drain", "impact node/worker-a -o json --from demo"},
		{"drain", "impact node/worker-b -A -o yaml --from demo"},
		{"autoscale-plan", "autoscale plan -n moodle -o json --from demo"},
		{"autoscale-plan", "autoscale plan -f demo --budget 40 -o yaml --from demo"},
		{"autoscale-status", "autoscale status -n moodle -o json --from demo"},
		{"autoscale-status", "autoscale status mysqlcluster/cluster1 -n moodle -o yaml --from demo"},
		{"path", "path moodle/moodle-1 pvc/data-cluster1-mysql-0 -o json --from demo"},
		{"path", "path moodle/moodle-1 moodle/moodle-1 -o yaml --from demo"},
		{"impact", "impact secret/cluster1-secret -o json --from demo"},
		{"impact", "impact mysqlcluster/cluster1 -o yaml --from demo"},
		{"regulate-plan", "regulate plan -f demo -o json --from demo"},
		{"regulate-status", "regulate status -f demo -o yaml --from demo"},
		{"regulate-neighbours", "regulate neighbours -f demo -o json --from demo"},
		{"regulate-neighbours", "regulate neighbours -f demo db --cascade -o yaml --from demo"},
		{"man", "man moodle -o json --from demo"},
		{"man", "man mysqlcluster --fields all -n moodle -o yaml --from demo"},
		{"man", "man clusterissuer --no-instances -o json --from demo"},
		{"man", "man secret -o json --from demo"},
		{"health", "health -o json --from demo"},
		{"health", "health moodle/moodle-2 -o yaml --from demo"},
		{"health", "health -A --all -o json --from demo"},
		{"metrics", "metrics -o json --from demo"},
		{"metrics", "metrics -A --by node --share-idle --containers -o yaml --from demo"},
		{"metrics", "metrics moodle/moodle-1 -o json --from demo"},
		{"metrics", "metrics deployments -n nobody -o json --from demo"},
		{"stacks", "stacks -A -o json --from demo"},
		{"systems", "system list -A -o json --from demo"},
		{"metrics", "metrics --system demo -o json --from demo"},
		{"stacks", "stacks --all -o yaml --from demo"},
		{"stacks", "stacks -n nobody -o json --from demo"},
		{"check", "check -A -o json --from demo"},
		{"check", "check moodle/moodle-2 -o yaml --from demo"},
		{"check", "check cert-manager -o json --from demo"},
		{"check", "check deployments -n nobody -o json --from demo"},
		{"version", "version -o json"},
		{"rules", "rules list -o json --from demo"},
		{"rules", "rules list moodle -o yaml --from demo"},
		{"rules-explain", "rules explain moodle -o json --from demo"},
		{"rules-explain", "rules explain deployment/moodle-1 secret/moodle-1-admin -o json --from demo"},
		{"rules-lint", "rules lint -o json --from demo"},
		{"prices", "prices show -o json"},
		{"prices", "prices show -o yaml --prices ../../pkg/cost/testdata/books/full.yaml"},
		{"prices", "prices show -o json --prices ../../pkg/cost/testdata/opencost/aws.json"},
		{"prices", "prices show -o json --prices ../../pkg/cost/testdata/opencost/nodes.csv"},
		{"prices", "prices show -o json --prices ../../pkg/cost/testdata/opencost/gpu.csv"},
		{"prices-nodes", "prices show --nodes -o json --from demo"},
		{"prices-nodes", "prices show --node worker-a -n moodle -o yaml --from demo"},
		{"system-show", "system show -f demo -o json --from demo"},
		{"system-show", "system show -f demo -o yaml --offline"},
		{"system-show", "system show -f ../../pkg/system/testdata/full.yaml -o json --offline"},
		{"system-validate", "system validate demo -o json --from demo"},
		{"system-validate", "system validate ../../pkg/system/testdata/small.yaml -o yaml --offline"},
		{"catalog", "catalog list -o json"},
		{"catalog", "catalog list --installable -o yaml"},
		{"catalog", "catalog search mysql -o json"},
		{"catalog", "catalog search no-such-operator -o json"},
		{"catalog-show", "catalog show cert-manager -o json"},
		{"catalog-show", "catalog show crossplane -o yaml"},
		{"catalog-show", "catalog show argo-rollouts -o json"},
		{"catalog-validate", "catalog validate -o json"},
	} {
		out := run(t, strings.Fields(c.args)...)
		if err := compile(t, c.schema).Validate(instance(t, out)); err != nil {
			t.Errorf("%s: %#v", c.args, err)
		}
	}
}

// TestPictures unpacks what is in the files of -o html.
func TestPictures(t *testing.T) {
	schema := compile(t, "ui-state")
	for _, args := range []string{
		"graph moodle/moodle-1 moodle/moodle-2 -o html --from demo", "health -A -o html --from demo", "metrics -o html --from demo", "stacks -A --all -o html --from demo",
		"stacks -n nobody -o html --from demo",
	} {
		doc := instance(t, unpacked(t, run(t, strings.Fields(args)...)))
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %#v", args, err)
		}
		doc.(map[string]any)["nodes"] = []any{map[string]any{"k": json.Number("0")}, nil}
		if err := schema.Validate(doc); err == nil {
			t.Errorf("%s: a node without a name is not refused", args)
		}
	}
}

// unpacked is the Picture in a file.
func unpacked(t *testing.T, file []byte) []byte {
	t.Helper()
	doc, err := page.Unpack(file)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestServed holds what a program reads before it opens the page.
func TestServed(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := &ending{end: stop}
	env := command.Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: io.Discard},
		Getenv:    func(string) string { return "" }, Demo: demotest.FS(), Now: time.Now,
	}
	if code := cli.Main(ctx, env, strings.Fields("ui -o json --from demo")); code != command.ExitDone {
		t.Fatalf("exit code %d", code)
	}
	if err := compile(t, "ui").Validate(instance(t, out.Bytes())); err != nil {
		t.Errorf("%#v\n%s", err, out)
	}
}

// ending ends something once something was written.
type ending struct {
	bytes.Buffer
	end func()
}

func (e *ending) Write(p []byte) (int, error) {
	defer e.end()
	return e.Buffer.Write(p)
}

func TestHeadOfSnapshots(t *testing.T) {
	out := string(run(t, "snapshot", "moodle/moodle-1", "-o", "-", "--from", "demo"))
	head, _, _ := strings.Cut(strings.TrimPrefix(out, "---\n"), "\n---\n")
	if err := compile(t, "snapshot").Validate(instance(t, []byte(head))); err != nil {
		t.Errorf("%#v\n%s", err, head)
	}
}

// TestSchemasRefuse holds that a schema says something: each document that is
// wrong in one place is refused.
func TestSchemasRefuse(t *testing.T) {
	out, schema := run(t, "graph", "moodle/moodle-1", "-o", "json", "--from", "demo"), compile(t, "graph")
	first := func(doc map[string]any, list string) map[string]any { return doc[list].([]any)[0].(map[string]any) }
	for what, spoil := range map[string]func(map[string]any){
		"another kind":       func(d map[string]any) { d["kind"] = "Path" },
		"another version":    func(d map[string]any) { d["apiVersion"] = "sysop.dev/v1" },
		"an unknown field":   func(d map[string]any) { d["more"] = true },
		"no gaps":            func(d map[string]any) { delete(d, "gaps") },
		"null edges":         func(d map[string]any) { d["edges"] = nil },
		"an unknown state":   func(d map[string]any) { first(d, "nodes")["state"] = "gone" },
		"an empty namespace": func(d map[string]any) { first(d, "nodes")["namespace"] = "" },
		"a node's field":     func(d map[string]any) { first(d, "nodes")["labels"] = map[string]any{} },
		"a relation":         func(d map[string]any) { first(d, "edges")["relation"] = "uses" },
		"an edge to no ID":   func(d map[string]any) { first(d, "edges")["to"] = "pod" },
	} {
		doc := instance(t, out).(map[string]any)
		spoil(doc)
		if err := schema.Validate(doc); err == nil {
			t.Errorf("%s is not refused", what)
		}
	}
}

// TestSameDefinitions holds that what two schemas call by one name is one thing.
func TestSameDefinitions(t *testing.T) {
	seen := map[string]any{}
	for _, name := range schemas {
		defs, _ := read(t, name)["$defs"].(map[string]any)
		for def, body := range defs {
			if other, ok := seen[def]; ok && !reflect.DeepEqual(other, body) {
				t.Errorf("%s: another %q than in the schemas before", name, def)
			}
			seen[def] = body
		}
	}
}

// TestMetricsDoctor has a server with one of the metrics.
func TestMetricsDoctor(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"metric":"kube_pod_info"},"value":[1,"1"]}]}}`)
	}))
	defer s.Close()
	out := run(t, "metrics", "doctor", "--window", "24h", "-o", "json", "--prometheus", s.URL)
	if err := compile(t, "metrics-doctor").Validate(instance(t, out)); err != nil {
		t.Errorf("%#v", err)
	}
}
