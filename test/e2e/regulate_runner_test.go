package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// held is a system of one app whose objects are written by several managers, and what the
// app does to them.
type held struct {
	ns      string
	client  dynamic.Interface
	kinds   *object.Kinds
	sys     *system.System
	targets [][]object.Ref
	journal []byte
}

func newHeld(t *testing.T, c *cluster.Cluster) *held {
	t.Helper()
	h := &held{ns: c.Namespace(t), client: dynamic.NewForConfigOrDie(c.Config())}
	h.kinds = object.NewKinds([]object.Resource{
		{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true},
		{Group: "batch", Version: "v1", Kind: "CronJob", Plural: "cronjobs", Namespaced: true},
		{Version: "v1", Kind: "Service", Plural: "services", Namespaced: true},
		{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true},
		{Group: "runner.example.com", Version: "v1", Kind: "Basket", Plural: "baskets", Namespaced: true, Custom: true},
	})
	h.write(t, false)
	yes, at := "true", func(group, kind string, names ...string) (out []object.Ref) {
		for _, n := range names {
			out = append(out, object.Ref{Group: group, Kind: kind, Namespace: h.ns, Name: n})
		}
		return out
	}
	type fields = map[string]any
	web, both := at("apps", "Deployment", "web"), at("apps", "Deployment", "api", "web")
	one, baskets := at("runner.example.com", "Basket", "one"), at("runner.example.com", "Basket", "one", "two")
	h.sys = &system.System{Name: "shop", Namespace: h.ns, Apps: []system.App{{Name: "shop", On: map[string][]system.Action{system.Stop: {
		{Preset: signals.PresetPause},
		{Scale: &system.Scale{Replicas: 0}},
		{Annotate: map[string]*string{"example.com/hold": &yes, "team/name": nil}},
		{Label: map[string]*string{"tier": &yes}},
		{SuspendCronJobs: true},
		{CordonTraffic: true},
		{Patch: &system.Patch{Type: system.JSON, Body: []any{fields{"op": "replace", "path": "/spec/parts/1/live", "value": false}}}},
		{Patch: &system.Patch{Type: system.Merge, Body: fields{"spec": fields{"mode": fields{"slow": true}, "free": fields{"for": "all"}}}}},
		{Patch: &system.Patch{Type: system.Strategic, Body: fields{"spec": fields{"template": fields{"spec": fields{"containers": []any{
			fields{"name": "side", "image": "side:2", "resources": fields{"requests": fields{"cpu": "1000m"}}},
		}}}}}}},
	}}}}}
	h.targets = [][]object.Ref{
		both, slices.Concat(both, baskets), slices.Concat(at("", "ConfigMap", "plain"), both, one), slices.Concat(at("", "ConfigMap", "plain"), at("", "Service", "web")),
		at("batch", "CronJob", "clean", "sweep"), at("", "Service", "web"), one, baskets, web,
	}
	return h
}

func (h *held) of(o *unstructured.Unstructured) dynamic.ResourceInterface {
	r, _ := h.kinds.Kind(o.GroupVersionKind().GroupKind())
	return h.client.Resource(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural}).Namespace(h.ns)
}

// write writes the objects, each by its manager and in its way. again is without those that
// update: only an apply tells who owns what.
func (h *held) write(t *testing.T, again bool) {
	t.Helper()
	for doc := range strings.SplitSeq(inNamespace(t, h.ns, "runner.yaml"), "---\n") {
		var manager, how string
		for line := range strings.Lines(doc) {
			if words := strings.Fields(line); words[0] == "#" && len(words) == 3 {
				manager, how = words[1], words[2]
			}
		}
		var o unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		cluster.Eventually(t, limit, func() (err error) { // the definition is new
			switch {
			case how == "Apply":
				_, err = h.of(&o).Apply(t.Context(), o.GetName(), &o, metav1.ApplyOptions{FieldManager: manager})
			case !again:
				_, err = h.of(&o).Create(t.Context(), &o, metav1.CreateOptions{FieldManager: manager})
			}
			if again && err != nil {
				t.Errorf("%s applies %s again: %v", manager, o.GetName(), err)
				return nil
			}
			return err
		})
	}
}

// image is what the objects are like, but for what each write changes and what controllers
// say of them.
func (h *held) image(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, r := range h.kinds.All() {
		list, err := h.client.Resource(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural}).Namespace(h.ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Items {
			for _, at := range [][]string{{"metadata", "resourceVersion"}, {"metadata", "generation"}, {"status"}} {
				unstructured.RemoveNestedField(o.Object, at...)
			}
			o.SetManagedFields(slices.DeleteFunc(o.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool { return m.Subresource == "status" }))
			b, err := yaml.Marshal(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			out[r.Kind+"/"+o.GetName()] = string(b)
		}
	}
	return out
}

// Load and Save keep the journal in memory.
func (h *held) Load(context.Context) (*regulate.Journal, error) {
	j := &regulate.Journal{System: "shop", Namespace: h.ns}
	if h.journal == nil {
		return j, nil
	}
	return j, json.Unmarshal(h.journal, j)
}

func (h *held) Save(_ context.Context, j *regulate.Journal) (err error) {
	h.journal, err = json.Marshal(j)
	return err
}

// run does what there is to do so that the app is held, or is not.
func (h *held) run(t *testing.T, client regulate.Client, hold bool) error {
	t.Helper()
	j, err := h.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := regulate.Step{App: "shop", Signal: system.Stop, Why: "a test"}
	open, is := j.HoldOf("shop", system.Stop)
	switch {
	case is && open.Phase == regulate.Recovering, is && hold && open.Phase == regulate.Stopping:
		s.Verb, s.Hold = regulate.Resume, open.ID
	case is && !hold:
		s.Verb, s.Hold = regulate.RecoverApp, open.ID
	case !is && hold:
		s.Verb = regulate.Send
		for i, a := range h.sys.Apps[0].On[system.Stop] {
			s.Actions = append(s.Actions, regulate.Resolved{Index: i, Name: a.Name(), Targets: h.targets[i]})
		}
	default:
		return nil
	}
	r := &regulate.Runner{Client: client, Store: h, Kinds: h.kinds, System: h.sys, Signals: signals.NewSet(nil, nil), Now: time.Now}
	out, err := r.Do(t.Context(), &regulate.Plan{Steps: []regulate.Step{s}}, j)
	for _, f := range out.Failed {
		t.Errorf("%+v", f)
	}
	return err
}

func (h *held) compare(t *testing.T, before map[string]string) {
	t.Helper()
	after := h.image(t)
	for _, k := range slices.Sorted(maps.Keys(before)) {
		if after[k] != before[k] {
			t.Errorf("%s is not as it was:\n%s\nwas\n%s", k, after[k], before[k])
		}
	}
}

// settled waits until controllers have said what they have to say of new objects.
func (h *held) settled(t *testing.T) map[string]string {
	t.Helper()
	var image map[string]string
	cluster.Eventually(t, limit, func() error {
		image = h.image(t)
		for _, name := range []string{"Deployment/web", "Deployment/api"} {
			if !strings.Contains(image[name], "deployment.kubernetes.io/revision") {
				return errors.New(name + " was not looked at by its controller")
			}
		}
		return nil
	})
	return image
}

// On a real API server: what an app does on Stop is taken back so that nothing remains but
// another resourceVersion and generation, managedFields included; and who applied the
// objects applies them again without a conflict.
func TestRunnerRestores(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	applied(t, c, "", "runner.definitions.yaml")
	h := newHeld(t, c)
	before := h.settled(t)
	client, err := regulate.NewClient(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.run(t, client, true); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string][]string{
		"Deployment/web":  {"paused: true", "replicas: 0", "side:2", `cpu: "1"`, "example.com/hold"},
		"Deployment/api":  {"paused: true", "replicas: 0", "example.com/hold"},
		"ConfigMap/plain": {"example.com/hold", `tier: "true"`},
		"CronJob/clean":   {"suspend: true"},
		"CronJob/sweep":   {"suspend: true"},
		"Service/web":     {regulate.CordonKey, `tier: "true"`},
		"Basket/one":      {"count: 0", "live: false", "slow: true", "level: low", "for: all"},
		"Basket/two":      {"count: 0", "slow: true"},
	} {
		image := h.image(t)[k]
		for _, w := range want {
			if !strings.Contains(image, w) {
				t.Errorf("%s has no %q:\n%s", k, w, image)
			}
		}
	}
	if err := h.run(t, client, false); err != nil {
		t.Fatal(err)
	}
	h.compare(t, before)
	h.write(t, true)
}
