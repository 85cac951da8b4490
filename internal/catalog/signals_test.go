package catalog_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

// everySignal are those of the catalogue and the built-in ones.
func everySignal() []signals.Signal {
	return slices.Concat(catalog.Signals(nil), signals.BuiltIn())
}

// templated are patches of the list that are written in another form: pod names are filled
// in, and a list is patched item by item.
var templated = map[string]string{
	`{"metadata":{"annotations":{"eck.k8s.elastic.co/suspend":"<pod>[,<pod>]"}}}`: `{"metadata":{"annotations":{"eck.k8s.elastic.co/suspend":"{{pods}}"}}}`,
	`{"spec":{"componentSpecs":[{"name":"<each component>","stop":true}]}}`:       `{"stop":true}`,
	`{"spec":{"componentSpecs":[{"name":"<each component>","stop":false}]}}`:      `{"stop":false}`,
	`{"spec":{"runStrategy":"<previous|Always>"}}`:                                `{"spec":{"runStrategy":"{{before}}"}}`,
	`{"spec":{"numberOfInstances":"<previous>"}}`:                                 `{"spec":{"numberOfInstances":"{{before}}"}}`,
	`{"spec":{"replicas":"<previous>"}}`:                                          `{"spec":{"replicas":"{{before}}"}}`,
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(out))
	if other, ok := templated[plain]; ok {
		return other
	}
	return plain
}

func asText(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestKnownSignals: each signal of testdata/signals/known.tsv is there, with its mode, what
// it writes, the way back and its source.
func TestKnownSignals(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(dir, "testdata", "signals", "known.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		rows++
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if len(cells) != 6 {
			t.Fatalf("%d columns: %s", len(cells), line)
		}
		kind, preset, mode, patch, resume, source := cells[0], cells[1], cells[2], canonical(t, cells[3]), canonical(t, cells[4]), cells[5]
		at, _, _ := strings.Cut(source, ":")
		found := slices.ContainsFunc(everySignal(), func(s signals.Signal) bool {
			return s.Kind == kind && s.Preset == preset && string(s.Mode) == mode && asText(t, s.Patch) == patch && asText(t, s.Resume) == resume && strings.Contains(s.Source, at)
		})
		if !found {
			t.Errorf("no signal of %s to %s as it is known: %s, %s, back by %s, after %s", kind, preset, mode, patch, resume, at)
		}
	}
	if rows != 85 {
		t.Errorf("%d rows are known, want 85", rows)
	}
}

// TestSignalsAreWhole: each signal says what it does, and is after a source; of each preset
// a kind has one.
func TestSignalsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	modes := map[string][]signals.Mode{
		signals.PresetPause: {signals.PauseReconcile, signals.PauseRollout, signals.PauseScaling, signals.HoldAdmission, signals.SuspendRun},
		signals.PresetStop:  {signals.StopWorkload, signals.SuspendRun, signals.HoldAdmission},
	}
	pods := map[string]bool{}
	for _, s := range everySignal() {
		what := s.Kind + " " + s.Preset
		if s.Effect == "" || s.Origin == "" || !strings.Contains(s.Source, "@") || !strings.Contains(s.Source, ":") {
			t.Errorf("%s is not whole: %+v", what, s)
		}
		if !slices.Contains(modes[s.Preset], s.Mode) {
			t.Errorf("%s: mode %s", what, s.Mode)
		}
		if seen[what] && !s.Other {
			t.Errorf("%s: a second one", what)
		}
		seen[what] = seen[what] || !s.Other
		pods[what] = pods[what] || s.NamesPods()
		// Whatever lets pods go is called a stop, and never a pause.
		if s.Preset == signals.PresetPause && strings.Contains(s.Effect, "deleted") && !strings.Contains(s.Effect, "HPA is deleted") {
			t.Errorf("%s: %s", what, s.Effect)
		}
	}
	if !pods["Elasticsearch.elasticsearch.k8s.elastic.co stop"] {
		t.Error("no signal names pods")
	}
	for _, what := range []string{"Cluster.postgresql.cnpg.io stop", "PerconaXtraDBCluster.pxc.percona.com stop", "StatefulSet.apps stop", "* stop", "CassandraDatacenter.cassandra.datastax.com stop"} {
		i := slices.IndexFunc(everySignal(), func(s signals.Signal) bool { return s.Kind+" "+s.Preset == what })
		if i < 0 || !everySignal()[i].Stateful {
			t.Errorf("%s is not called stateful", what)
		}
	}
}

// instances are small objects that a signal means: as many as it has ways to write.
func instances(s signals.Signal) []*unstructured.Unstructured {
	gk := declare.GroupKind(s.Kind)
	switch {
	case s.Kind == "*" || s.Scale:
		gk = schema.GroupKind{Group: "autoscaling", Kind: "Scale"}
	case strings.HasPrefix(s.Kind, "*."):
		gk = schema.GroupKind{Group: strings.TrimLeft(s.Kind, "*."), Kind: "Thing"}
	}
	base := func() *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"other": "stays"}}}
		u.SetAPIVersion(gk.Group + "/v1")
		u.SetKind(gk.Kind)
		u.SetName("it")
		u.SetAnnotations(map[string]string{"other": "stays"})
		if s.Requires != "" {
			set(u.Object, strings.Split(s.Requires, "."), map[string]any{"other": "stays"})
			if s.Requires == "spec.managementState" {
				set(u.Object, strings.Split(s.Requires, "."), "Managed")
			}
		}
		if s.Each != "" {
			set(u.Object, strings.Split(s.Each, "."), []any{map[string]any{"name": "a"}, map[string]any{"name": "b", "stop": false}})
		}
		return u
	}
	first := base()
	before(first.Object, s.Resume, s.Patch)
	all := []*unstructured.Unstructured{first}
	if s.Or != nil {
		other := base()
		set(other.Object, strings.Split(s.Or.When, "."), true)
		all = append(all, other)
	}
	return all
}

func set(fields map[string]any, path []string, v any) {
	if err := unstructured.SetNestedField(fields, v, path...); err != nil {
		panic(err)
	}
}

// before sets what the way back puts back.
func before(fields, resume, patch map[string]any) {
	for key, v := range resume {
		switch v := v.(type) {
		case map[string]any:
			below, _ := fields[key].(map[string]any)
			if below == nil {
				below = map[string]any{}
			}
			before(below, v, patch[key].(map[string]any))
			if len(below) > 0 {
				fields[key] = below
			}
		case string:
			if v != signals.Before {
				continue
			}
			switch patch[key].(type) {
			case int64:
				fields[key] = int64(3)
			case bool:
				fields[key] = false
			default:
				fields[key] = "Always"
			}
		}
	}
}

// merge applies a merge patch; what was before is put where it says so.
func merge(fields, patch, was map[string]any) {
	for key, v := range patch {
		switch v := v.(type) {
		case nil:
			delete(fields, key)
		case map[string]any:
			below, _ := fields[key].(map[string]any)
			if below == nil {
				below = map[string]any{}
				fields[key] = below
			}
			old, _ := was[key].(map[string]any)
			merge(below, v, old)
		default:
			if v == signals.Before {
				v = was[key]
			}
			fields[key] = v
		}
	}
}

// resumed is an object after the way back, and all that is left of the patch is what the
// way back writes.
func resumed(s signals.Signal, after map[string]any, was *unstructured.Unstructured) *unstructured.Unstructured {
	out := runtime.DeepCopyJSON(after)
	resume := s.Resume
	if s.Or != nil {
		if _, ok, _ := unstructured.NestedFieldNoCopy(was.Object, strings.Split(s.Or.When, ".")...); ok {
			resume = s.Or.Resume
		}
	}
	if s.Each == "" {
		merge(out, resume, was.Object)
		return &unstructured.Unstructured{Object: out}
	}
	items, _, _ := unstructured.NestedSlice(out, strings.Split(s.Each, ".")...)
	for i := range items {
		merge(items[i].(map[string]any), resume, nil)
	}
	set(out, strings.Split(s.Each, "."), items)
	return &unstructured.Unstructured{Object: out}
}

// TestEverySignal gives each signal to a small object of its kind: what it writes is there
// and nothing else has changed, it holds then and did not before, to give it again changes
// nothing, and after the way back it does not hold.
func TestEverySignal(t *testing.T) {
	pods := []string{"it-1", "it-0"}
	tried := 0
	for _, s := range everySignal() {
		for _, live := range instances(s) {
			tried++
			t.Run(fmt.Sprintf("%s %s %s", s.Kind, s.Preset, s.Mode), func(t *testing.T) {
				whole := live.DeepCopy()
				if s.Holds(live, pods...) {
					t.Fatalf("it holds %v", live.Object)
				}
				after, err := s.Changes(live, pods...)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(live, whole) {
					t.Error("the object was changed")
				}
				held := &unstructured.Unstructured{Object: after}
				if !s.Holds(held, pods...) || reflect.DeepEqual(after, live.Object) {
					t.Errorf("it does not hold %v", after)
				}
				if n := strings.Count(asText(t, after), "stays"); n < strings.Count(asText(t, live.Object), "stays") {
					t.Errorf("other fields are gone: %v", after)
				}
				again, err := s.Changes(held, pods...)
				if err != nil || !reflect.DeepEqual(again, after) {
					t.Errorf("given again: %v, %v", again, err)
				}
				if free := resumed(s, after, live); s.Holds(free, pods...) {
					t.Errorf("it holds after the way back: %v", free.Object)
				}
			})
		}
	}
	if tried < 130 {
		t.Errorf("%d objects were tried", tried)
	}
}

// TestSignalValues: the values are of the types that the operators want, and what holds by
// being there is told from what wants a value.
func TestSignalValues(t *testing.T) {
	of := signals.NewSet(catalog.Signals(nil), nil)
	for _, c := range []struct {
		kind, preset string
		live         map[string]any
		path         string // what is written there
		want         any
		holds        bool // of live
	}{
		{"ClickHouseInstallation.clickhouse.altinity.com", "stop", map[string]any{}, "spec.stop", "yes", false},
		{"ClickHouseInstallation.clickhouse.altinity.com", "stop", map[string]any{"spec": map[string]any{"stop": "1"}}, "spec.stop", "1", true},
		{"ClickHouseInstallation.clickhouse.altinity.com", "pause", map[string]any{"spec": map[string]any{"suspend": "no"}}, "spec.suspend", "yes", false},
		{"Machine.cluster.x-k8s.io", "pause", annotated("cluster.x-k8s.io/paused", "false"), "", nil, true},
		{"Machine.cluster.x-k8s.io", "pause", annotated("cluster.x-k8s.io/paused", ""), "", nil, true},
		{"AWSCluster.infrastructure.cluster.x-k8s.io", "pause", map[string]any{}, "", nil, false},
		{"Kafka.kafka.strimzi.io", "pause", annotated("strimzi.io/pause-reconciliation", "false"), "", nil, false},
		{"Kafka.kafka.strimzi.io", "pause", annotated("strimzi.io/pause-reconciliation", "True"), "", nil, false},
		{"Kafka.kafka.strimzi.io", "pause", annotated("strimzi.io/pause-reconciliation", "true"), "", nil, true},
		{"CephCluster.ceph.rook.io", "pause", map[string]any{"metadata": map[string]any{"labels": map[string]any{"ceph.rook.io/do-not-reconcile": ""}}}, "", nil, true},
		{"ClusterProfile.config.projectsveltos.io", "pause", annotated("profile.projectsveltos.io/paused", "no"), "", nil, true},
		{"WebApp.kro.run", "pause", annotated("kro.run/reconcile", "disabled"), "", nil, true},
		{"ScaledObject.keda.sh", "pause", annotated("autoscaling.keda.sh/paused", "1"), "", nil, true},
		{"ScaledObject.keda.sh", "pause", annotated("autoscaling.keda.sh/paused", "false"), "", nil, false},
		{"ClusterQueue.kueue.x-k8s.io", "pause", map[string]any{"spec": map[string]any{"stopPolicy": "HoldAndDrain"}}, "spec.stopPolicy", "HoldAndDrain", true},
		{"VirtualMachine.kubevirt.io", "stop", map[string]any{"spec": map[string]any{"running": true}}, "spec.running", false, false},
		{"VirtualMachine.kubevirt.io", "stop", map[string]any{"spec": map[string]any{"running": true}}, "spec.runStrategy", nil, false},
		{"VirtualMachine.kubevirt.io", "stop", map[string]any{"spec": map[string]any{"running": false}}, "spec.running", false, true},
		{"VirtualMachine.kubevirt.io", "stop", map[string]any{"spec": map[string]any{"runStrategy": "Always"}}, "spec.runStrategy", "Halted", false},
		{"postgresql.acid.zalan.do", "stop", map[string]any{"spec": map[string]any{"numberOfInstances": int64(2)}}, "spec.numberOfInstances", int64(0), false},
		{"postgresql.acid.zalan.do", "stop", map[string]any{"spec": map[string]any{"numberOfInstances": float64(0)}}, "spec.numberOfInstances", float64(0), true},
	} {
		gk := declare.GroupKind(c.kind)
		s, ok := of.Of(gk.WithVersion(""), c.preset)
		if !ok {
			t.Errorf("%s: no %s", c.kind, c.preset)
			continue
		}
		live := &unstructured.Unstructured{Object: c.live}
		if got := s.Holds(live); got != c.holds {
			t.Errorf("%s %s: it holds %v: %v, want %v", c.kind, c.preset, c.live, got, c.holds)
		}
		after, err := s.Changes(live)
		if err != nil {
			t.Errorf("%s %s: %v", c.kind, c.preset, err)
		}
		if got, _, _ := unstructured.NestedFieldNoCopy(after, strings.Split(c.path, ".")...); c.path != "" && got != c.want {
			t.Errorf("%s %s: %s is %#v, want %#v", c.kind, c.preset, c.path, got, c.want)
		}
	}
}

func annotated(key, value string) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}}
}

// TestSignalsServed: of a cluster there are the signals of what it serves; kinds that no
// entry can name are found by their group, and by their categories.
func TestSignalsServed(t *testing.T) {
	kinds := object.NewKinds([]object.Resource{
		{Group: "kafka.strimzi.io", Version: "v1", Kind: "KafkaBridge", Plural: "kafkabridges", Custom: true},
		{Group: "s3.aws.upbound.io", Version: "v1beta1", Kind: "Bucket", Plural: "buckets", Custom: true, Categories: []string{"crossplane", "managed", "aws"}},
		{Group: "shop.example.com", Version: "v1", Kind: "Shop", Plural: "shops", Custom: true, Categories: []string{"composite"}},
		{Group: "shop.example.com", Version: "v1", Kind: "Till", Plural: "tills", Custom: true, Categories: []string{"all"}},
		{Group: "aws.upbound.io", Version: "v1beta1", Kind: "ProviderConfig", Plural: "providerconfigs", Custom: true, Categories: []string{"managed"}},
		{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: "AWSCluster", Plural: "awsclusters", Custom: true},
		{Group: "operator.openshift.io", Version: "v1", Kind: "Console", Plural: "consoles", Custom: true},
	})
	var got []string
	for _, s := range catalog.Signals(kinds) {
		got = append(got, s.Kind+" "+s.Preset+" of "+s.Origin)
	}
	slices.Sort(got)
	want := []string{
		"*.*.cluster.x-k8s.io pause of catalog cluster-api", "*.operator.openshift.io pause of catalog openshift", "Bucket.s3.aws.upbound.io pause of catalog crossplane",
		"KafkaBridge.kafka.strimzi.io pause of catalog strimzi", "Shop.shop.example.com pause of catalog crossplane",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	of := signals.NewSet(catalog.Signals(kinds), nil)
	for kind, is := range map[string]bool{"Bucket.s3.aws.upbound.io": true, "AWSCluster.infrastructure.cluster.x-k8s.io": true, "Console.operator.openshift.io": true, "Till.shop.example.com": false, "Deployment.apps": true} {
		if _, ok := of.Of(declare.GroupKind(kind).WithVersion("v1"), signals.PresetPause); ok != is {
			t.Errorf("%s has a pause: %v", kind, ok)
		}
	}
	// The field is not there on all kinds of that group.
	s, _ := of.Of(schema.GroupVersionKind{Group: "operator.openshift.io", Version: "v1", Kind: "IngressController"}, signals.PresetPause)
	if _, err := s.Changes(&unstructured.Unstructured{Object: map[string]any{"kind": "IngressController", "metadata": map[string]any{"name": "default"}}}); err == nil || !strings.Contains(err.Error(), "IngressController/default has no spec.managementState") {
		t.Errorf("got %v", err)
	}
}

// TestSignalsParse: what is wrong with the signals of an entry is told, where it stands.
func TestSignalsParse(t *testing.T) {
	const text = `apiVersion: sysop.dev/v1alpha1
kind: Operator
name: widget
title: Widget operator
description: Makes widgets.
source: https://example.com/widget
kinds:
- kind: Widget.example.com
  versions: [v1]
  signals: KIND
signals: ENTRY
relations: []
`
	const fine = `[{kind: "*.example.com", pause: {mode: pause-reconcile, patch: {spec: {paused: true}}, resume: {spec: {paused: false}}, effect: rests, source: "a@b:c"}}]`
	for given, want := range map[string]string{
		fine:                        "",
		`[]`:                        "11:10 expected a list of patterns of kinds, with the signals of each",
		`[{kind: "*.example.com"}]`: "11:11 it is empty: expected pause or stop",
		strings.Replace(fine, `"*.example.com"`, "Widget.example.com", 1): `11:18 "Widget.example.com" is not a pattern: expected *.group, or *.*.group for the groups below it; signals of one kind stand where the kind does`,
		strings.Replace(fine, `"*.example.com"`, `"*.*.*.com"`, 1):        `11:18 "*.*.*.com" is not a pattern: expected *.group, or *.*.group for the groups below it; signals of one kind stand where the kind does`,
		strings.Replace(fine, `pause:`, `pauses:`, 1):                     `11:35 unknown key "pauses" (did you mean pause?)`,
	} {
		kind := `{stop: {mode: stop-workload, scale: true, effect: stops, source: "a@b:c"}}`
		_, problems := catalog.Parse("widget", []byte(strings.NewReplacer("KIND", kind, "ENTRY", given).Replace(text)))
		var told []string
		for _, p := range problems {
			told = append(told, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Message))
		}
		if got := strings.Join(told, "; "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", given, got, want)
		}
	}
}
