package install

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// memoryReader is a cluster of objects that lie in memory.
type memoryReader struct {
	objects []*unstructured.Unstructured
	// forbidden are plural names that may not be read, broken those that fail.
	forbidden, broken map[string]bool

	mu    sync.Mutex
	asked []string
}

func (m *memoryReader) Version(context.Context) (string, error) { return "v1.33.2", nil }

func (m *memoryReader) answer(what string, r object.Resource, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, strings.TrimSpace(what+" "+r.String()+" "+name))
	switch gr := (schema.GroupResource{Group: r.Group, Resource: r.Plural}); {
	case m.forbidden[r.Plural]:
		return apierrors.NewForbidden(gr, name, errors.New("no"))
	case m.broken[r.Plural]:
		return apierrors.NewServiceUnavailable("later")
	}
	return nil
}

func (m *memoryReader) Get(_ context.Context, r object.Resource, namespace, name string) (*unstructured.Unstructured, error) {
	if err := m.answer("get", r, name); err != nil {
		return nil, err
	}
	for _, u := range m.objects {
		if object.RefOf(u) == (object.Ref{Group: r.Group, Kind: r.Kind, Namespace: namespace, Name: name}) {
			return u.DeepCopy(), nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: r.Group, Resource: r.Plural}, name)
}

func (m *memoryReader) List(_ context.Context, r object.Resource, namespace, selector string) ([]*unstructured.Unstructured, error) {
	if err := m.answer("list", r, selector); err != nil {
		return nil, err
	}
	s, err := labels.Parse(selector)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, u := range m.objects {
		if ref := object.RefOf(u); ref.Group == r.Group && ref.Kind == r.Kind && (namespace == "" || ref.Namespace == namespace) && s.Matches(labels.Set(u.GetLabels())) {
			out = append(out, u.DeepCopy())
		}
	}
	return out, nil
}

func (m *memoryReader) ListMetadata(ctx context.Context, r object.Resource, namespace, selector string) ([]*unstructured.Unstructured, error) {
	list, err := m.List(ctx, r, namespace, selector)
	for _, u := range list {
		maps.DeleteFunc(u.Object, func(k string, _ any) bool { return k != "apiVersion" && k != "kind" && k != "metadata" })
	}
	return list, err
}

// recordSecret is a record as Helm keeps it.
func recordSecret(t *testing.T, namespace, name string, revision int, status string, marks map[string]string, record *helm.StoredRecord) *unstructured.Unstructured {
	t.Helper()
	text := func(us []*unstructured.Unstructured) string {
		var all []string
		for _, u := range us {
			b, err := yaml.Marshal(u.Object)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, "# Source: x\n"+string(b))
		}
		return strings.Join(all, "---\n")
	}
	test := planObject(t, "{apiVersion: v1, kind: Pod, metadata: {name: test, annotations: {helm.sh/hook: test}}}")
	hooks := []any{map[string]any{"manifest": text([]*unstructured.Unstructured{test}), "events": []string{"test"}}}
	for _, h := range record.Hooks {
		hooks = append(hooks, map[string]any{"manifest": text([]*unstructured.Unstructured{h}), "events": []string{"pre-install", "test"}})
	}
	data, err := json.Marshal(map[string]any{
		"name": name, "version": revision, "config": record.Values, "manifest": text(record.Objects), "hooks": hooks,
		"chart": map[string]any{"metadata": map[string]any{"name": record.Chart, "version": record.Version}},
	})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"owner": "helm", "name": name, "status": status, "version": fmt.Sprint(revision)}
	maps.Copy(all, marks)
	u := planObject(t, fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: %s, namespace: %s}}", helm.RecordName(name, revision), namespace))
	u.SetLabels(all)
	u.Object["data"] = map[string]any{"release": base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(zipped(t, data))))}
	return u
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readerOf is a cluster that is as a State says.
func readerOf(t *testing.T, s State) *memoryReader {
	t.Helper()
	m := &memoryReader{}
	for n, phase := range s.Namespaces {
		m.objects = append(m.objects, planObject(t, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}, status: {phase: %s}}", n, phase)))
	}
	for _, d := range s.Definitions {
		m.objects = append(m.objects, d)
	}
	for _, u := range s.Objects {
		m.objects = append(m.objects, u)
	}
	for i := range s.Releases {
		r := &s.Releases[i]
		for n, record := range r.Records {
			status := "superseded"
			if n == r.Revision {
				status = r.Status
			}
			m.objects = append(m.objects, recordSecret(t, r.Namespace, r.Name, n, status, r.Labels, record))
		}
	}
	return m
}

// What is gathered from a cluster is enough to plan over: the same plans as over the State itself.
func TestGather(t *testing.T) {
	ctx := context.Background()
	first := NewPlan(Install, shopSystem, shopParts(t), emptyState(), planOptions)
	installed := doPlan(t, emptyState(), first)
	o := planOptions
	o.Before = statesOf(installed, first)
	for _, c := range []struct {
		name   string
		action Action
		state  State
		parts  []*Part
		o      PlanOptions
	}{
		{"first", Install, emptyState(), shopParts(t), planOptions},
		{"again", Install, installed, shopParts(t), o},
		{"without an app and its operator", Upgrade, installed, shopParts(t)[3:], o},
		{"uninstall", Uninstall, installed, shopParts(t), o},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ReadState(ctx, readerOf(t, c.state), StateRequest{Installation: shopSystem, Action: c.action, Parts: c.parts, Kinds: c.state.Kinds, Before: c.o.Before})
			if err != nil {
				t.Fatal(err)
			}
			want, got := NewPlan(c.action, shopSystem, c.parts, c.state, c.o), NewPlan(c.action, shopSystem, c.parts, s, c.o)
			if !slices.Equal(stepIDs(got), stepIDs(want)) || !slices.Equal(got.Unchanged, want.Unchanged) || refusalTexts(got) != refusalTexts(want) {
				t.Errorf("got  %v, unchanged %v\n%s\nwant %v, unchanged %v\n%s", stepIDs(got), got.Unchanged, refusalTexts(got), stepIDs(want), want.Unchanged, refusalTexts(want))
			}
		})
	}
	t.Run("rollback", func(t *testing.T) {
		parts := shopParts(t)
		parts[0].Values = map[string]any{"size": int64(2)}
		s := doPlan(t, installed, NewPlan(Upgrade, shopSystem, parts, installed, o))
		back := o
		back.To = o.Before
		read, err := ReadState(ctx, readerOf(t, s), StateRequest{Installation: shopSystem, Action: Rollback, Kinds: s.Kinds, Before: o.Before, To: back.To})
		if err != nil {
			t.Fatal(err)
		}
		wantSteps(t, NewPlan(Rollback, shopSystem, nil, read, back), "release/shop/web", "await/web")
	})
}

func TestGatherAsksLittle(t *testing.T) {
	m := readerOf(t, emptyState())
	if _, err := ReadState(context.Background(), m, StateRequest{Installation: shopSystem, Action: Install, Parts: shopParts(t), Kinds: planKinds()}); err != nil {
		t.Fatal(err)
	}
	// In namespaces that are not there is nothing, and of kinds that are not served neither.
	want := []string{
		"get namespaces cert-system", "get namespaces pg-system", "get namespaces shop",
		"list customresourcedefinitions.apiextensions.k8s.io sysop.dev/package in (cert,pg)",
		"get customresourcedefinitions.apiextensions.k8s.io certificates.cert.example.com",
		"get customresourcedefinitions.apiextensions.k8s.io clusters.pg.example.com",
	}
	if !slices.Equal(m.asked, want) {
		t.Errorf("asked:\n%s\nwant:\n%s", strings.Join(m.asked, "\n"), strings.Join(want, "\n"))
	}
}

func TestGatherTellsWhatMayNotBeRead(t *testing.T) {
	installed := doPlan(t, emptyState(), NewPlan(Install, shopSystem, shopParts(t), emptyState(), planOptions))
	ask := StateRequest{Installation: shopSystem, Action: Install, Parts: shopParts(t), Kinds: installed.Kinds}
	for _, plural := range []string{"namespaces", "secrets", "customresourcedefinitions", "deployments", "clusters"} {
		m := readerOf(t, installed)
		m.forbidden = map[string]bool{plural: true}
		s, err := ReadState(context.Background(), m, ask)
		if err != nil {
			t.Errorf("%s: %v", plural, err)
			continue
		}
		if !slices.ContainsFunc(s.Gaps, func(g object.Gap) bool { return strings.HasPrefix(g.Resource, plural) && g.Reason == "Forbidden" }) {
			t.Errorf("%s: gaps %v", plural, s.Gaps)
		}
		wantRefusal(t, NewPlan(Install, shopSystem, shopParts(t), s, planOptions), "rights", "you may not read "+plural)

		m = readerOf(t, installed)
		m.broken = map[string]bool{plural: true}
		if _, err := ReadState(context.Background(), m, ask); err == nil || !strings.Contains(err.Error(), "read "+plural) {
			t.Errorf("%s fails: %v", plural, err)
		}
	}
}

func TestDecodeRecordRefuses(t *testing.T) {
	secret := func(data []byte) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"release": base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(data)))}}}
	}
	for name, c := range map[string]struct {
		u   *unstructured.Unstructured
		say string
	}{
		"nothing":    {&unstructured.Unstructured{Object: map[string]any{}}, "holds no Helm release"},
		"no base64":  {&unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"release": "%%%"}}}, "holds no Helm release"},
		"not packed": {secret([]byte("{}")), "holds no Helm release"},
		"no JSON":    {secret(zipped(t, []byte("what"))), "cannot be read"},
		"no YAML":    {secret(zipped(t, []byte(`{"manifest": "a: b: c"}`))), "the manifest in it"},
		"a bomb":     {secret(zipped(t, bytes.Repeat([]byte(" "), helm.MaxRecordBytes+1))), "more than 64 MiB"},
	} {
		if _, err := helm.DecodeRecord(c.u); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v, want %q", name, err, c.say)
		}
	}
}
