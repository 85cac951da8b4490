package regulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// recorder is a client that remembers what was read and written.
type recorder struct {
	Client
	seen []string
}

func (r *recorder) Get(ctx context.Context, t Target) (*unstructured.Unstructured, error) {
	r.seen = append(r.seen, "get "+t.String())
	return r.Client.Get(ctx, t)
}

func (r *recorder) Patch(ctx context.Context, t Target, pt types.PatchType, body []byte, o WriteOptions) (*unstructured.Unstructured, error) {
	r.seen = append(r.seen, "write "+t.String())
	return r.Client.Patch(ctx, t, pt, body, o)
}

func (r *recorder) Create(ctx context.Context, t Target, o *unstructured.Unstructured, w WriteOptions) (*unstructured.Unstructured, error) {
	r.seen = append(r.seen, "write "+t.String())
	return r.Client.Create(ctx, t, o, w)
}

func (r *recorder) Delete(ctx context.Context, t Target, w WriteOptions) error {
	r.seen = append(r.seen, "write "+t.String())
	return r.Client.Delete(ctx, t, w)
}

func (r *recorder) wrote() bool {
	return slices.ContainsFunc(r.seen, func(s string) bool { return strings.HasPrefix(s, "write ") })
}

func scopeKinds() *object.Kinds {
	return object.NewKinds([]object.Resource{
		{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true},
		{Group: "batch", Version: "v1", Kind: "Job", Plural: "jobs", Namespaced: true},
		{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true},
		{Version: "v1", Kind: "Node", Plural: "nodes"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRoleBinding", Plural: "clusterrolebindings"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role", Plural: "roles", Namespaced: true},
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration", Plural: "mutatingwebhookconfigurations"},
		{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Plural: "customresourcedefinitions"},
		{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService", Plural: "apiservices"},
	})
}

// planted is a journal that says that something was done to an object, which is there with
// the UID that it says, as it says that it was left.
func planted(api *fakeAPI, action string, t Target, state State, phase Phase) *Journal {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": t.APIVersion, "kind": t.Kind, "metadata": map[string]any{"name": t.Name}, "spec": map[string]any{"x": "now"}}}
	o.SetNamespace(t.Namespace)
	o.SetUID("u")
	o.SetLabels(map[string]string{system.Label: "bank"})
	api.keep(t, o)
	t.UID = "u"
	op := &Operation{Action: action, State: state, Target: t, Manager: FieldManager}
	if action != "job" {
		op.Changes = []patch.Change{{Path: "/spec/x", ExistedBefore: true, Before: "planted", ExistsAfter: true, After: "now"}}
	}
	h := &Hold{ID: 1, App: "web", Signal: system.Stop, Phase: phase, Causes: []Cause{{RequestedBy: "me"}}, Operations: []*Operation{op}}
	return &Journal{System: "shop", Namespace: "shop", Next: 2, Holds: []*Hold{h}}
}

// scopeRun takes back what a journal says; the System has an app web with a Job in "jobs".
func scopeRun(t *testing.T, api *fakeAPI, j *Journal, verb Verb, w *SystemState) (*recorder, *Outcome) {
	t.Helper()
	sys := &system.System{Name: "shop", Namespace: "shop", Apps: []system.App{{Name: "web", On: map[string][]system.Action{
		system.Stop: {{Job: &system.Job{Template: map[string]any{"metadata": map[string]any{"namespace": "jobs"}, "spec": map[string]any{}}}}},
	}}}}
	store := &fakeStore{api: api}
	j.SetVersion("0")
	client := &recorder{Client: api}
	r := &Runner{Client: client, Store: store, Kinds: scopeKinds(), System: sys, World: w, Signals: signals.NewSet(nil, nil), Now: time.Now, Parallel: 1}
	out, err := r.Do(t.Context(), &Plan{Steps: []Step{{Verb: verb, App: "web", Signal: system.Stop, Hold: 1}}}, j)
	if err != nil && !errors.As(err, new(*journal.PermanentError)) {
		t.Error(err)
	}
	return client, out
}

func deployment(namespace string) Target {
	return Target{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Namespace: namespace, Name: "web"}
}

const rbacV1 = "rbac.authorization.k8s.io/v1"

// A journal that somebody planted is no reason to read or to write anything that the System
// does not resolve to.
func TestPlantedJournal(t *testing.T) {
	binding := Target{APIVersion: rbacV1, Kind: "ClusterRoleBinding", Resource: "clusterrolebindings", Name: "web"}
	for name, c := range map[string]struct {
		action string
		target Target
		signed bool // and it is refused of a signed one as well
	}{
		"a binding":                        {"patch", binding, true},
		"a role of the namespace":          {"patch", Target{APIVersion: rbacV1, Kind: "Role", Resource: "roles", Namespace: "shop", Name: "web"}, true},
		"a webhook":                        {"patch", Target{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration", Resource: "mutatingwebhookconfigurations", Name: "web"}, true},
		"a definition":                     {"patch", Target{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions", Name: "web"}, true},
		"an API service":                   {"patch", Target{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService", Resource: "apiservices", Name: "web"}, true},
		"another resource than the kind":   {"preset", Target{APIVersion: "apps/v1", Kind: "Deployment", Resource: "daemonsets", Namespace: "shop", Name: "web"}, true},
		"a binding that calls itself else": {"preset", Target{APIVersion: rbacV1, Kind: "Deployment", Resource: "clusterrolebindings", Name: "web"}, true},
		"a namespaced kind without one":    {"preset", Target{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Name: "web"}, true},
		"another namespace":                {"preset", deployment("kube-system"), false},
		"what is of the cluster":           {"patch", Target{APIVersion: "v1", Kind: "Node", Resource: "nodes", Name: "web"}, false},
		"a Secret of the namespace":        {"patch", Target{APIVersion: "v1", Kind: "Secret", Resource: "secrets", Namespace: "shop", Name: "web"}, false},
		"a Secret, by a preset":            {"preset", Target{APIVersion: "v1", Kind: "Secret", Resource: "secrets", Namespace: "shop", Name: "web"}, false},
		"a Secret, by scale":               {"scale", Target{APIVersion: "v1", Kind: "Secret", Resource: "secrets", Namespace: "shop", Name: "web"}, false},
		"a kind that is not served":        {"patch", Target{APIVersion: "example.com/v1", Kind: "Thing", Resource: "things", Namespace: "shop", Name: "web"}, false},
		"a Job elsewhere":                  {"job", Target{APIVersion: "batch/v1", Kind: "Job", Resource: "jobs", Namespace: "kube-system", Name: "web"}, false},
		"a Job that is a binding":          {"job", binding, true},
		"a Job that is a Deployment":       {"job", deployment("shop"), true},
	} {
		for _, trust := range []journal.Trust{journal.Unsigned, journal.Verified} {
			if trust == journal.Verified && !c.signed {
				continue
			}
			for _, state := range []State{Done, Undoing, Started} {
				for _, phase := range []Phase{Held, Recovering, Stopping} {
					api := newFake()
					j := planted(api, c.action, c.target, state, phase)
					j.SetTrust(trust)
					verb := Resume
					if phase == Held {
						verb = RecoverApp
					}
					client, out := scopeRun(t, api, j, verb, nil)
					if len(client.seen) > 0 {
						t.Errorf("%s (%s, %s, trust %d): %v", name, state, phase, trust, client.seen)
					}
					if state == Done && phase == Held && (len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Result, "restore it by hand") || len(j.Holds) != 1) {
						t.Errorf("%s: %+v, %d holds", name, out, len(j.Holds))
					}
				}
			}
		}
	}
}

// A Job is deleted that this System made, and no other one of its name.
func TestPlantedJobs(t *testing.T) {
	job := Target{APIVersion: "batch/v1", Kind: "Job", Resource: "jobs", Namespace: "jobs", Name: "web"}
	for name, c := range map[string]struct {
		system, uid string
		deleted     bool
	}{
		"its own":            {"shop", "u", true},
		"another System's":   {"bank", "u", false},
		"another one, later": {"shop", "v", false},
	} {
		api := newFake()
		j := planted(api, "job", job, Done, Held)
		j.SetTrust(journal.Unsigned)
		o := api.objects[job.String()]
		o.SetLabels(map[string]string{system.Label: c.system})
		o.SetUID(types.UID(c.uid))
		client, _ := scopeRun(t, api, j, RecoverApp, nil)
		if client.wrote() != c.deleted || len(j.Holds) != 0 {
			t.Errorf("%s: %v, %d holds", name, client.seen, len(j.Holds))
		}
	}
	// A Job that is to be run is the one of the action, whatever the journal calls it.
	api := newFake()
	j := planted(api, "job", job, Waiting, Stopping)
	j.Holds[0].Operations[0].Target.UID = ""
	client, out := scopeRun(t, api, j, Resume, nil)
	if client.wrote() || len(out.Failed) == 0 || !strings.Contains(fmt.Sprint(out.Failed), "the Job of this action is") {
		t.Errorf("%v: %+v", client.seen, out.Failed)
	}
}

// What the System resolves to is taken back, and what is in its namespaces and of a kind that
// is stopped; a signed journal is believed of the rest.
func TestTakenBackWithin(t *testing.T) {
	resolved := &SystemState{Apps: []AppState{{Name: "web", Actions: map[string][]Resolved{system.Stop: {{Targets: []object.Ref{deployment("data").Ref()}}}}}}}
	rooted := &SystemState{Apps: []AppState{{Name: "db", Roots: []object.Ref{{Group: "apps", Kind: "StatefulSet", Namespace: "data", Name: "db"}}}}}
	for name, c := range map[string]struct {
		target Target
		world  *SystemState
		trust  journal.Trust
		back   bool
	}{
		"its namespace":            {deployment("shop"), nil, journal.Unsigned, true},
		"a namespace of an app":    {deployment("data"), rooted, journal.Unsigned, true},
		"resolved":                 {deployment("data"), resolved, journal.Unsigned, true},
		"not resolved, not signed": {deployment("data"), nil, journal.Unsigned, false},
		"not resolved, signed":     {deployment("data"), nil, journal.Verified, true},
	} {
		api := newFake()
		j := planted(api, "preset", c.target, Done, Held)
		j.SetTrust(c.trust)
		client, _ := scopeRun(t, api, j, RecoverApp, c.world)
		x, _, _ := unstructured.NestedString(api.objects[c.target.String()].Object, "spec", "x")
		if client.wrote() != c.back || (x == "planted") != c.back {
			t.Errorf("%s: %v, x is %s", name, client.seen, x)
		}
	}
}
