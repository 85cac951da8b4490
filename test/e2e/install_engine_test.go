package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/chart"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// definition is that of the kind of a kettle, in a group of its own.
func (e *helmEngine) definition() string {
	return strings.ReplaceAll(engineDefinition, "GROUP", e.group())
}

func (e *helmEngine) group() string { return e.of.Name + ".example.com" }

const engineDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kettles.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Kettle, listKind: KettleList, plural: kettles, singular: kettle}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {cups: {type: integer}}}}
`

// chart is a chart with what an upgrade changes, adds and takes away, an object of the
// definition, and a hook.
func (e *helmEngine) chart(version string, wait bool) *chart.Chart {
	files := map[string]string{
		"templates/plain.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {version: '{{ .Chart.Version }}', size: '{{ .Values.size }}'}\n",
		"templates/only.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'only-{{ .Chart.Version }}'}\n",
		"templates/kettle.yaml": "apiVersion: " + e.group() + "/v1\nkind: Kettle\nmetadata: {name: black}\nspec: {cups: {{ .Values.size }}}\n",
		"templates/web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: web}}\n" +
			"  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: 'example.com/web:{{ .Chart.Version }}'}]}\n",
		"templates/look.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: look}\ndata: {found: '{{ len (lookup \"v1\" \"Namespace\" \"\" \"default\") }}', kube: '{{ .Capabilities.KubeVersion.Version }}'}\n",
		"templates/hook.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: 'pre-install,pre-upgrade'}}\n",
	}
	if wait {
		files["templates/job.yaml"] = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: slow, annotations: {helm.sh/hook: pre-install}}\nspec:\n  suspend: true\n" +
			"  template: {spec: {restartPolicy: Never, containers: [{name: x, image: example.com/x}]}}\n"
	}
	c := &chartv2.Chart{Metadata: &chartv2.Metadata{APIVersion: "v2", Name: "kettle", Version: version}, Values: map[string]any{"size": int64(1)}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		c.Templates = append(c.Templates, &common.File{Name: name, Data: []byte(files[name])})
	}
	return &chart.Chart{Helm: c, Origin: "test"}
}

// helmEngine is an installation on the control plane.
type helmEngine struct {
	t      *testing.T
	of     install.Installation
	config *rest.Config
	client dynamic.Interface
	runner *install.Runner
	o      install.Options
	broken error // what the gate says
	events []journal.Event
}

func newHelmEngine(t *testing.T, c *cluster.Cluster, name string) *helmEngine {
	t.Helper()
	e := &helmEngine{t: t, config: c.Config(), client: dynamic.NewForConfigOrDie(c.Config()), of: install.Installation{Name: name, Namespace: name}}
	objects, err := install.NewObjects(e.config)
	if err != nil {
		t.Fatal(err)
	}
	store, err := install.NewStore(e.config, e.of)
	if err != nil {
		t.Fatal(err)
	}
	e.runner = &install.Runner{
		Engine: helm.New(e.config, nil), Objects: objects, Discovery: objects, Store: store, By: "e2e", Poll: 50 * time.Millisecond,
		Lock: install.NewLock(e.config, e.of), Gate: func(context.Context, []object.Ref, time.Duration) error { return e.broken },
		Events: func(ev journal.Event) { e.events = append(e.events, ev) },
	}
	version, err := kubernetes.NewForConfigOrDie(e.config).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	e.o = install.Options{Kubernetes: version.GitVersion, APIs: []string{"v1", "apps/v1"}}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		_ = e.namespaces().Delete(ctx, e.of.Namespace, metav1.DeleteOptions{})
		_ = e.definitions().Delete(ctx, "kettles."+e.group(), metav1.DeleteOptions{})
	})
	return e
}

func (e *helmEngine) namespaces() dynamic.ResourceInterface {
	return e.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
}

func (e *helmEngine) definitions() dynamic.ResourceInterface {
	return e.client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
}

// plan is a plan of one part: steps is called with the step of its release.
func (e *helmEngine) plan(kind install.StepKind, c *chart.Chart, size int64, was int, definition string) *install.Plan {
	e.t.Helper()
	ns := e.of.Namespace
	at := func(apiVersion, kind, name string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
		o.SetName(name)
		o.SetNamespace(ns)
		return o
	}
	part := &install.Part{Name: "kettle", Release: "kettle", Namespace: ns, Chart: c, Values: map[string]any{"size": size}, Rendered: &chart.Rendered{
		Objects: []*unstructured.Unstructured{at("v1", "ConfigMap", "plain"), at("apps/v1", "Deployment", "web")},
		Hooks: []chart.Hook{
			{Object: at("v1", "ConfigMap", "hook"), Events: []string{"pre-install", "pre-upgrade"}},
			{Object: at("batch/v1", "Job", "slow"), Events: []string{"pre-install"}},
		},
	}}
	p := &install.Plan{Installation: e.of, Action: install.Install, Parts: []*install.Part{part}, Fingerprint: fmt.Sprint(kind, c, size)}
	if definition != "" {
		d := new(unstructured.Unstructured)
		if err := yaml.Unmarshal([]byte(definition), d); err != nil {
			e.t.Fatal(err)
		}
		p.Steps = append(p.Steps, install.Step{ID: "namespace/" + ns, Kind: install.MakeNamespace, Namespace: ns},
			install.Step{ID: "definitions/kettle", Kind: install.ApplyDefinitions, Part: "kettle", Definitions: []*unstructured.Unstructured{d}, Timeout: limit})
	}
	p.Steps = append(p.Steps, install.Step{ID: "release/kettle", Kind: kind, Part: "kettle", Release: "kettle", Namespace: ns, Was: was, To: 1, Timeout: limit},
		install.Step{ID: "await/kettle", Kind: install.Await, Part: "kettle", Timeout: limit})
	return p
}

// image is what the objects of the namespace are like, but for the records of Helm, the
// journal, what controllers made of them and what each write changes.
func (e *helmEngine) image() map[string]string {
	e.t.Helper()
	out := map[string]string{}
	list, err := e.runner.Discovery.Contents(e.t.Context(), e.of.Namespace)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, o := range list {
		if strings.HasPrefix(o.GetName(), "sh.helm.release") || strings.HasPrefix(o.GetName(), "sysop-install-") || len(o.GetOwnerReferences()) > 0 {
			continue
		}
		for _, at := range [][]string{{"metadata", "resourceVersion"}, {"metadata", "generation"}, {"metadata", "managedFields"}, {"status"}} {
			unstructured.RemoveNestedField(o.Object, at...)
		}
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
		if strings.HasPrefix(o.GetName(), "only-") || o.GetName() == "hook" { // deleted and made again
			unstructured.RemoveNestedField(o.Object, "metadata", "creationTimestamp")
			o.SetUID("")
		}
		b, err := yaml.Marshal(o.Object)
		if err != nil {
			e.t.Fatal(err)
		}
		out[o.GetKind()+"/"+o.GetName()] = string(b)
	}
	return out
}

func (e *helmEngine) same(what string, want map[string]string) {
	e.t.Helper()
	got := e.image()
	for name := range want {
		if got[name] != want[name] {
			e.t.Errorf("%s: %s is\n%s\nwant\n%s", what, name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			e.t.Errorf("%s: %s is there", what, name)
		}
	}
}

// plainHelm is Helm as its own command line sets it up.
func (e *helmEngine) plainHelm() *action.Configuration {
	e.t.Helper()
	flags := genericclioptions.NewConfigFlags(true).WithWrapConfigFn(func(*rest.Config) *rest.Config { return rest.CopyConfig(e.config) })
	flags.Namespace = &e.of.Namespace
	c := action.NewConfiguration()
	if err := c.Init(flags, e.of.Namespace, "secret"); err != nil {
		e.t.Fatal(err)
	}
	return c
}

// helmSays is what helm history says.
func (e *helmEngine) helmSays() (out []string) {
	e.t.Helper()
	list, err := action.NewHistory(e.plainHelm()).Run("kettle")
	if err != nil {
		e.t.Fatal(err)
	}
	for _, r := range list {
		v := r.(*helmrelease.Release)
		out = append(out, fmt.Sprintf("%d %s %s", v.Version, v.Info.Status, v.Chart.Metadata.Version))
	}
	slices.Sort(out)
	return out
}

func (e *helmEngine) do(p *install.Plan) install.Report {
	e.t.Helper()
	rep, err := e.runner.Do(e.t.Context(), p, e.o)
	if err != nil || rep.Result != install.ResultDone {
		e.t.Fatalf("%+v %v", rep, err)
	}
	return rep
}

func (e *helmEngine) undone(ctx context.Context, p *install.Plan) install.Report {
	e.t.Helper()
	rep, err := e.runner.Do(ctx, p, e.o)
	failed := new(install.FailedError)
	if !errors.As(err, &failed) || failed.Result != install.ResultUndone || rep.Result != install.ResultUndone {
		e.t.Fatalf("%+v %v", rep, err)
	}
	return rep
}

// What is installed, upgraded, rolled back and uninstalled is so for helm too; what fails
// leaves the namespace as it was.
func TestInstallEngine(t *testing.T) {
	t.Parallel()
	e := newHelmEngine(t, bare.Cluster(t), "engine-life")
	rep := e.do(e.plan(install.InstallRelease, e.chart("1.0.0", false), 1, 0, e.definition()))
	if len(rep.Releases) != 1 || rep.Releases[0].Revision != 1 || rep.Releases[0].Version != "1.0.0" {
		t.Errorf("releases %+v", rep.Releases)
	}
	first := e.image()
	for _, want := range []string{"ConfigMap/plain", "ConfigMap/only-1.0.0", "Kettle/black", "Deployment/web", "ConfigMap/hook"} {
		if first[want] == "" {
			t.Errorf("no %s in %v", want, slices.Sorted(maps.Keys(first)))
		}
	}
	if !strings.Contains(first["ConfigMap/look"], `found: "0"`) || !strings.Contains(first["ConfigMap/look"], e.o.Kubernetes) {
		t.Errorf("what templates see:\n%s", first["ConfigMap/look"])
	}
	maps1 := e.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(e.of.Namespace)
	plain, err := maps1.Get(t.Context(), "plain", metav1.GetOptions{})
	if err != nil || len(plain.GetManagedFields()) != 1 || plain.GetManagedFields()[0].Manager != "helm" || plain.GetManagedFields()[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("managers %+v %v", plain.GetManagedFields(), err)
	}
	list, err := action.NewList(e.plainHelm()).Run()
	if err != nil || len(list) != 1 || list[0].(*helmrelease.Release).Name != "kettle" || list[0].(*helmrelease.Release).Labels[helm.PackageLabel] != "kettle" {
		t.Errorf("helm list: %+v %v", list, err)
	}

	e.broken = errors.New("it is not healthy")
	e.undone(t.Context(), e.plan(install.UpgradeRelease, e.chart("2.0.0", false), 2, 1, ""))
	e.same("an upgrade that failed", first)
	if got, want := e.helmSays(), []string{"1 superseded 1.0.0", "2 superseded 2.0.0", "3 deployed 1.0.0"}; !slices.Equal(got, want) {
		t.Errorf("helm history %q, want %q", got, want)
	}
	e.broken = nil
	e.do(e.plan(install.UpgradeRelease, e.chart("2.0.0", false), 2, 3, ""))
	if now := e.image(); now["ConfigMap/only-1.0.0"] != "" || now["ConfigMap/only-2.0.0"] == "" || !strings.Contains(now["Kettle/black"], "cups: 2") {
		t.Errorf("after the upgrade: %v", slices.Sorted(maps.Keys(now)))
	}
	second := e.image()
	e.broken = errors.New("it is not healthy")
	e.undone(t.Context(), e.plan(install.RemoveRelease, e.chart("2.0.0", false), 2, 4, ""))
	if now := e.image(); !slices.Equal(slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(second))) {
		t.Errorf("an uninstall that failed: %v, want %v", slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(second)))
	}
	e.broken = nil
	e.do(e.plan(install.RollbackRelease, e.chart("1.0.0", false), 1, 5, ""))
	if now := e.image(); now["ConfigMap/plain"] == second["ConfigMap/plain"] || !strings.Contains(now["Kettle/black"], "cups: 1") {
		t.Errorf("after the rollback: %v", now)
	}
	h, err := e.runner.History(t.Context())
	if err != nil || len(h.Past) != 5 || h.Past[0].Result != "done" || h.Past[1].Result != "undone" || h.Past[4].Revision != 5 || len(h.Releases) != 1 || len(h.Releases[0].Revisions) != len(e.helmSays()) {
		t.Errorf("history %+v %v", h, err)
	}
	if to, err := h.Target(0); err != nil || to.Revision != 3 {
		t.Errorf("target %+v %v", to, err)
	}

	p := e.plan(install.RemoveRelease, e.chart("1.0.0", false), 1, 6, "")
	p.Action = install.Uninstall
	p.Steps = append(p.Steps, install.Step{ID: "definitions", Kind: install.DeleteDefinitions, Timeout: limit, Objects: []object.Ref{{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "kettles." + e.group()}}})
	e.do(p)
	if _, err := action.NewHistory(e.plainHelm()).Run("kettle"); err == nil {
		t.Error("helm still knows the release")
	}
	if _, err := e.definitions().Get(t.Context(), "kettles."+e.group(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the definition: %v", err)
	}
	for name := range e.image() {
		if name != "ConfigMap/kube-root-ca.crt" && name != "ServiceAccount/default" && name != "ConfigMap/hook" {
			t.Errorf("left: %s", name)
		}
	}
}

// An install that fails, or is interrupted in the middle of a hook, leaves nothing: no
// object, no definition, no namespace. What others put there stays, and is told.
func TestInstallEngineLeavesNothing(t *testing.T) {
	t.Parallel()
	e := newHelmEngine(t, bare.Cluster(t), "engine-none")
	nothing := func(what string) {
		t.Helper()
		if _, err := e.namespaces().Get(t.Context(), e.of.Namespace, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: the namespace: %v; %+v", what, err, e.events)
		}
		if _, err := e.definitions().Get(t.Context(), "kettles."+e.group(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: the definition: %v", what, err)
		}
	}
	e.broken = errors.New("it is not healthy")
	e.undone(t.Context(), e.plan(install.InstallRelease, e.chart("1.0.0", false), 1, 0, e.definition()))
	nothing("failed")

	ctx, cancel := context.WithCancelCause(t.Context())
	e.broken = nil
	go func() {
		jobs := e.client.Resource(schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}).Namespace(e.of.Namespace)
		for ctx.Err() == nil {
			if _, err := jobs.Get(ctx, "slow", metav1.GetOptions{}); err == nil {
				cancel(errors.New("stopped by hand"))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	rep := e.undone(ctx, e.plan(install.InstallRelease, e.chart("1.0.0", true), 1, 0, e.definition()))
	cancel(nil)
	if !strings.Contains(rep.Why, "stopped by hand") {
		t.Errorf("why: %q", rep.Why)
	}
	nothing("interrupted")

	// A kettle of somebody else keeps the definition, and the namespace that it is in.
	e.runner.Gate = func(ctx context.Context, _ []object.Ref, _ time.Duration) error {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": e.group() + "/v1", "kind": "Kettle", "metadata": map[string]any{"name": "others"}}}
		_, err := e.client.Resource(schema.GroupVersionResource{Group: e.group(), Version: "v1", Resource: "kettles"}).Namespace(e.of.Namespace).
			Create(ctx, o, metav1.CreateOptions{FieldManager: "somebody"})
		return errors.Join(err, errors.New("it is not healthy"))
	}
	rep, err := e.runner.Do(t.Context(), e.plan(install.InstallRelease, e.chart("1.0.0", false), 1, 0, e.definition()), e.o)
	left := rep.Left()
	if err == nil || rep.Result != install.ResultPartlyUndone || len(left) != 2 || !strings.Contains(left[0].Note+left[1].Note, "others") {
		t.Errorf("%+v %v", rep, err)
	}
	if now := slices.Sorted(maps.Keys(e.image())); !slices.Equal(now, []string{"ConfigMap/kube-root-ca.crt", "Kettle/others", "ServiceAccount/default"}) {
		t.Errorf("what stays: %v", now)
	}
}
