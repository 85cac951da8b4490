package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// shop is the example system (examples/system) in a namespace of its own, with an operator
// for its Prometheus, and controllers for the rest.
type shop struct {
	t        *testing.T
	c        *cluster.Cluster
	ns       string
	manifest string
	client   dynamic.Interface
}

// shopTargets are what regulation of the shop writes to.
var shopTargets = []struct{ group, version, kind, resource, name string }{
	{"apps", "v1", "Deployment", "deployments", "web"},
	{"apps", "v1", "Deployment", "deployments", "worker"},
	{"batch", "v1", "CronJob", "cronjobs", "report"},
	{"example.dev", "v1", "Broker", "brokers", "broker"},
	{"monitoring.coreos.com", "v1", "Prometheus", "prometheuses", "shop"},
}

// newShop applies the example, with the windows of its rules shortened, and waits until all
// of it is Healthy.
func newShop(t *testing.T, c *cluster.Cluster) *shop {
	t.Helper()
	s := &shop{t: t, c: c, ns: c.Namespace(t), client: dynamic.NewForConfigOrDie(c.Config())}
	namespace := strings.NewReplacer("namespace: shop", "namespace: "+s.ns)
	text, err := os.ReadFile("../../examples/system/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var objects []string
	for doc := range strings.SplitSeq(namespace.Replace(string(text)), "\n---\n") {
		switch {
		case strings.Contains(doc, "kind: CustomResourceDefinition"):
			defineForAll(t, c, doc)
		case !strings.Contains(doc, "\nkind: Namespace\n"):
			objects = append(objects, doc)
		}
	}
	applyText(t, c, strings.Join(objects, "\n---\n"))
	s.manifest = s.manifested("system.yaml", "for: 10s", "for: 1s", "holdOff: 1m", "holdOff: 0s", "maxSignalsPerHour: 6", "maxSignalsPerHour: 0")
	cluster.Eventually(t, limit, func() error {
		d := healthOf(t, c.Kubeconfig, "statefulset/db", "broker/broker", "deployment/web", "deployment/worker", "cronjob/report", "prometheus/shop", "-n", s.ns)
		for _, stack := range d.Stacks {
			if stack.Health != "Healthy" {
				return fmt.Errorf("%s is %s: %+v", stack.Name, stack.Health, stack.Causes)
			}
		}
		return nil
	})
	return s
}

// manifested writes the manifest of the example with words replaced (old, new, ...), and
// returns the file.
func (s *shop) manifested(name string, oldnew ...string) string {
	s.t.Helper()
	text, err := os.ReadFile("../../examples/system/system.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	out := strings.ReplaceAll(string(text), "namespace: shop}", "namespace: "+s.ns+"}")
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(out, oldnew[i]) {
			s.t.Fatalf("system.yaml has no %q", oldnew[i])
		}
		out = strings.ReplaceAll(out, oldnew[i], oldnew[i+1])
	}
	file := filepath.Join(s.t.TempDir(), name)
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

func (s *shop) get(group, version, resource, name string) *unstructured.Unstructured {
	s.t.Helper()
	o, err := s.client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).Namespace(s.ns).Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

// patch is a change by somebody else.
func (s *shop) patch(group, version, resource, name, body string) {
	s.t.Helper()
	_, err := s.client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).Namespace(s.ns).
		Patch(s.t.Context(), name, types.MergePatchType, []byte(body), metav1.PatchOptions{FieldManager: "somebody"})
	if err != nil {
		s.t.Fatal(err)
	}
}

// broken makes the pods of db fail, or ends that.
func (s *shop) broken(how string) {
	s.t.Helper()
	value := "null"
	if how != "" {
		value = `"` + how + `"`
	}
	s.patch("apps", "v1", "statefulsets", "db", `{"spec":{"template":{"metadata":{"annotations":{"sysop.dev/fail":`+value+`}}}}}`)
}

// images are the targets as text, without what may differ.
func (s *shop) images() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	for _, o := range shopTargets {
		text, err := lasting(s.get(o.group, o.version, o.resource, o.name))
		if err != nil {
			s.t.Fatal(err)
		}
		out[o.kind+"/"+o.name] = text
	}
	return out
}

// asBefore is an error unless every target is as it was, byte for byte.
func (s *shop) asBefore(before map[string]string) error {
	s.t.Helper()
	var err error
	now := s.images()
	for name, was := range before {
		if now[name] != was {
			err = errors.Join(err, fmt.Errorf("%s was not restored: %s", name, firstDifference(was, now[name])))
		}
	}
	return err
}

// heldFields is an error unless the fields by which each is held are as they are then (or,
// unless held, are not).
func (s *shop) heldFields() error {
	s.t.Helper()
	var err error
	for _, f := range []struct {
		target int
		path   []string
		want   any
	}{
		{0, []string{"spec", "paused"}, true},
		{1, []string{"spec", "replicas"}, int64(0)},
		{2, []string{"spec", "suspend"}, true},
		{3, []string{"metadata", "annotations", "example.dev/hold"}, "true"},
		{4, []string{"spec", "paused"}, true},
	} {
		t := shopTargets[f.target]
		o := s.get(t.group, t.version, t.resource, t.name)
		if got, _, _ := unstructured.NestedFieldNoCopy(o.Object, f.path...); got != f.want {
			err = errors.Join(err, fmt.Errorf("%s/%s: %s is %v, want %v", t.kind, t.name, strings.Join(f.path, "."), got, f.want))
		}
	}
	return err
}

// regulate runs a command of regulation on the shop's manifest.
func (s *shop) regulate(command string, args ...string) result {
	s.t.Helper()
	return s.regulateAs(s.c.Kubeconfig, command, args...)
}

func (s *shop) regulateAs(kubeconfig, command string, args ...string) result {
	s.t.Helper()
	all := append([]string{"regulate", command}, args...)
	at := len(all) // before what is run
	if i := slices.Index(all, "--"); i >= 0 {
		at = i
	}
	return sysop(s.t, kubeconfig, slices.Insert(all, at, "-f", s.manifest)...)
}

// regulation is the JSON of the commands of regulation, as far as tests look at it.
type regulation struct {
	Steps   []struct{ Verb, App, Signal, Reason string }
	Refused []struct{ App, Signal, Rule, Reason, Message string }
	Apps    []struct {
		App, State, Health string
		Needs              []string
	}
	Holds        []regulationHold
	Done, Failed []regulationRecord
	Records      []regulationRecord
	ExitCode     int
}

type regulationHold struct {
	App, Signal, Phase string
	Causes             []struct{ Rule, App, RequestedBy, Run, Reason string }
	Operations         []struct{ Action, Text, Target, State, Result string }
}

type regulationRecord struct {
	App, Signal, Target, Action, Reason, Result string
	Error                                       bool
}

func regulationOf(t *testing.T, r result) regulation {
	t.Helper()
	var d regulation
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("%v: %v in:\n%s\nstderr:\n%s", r.args, err, r.stdout, r.stderr)
	}
	return d
}

// status is what is held, by app and signal: web Stop.
func (s *shop) status() map[string]regulationHold {
	s.t.Helper()
	holds := map[string]regulationHold{}
	for _, h := range regulationOf(s.t, s.regulate("status", "-o", "json").succeeds(s.t)).Holds {
		holds[h.App+" "+h.Signal] = h
	}
	return holds
}

// heldAll is an error unless everybody is held whom the rules ask for.
func (s *shop) heldAll() error {
	s.t.Helper()
	holds := s.status()
	for _, name := range []string{"web Stop", "worker Stop", "monitoring Stop", "broker drain"} {
		if holds[name].Phase != "Held" {
			return fmt.Errorf("%s: %+v, want Held", name, holds[name])
		}
	}
	if len(holds) != 4 {
		return fmt.Errorf("%d holds, want 4: %+v", len(holds), holds)
	}
	return s.heldFields()
}

// freeAll is an error unless nobody is held, and all is as before.
func (s *shop) freeAll(before map[string]string) error {
	s.t.Helper()
	if holds := s.status(); len(holds) > 0 {
		return fmt.Errorf("held: %+v", holds)
	}
	return s.asBefore(before)
}

// told is an error unless each target has an Event of regulation.
func (s *shop) told(since time.Time) error {
	events, err := admin(s.c).EventsV1().Events(s.ns).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	about := map[string][]string{}
	for _, e := range events.Items {
		if e.ReportingController == "sysop.dev/regulate" && !e.EventTime.Time.Before(since) {
			name := e.Regarding.Kind + "/" + e.Regarding.Name
			about[name] = append(about[name], e.Reason+": "+e.Note)
		}
	}
	for _, t := range shopTargets {
		if len(about[t.kind+"/"+t.name]) == 0 {
			return fmt.Errorf("no Event about %s/%s: %v", t.kind, t.name, about)
		}
	}
	return nil
}
