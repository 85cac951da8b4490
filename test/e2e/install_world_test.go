package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// installLimit ends an installation that hangs.
var installLimit = timeout.Scaled(2 * time.Minute)

// installer is somebody who installs: through a proxy, with a home of their own, in which what
// was fetched stays.
type installer struct {
	t       *testing.T
	c       *cluster.Cluster
	proxy   *faults.Proxy
	client  dynamic.Interface
	home    string
	program string
}

// newInstaller acts as the user of the kubeconfig, the administrator if that is empty.
func newInstaller(t *testing.T, c *cluster.Cluster, program, kubeconfig string) *installer {
	t.Helper()
	return &installer{t: t, c: c, proxy: proxy(t, c, kubeconfig), client: dynamic.NewForConfigOrDie(c.Config()), home: t.TempDir(), program: program}
}

func (i *installer) start(args ...string) *process {
	i.t.Helper()
	return startIn(i.t, installLimit, i.home, i.program, i.proxy.Kubeconfig(), args...)
}

// run runs the plugin to its end.
func (i *installer) run(args ...string) result {
	i.t.Helper()
	return i.start(args...).wait()
}

// refused runs the plugin, which must fail with all the words, and must not have written.
func (i *installer) refused(words []string, args ...string) result {
	i.t.Helper()
	i.proxy.Reset()
	r := i.run(args...)
	i.failed(r, words...)
	if w := i.writes(); len(w) > 0 {
		i.t.Errorf("%v was refused, and wrote %v", args, w)
	}
	return r
}

// failed fails the test unless a run ended with an error that has the words.
func (i *installer) failed(r result, words ...string) {
	i.t.Helper()
	if r.code != 1 || !strings.Contains(r.stderr, "error: ") {
		i.t.Errorf("%v: exit code %d, want 1 with an error; stdout %q, stderr:\n%s", r.args, r.code, r.stdout, r.stderr)
	}
	for _, w := range words {
		if !strings.Contains(r.stderr, w) {
			i.t.Errorf("%v: no %q in:\n%s", r.args, w, r.stderr)
		}
	}
}

// writes are the requests since the last Reset that changed something, without Events.
func (i *installer) writes() (out []string) {
	for _, q := range i.proxy.Requests() {
		if q.Method != "GET" && !q.Query.Has("dryRun") && !strings.HasPrefix(q.Path, "/apis/authorization.k8s.io/") && !strings.HasPrefix(q.Path, "/apis/events.k8s.io/") {
			out = append(out, q.Method+" "+q.Path)
		}
	}
	return out
}

// history are the runs that the plugin tells of: action and result.
func (i *installer) history(name, namespace string) (out []string) {
	i.t.Helper()
	r := i.run("history", name, "-n", namespace, "-o", "json").succeeds(i.t)
	var doc struct {
		Current *struct{ Run string }
		Runs    []struct{ Action, Result string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		i.t.Fatalf("%v in:\n%s", err, r.stdout)
	}
	for _, run := range doc.Runs {
		out = append(out, run.Action+" "+run.Result)
	}
	if doc.Current != nil {
		out = append(out, "open")
	}
	return out
}

// helmOf is Helm's own library, as whoever types helm -n NAMESPACE has it.
func helmOf(t *testing.T, c *cluster.Cluster, namespace string) *action.Configuration {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(true).WithWrapConfigFn(func(*rest.Config) *rest.Config { return c.Config() })
	flags.Namespace = &namespace
	conf := action.NewConfiguration()
	if err := conf.Init(flags, namespace, "secret"); err != nil {
		t.Fatal(err)
	}
	return conf
}

// helmList is what helm list says of a namespace.
func helmList(t *testing.T, c *cluster.Cluster, namespace string) (out []string) {
	t.Helper()
	list := action.NewList(helmOf(t, c, namespace))
	list.StateMask = action.ListAll
	all, err := list.Run()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		v := r.(*helmrelease.Release)
		out = append(out, fmt.Sprintf("%s %d %s %s", v.Name, v.Version, v.Info.Status, v.Chart.Metadata.Version))
	}
	slices.Sort(out)
	return out
}

// helmHistory is what helm history says of a release.
func helmHistory(t *testing.T, c *cluster.Cluster, namespace, name string) (out []string) {
	t.Helper()
	list, err := action.NewHistory(helmOf(t, c, namespace)).Run(name)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(list)
	for _, r := range list {
		v := r.(*helmrelease.Release)
		out = append(out, fmt.Sprintf("%d %s %s", v.Version, v.Info.Status, v.Chart.Metadata.Version))
	}
	slices.Sort(out)
	return out
}

// operatorVersion is a version of an operator to be served.
type operatorVersion struct {
	version string
	// values go into the entry of the catalogue.
	values map[string]any
	// change changes definitions of the version.
	change func(definition *unstructured.Unstructured)
}

// operators is a catalogue with cert-manager from an http repository and prometheus-operator
// from an OCI registry, in these versions of cert-manager.
func operators(t *testing.T, c *cluster.Cluster, versions ...operatorVersion) (dir string) {
	t.Helper()
	dir = t.TempDir()
	archives := map[string][]byte{}
	for _, v := range versions {
		archives["cert-manager-v"+v.version+".tgz"] = repository.Archive(t, "cert-manager", certManagerFiles(t, c, v))
	}
	at := repository.ServeCharts(t, archives)
	var entries []any
	for _, v := range slices.Backward(versions) {
		values := map[string]any{"crds": map[string]any{"enabled": true}}
		maps.Copy(values, v.values)
		entries = append(entries, map[string]any{
			"version": v.version, "kubernetes": ">=1.22", "namespace": "cert-manager",
			"source": map[string]any{"chart": map[string]any{
				"repository": at, "name": "cert-manager", "version": "v" + v.version,
				"digest": repository.Digest(archives["cert-manager-v"+v.version+".tgz"]), "values": values,
			}},
			"health": []any{map[string]any{"kind": "Deployment.apps", "name": "cert-manager"}},
		})
	}
	writeEntry(t, dir, "cert-manager", entries)

	files := chartFiles(t, "prometheus-operator")
	for name, text := range shippedDefinitions(t, c, build.ManifestPrometheusCRDs) {
		files["crds/"+name] = text
	}
	host := repository.ServeOCI(t)
	digest := repository.PushChart(t, host+"/charts/prometheus-operator:0.85.0", repository.Archive(t, "prometheus-operator", files), nil)
	writeEntry(t, dir, "prometheus-operator", []any{map[string]any{
		"version": "0.85.0", "kubernetes": ">=1.16", "namespace": "monitoring",
		"source": map[string]any{"chart": map[string]any{"oci": "oci://" + host + "/charts/prometheus-operator", "version": "0.85.0", "digest": digest}},
		"health": []any{map[string]any{"kind": "Deployment.apps", "name": "prometheus-operator"}},
	}})
	return dir
}

// asShipped is cert-manager as its module ships it.
var asShipped = operatorVersion{version: "1.21.2"}

// writeEntry writes an entry of our own catalogue with other versions.
func writeEntry(t *testing.T, dir, name string, versions []any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "catalog", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var entry map[string]any
	if err := yaml.Unmarshal(text, &entry); err != nil {
		t.Fatal(err)
	}
	entry["versions"] = versions
	if text, err = yaml.Marshal(entry); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// chartFiles are the files of a chart of testdata.
func chartFiles(t *testing.T, name string) map[string]string {
	t.Helper()
	root := filepath.Join("testdata", "install", name)
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// shippedDefinitions are the definitions that a module ships, by the name of the file.
func shippedDefinitions(t *testing.T, c *cluster.Cluster, manifests string) map[string]string {
	t.Helper()
	dir := c.Binaries().Manifests(manifests)
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no definitions in %s: %v", dir, err)
	}
	out := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = string(text)
	}
	return out
}

// certManagerFiles are those of the chart, with its definitions among the templates.
func certManagerFiles(t *testing.T, c *cluster.Cluster, v operatorVersion) map[string]string {
	t.Helper()
	files := chartFiles(t, "cert-manager")
	files["Chart.yaml"] = strings.ReplaceAll(files["Chart.yaml"], "v1.21.2", "v"+v.version)
	for name, text := range shippedDefinitions(t, c, build.ManifestCertCRDs) {
		objects, err := apply.Parse([]byte(text))
		if err != nil || len(objects) != 1 {
			t.Fatalf("%s: %d definitions: %v", name, len(objects), err)
		}
		d := objects[0]
		notes := d.GetAnnotations()
		if notes == nil {
			notes = map[string]string{}
		}
		notes["helm.sh/resource-policy"] = "keep"
		d.SetAnnotations(notes)
		if v.change != nil {
			v.change(d)
		}
		whole, err := yaml.Marshal(d.Object)
		if err != nil {
			t.Fatal(err)
		}
		files["templates/crd-"+name] = "{{- if .Values.crds.enabled }}\n" + strings.ReplaceAll(string(whole), "{{", "{{ `{{` }}") + "{{- end }}\n"
	}
	return files
}

// manifest writes a manifest of testdata/install with the word NAMESPACE replaced, and
// returns its file.
func (i *installer) manifest(ns, file string, oldnew ...string) string {
	i.t.Helper()
	text := strings.NewReplacer(oldnew...).Replace(inNamespace(i.t, ns, filepath.Join("install", file)))
	name := filepath.Join(i.home, file)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		i.t.Fatal(err)
	}
	return name
}

// cleared takes operators away, whatever a test has left of them.
func cleared(t *testing.T, c *cluster.Cluster, names ...string) {
	t.Helper()
	program := unraced(t)
	t.Cleanup(func() {
		dir := t.TempDir()
		for _, name := range names {
			ctx, cancel := context.WithTimeout(context.Background(), installLimit)
			in := map[string]string{"prometheus-operator": "monitoring", "cert-manager": "cert-manager"}[name]
			for _, args := range [][]string{{"rollback", name, "-n", in, "--unfinished", "--yes"}, {"uninstall", name, "-n", in, "--delete-data=" + name, "--yes"}} {
				cmd := exec.CommandContext(ctx, program, args...)
				cmd.Env = []string{"HOME=" + dir, "KUBECONFIG=" + c.Kubeconfig}
				if text, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(text), "no installation") && !strings.Contains(string(text), "no unfinished run") {
					t.Errorf("%v: %v\n%s", args, err, text)
				}
			}
			cancel()
		}
		forgotten(t, c, "cert-manager", "monitoring")
	})
}

// forgotten deletes namespaces, with the history in them, and waits until they are gone.
func forgotten(t *testing.T, c *cluster.Cluster, names ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	namespaces := admin(c).CoreV1().Namespaces()
	for _, name := range names {
		for ctx.Err() == nil {
			if err := namespaces.Delete(ctx, name, metav1.DeleteOptions{}); apierrors.IsNotFound(err) {
				break
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
	if ctx.Err() != nil {
		t.Errorf("the namespaces %v are not gone after %s", names, limit)
	}
}

var errUnequal = errors.New("the cluster is not as it was")

// operatorsTurn is held by a test that installs the two operators: there is one namespace and one
// set of definitions of each.
var operatorsTurn sync.Mutex

func myTurn(t *testing.T) {
	t.Helper()
	operatorsTurn.Lock()
	t.Cleanup(operatorsTurn.Unlock)
}
