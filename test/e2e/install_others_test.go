package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/apply"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

var serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}

// inTheMiddle calls something when a Deployment has been made.
func (s *tea) inTheMiddle(then func()) {
	s.proxy.Inject(faults.Fault{Times: 1, Match: func(q *http.Request) bool {
		return faults.Writes(q) && strings.HasSuffix(q.URL.Path, "/namespaces/teapot-"+s.unit+"/deployments/teapot-"+s.unit)
	}, Effect: func(w http.ResponseWriter, q *http.Request, next http.Handler) {
		next.ServeHTTP(w, q)
		then()
	}})
}

// Ctrl-C in the middle undoes what was done.
func TestInstallInterrupted(t *testing.T) {
	t.Parallel()
	s := newTea(t, bare.Cluster(t), "interrupted", "")
	s.remember()
	started := make(chan *os.Process, 1)
	s.inTheMiddle(func() { _ = (<-started).Signal(os.Interrupt) })
	run := s.start(s.args("install")...)
	started <- run.cmd.Process
	r := run.wait()
	if r.code != command.ExitInterrupted || !strings.Contains(r.stderr, "undone: definitions/kettle-interrupted") {
		t.Errorf("exit code %d, want %d:\n%s", r.code, command.ExitInterrupted, r.stderr)
	}
	s.nothing()
}

// Of two installs at once the second one waits, and finds it done; or refuses.
func TestInstallTwice(t *testing.T) {
	t.Parallel()
	s := newTea(t, bare.Cluster(t), "twice", "")
	other := newInstaller(t, s.c, unraced(t), "")
	begun, goOn := make(chan struct{}), make(chan struct{})
	s.inTheMiddle(func() {
		close(begun)
		<-goOn
	})
	first := s.start(s.args("install")...)
	select {
	case <-begun:
	case <-time.After(limit):
		t.Fatalf("it does not come to the second operator:\n%s", first.stderr.String())
	}
	second := other.start(s.args("install")...)
	other.failed(other.run(s.args("install", "--no-wait")...), "nothing was done")
	for deadline := time.Now().Add(limit); !strings.Contains(second.stderr.String(), "waiting"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the second one does not wait:\n%s", second.stderr.String())
		}
	}
	close(goOn)
	first.wait().succeeds(t)
	if r := second.wait().succeeds(t); !strings.Contains(r.stderr, "nothing to do") {
		t.Errorf("the second one says:\n%s", r.stderr)
	}
	s.whole()
}

// What somebody else keeps is not taken, unless that is asked for.
func TestInstallForeign(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	for name, owner := range map[string]struct {
		marks   string
		manager string
		word    string
	}{
		"helm":     {"annotations: {meta.helm.sh/release-name: other, meta.helm.sh/release-namespace: elsewhere}, labels: {app.kubernetes.io/managed-by: Helm}", "helm", "Helm release other"},
		"applyset": {"labels: {applyset.kubernetes.io/part-of: applyset-of-others-v1}", "kubectl", "ApplySet"},
		"kubectl":  {"labels: {app: tea}", "kubectl", `"kubectl"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTea(t, c, "foreign-"+name, "")
			applyText(t, c, "apiVersion: v1\nkind: Namespace\nmetadata: {name: kettle-"+s.unit+"}\n")
			objects, err := apply.Parse([]byte("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: kettle-" + s.unit + ", namespace: kettle-" + s.unit + ", " + owner.marks + "}\n"))
			if err != nil {
				t.Fatal(err)
			}
			account := objects[0]
			at := s.client.Resource(serviceAccounts).Namespace(account.GetNamespace())
			if _, err := at.Apply(t.Context(), account.GetName(), account, metav1.ApplyOptions{FieldManager: owner.manager}); err != nil {
				t.Fatal(err)
			}
			args := []string{"install", "kettle-" + s.unit, "--catalog", s.catalog, "--yes"}
			s.refused([]string{"ServiceAccount", owner.word, "--take-ownership", "nothing was written"}, args...)
			s.run(append(args, "--take-ownership")...).succeeds(t)
			is, err := at.Get(t.Context(), account.GetName(), metav1.GetOptions{})
			if err != nil || is.GetAnnotations()["meta.helm.sh/release-name"] != "kettle-"+s.unit {
				t.Errorf("it was not taken: %v, %v", is.GetAnnotations(), err)
			}
		})
	}
}

// Whoever may not do it is told so before the first write; with the role that is printed it
// goes through.
func TestInstallRights(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	kubeconfig, err := c.User("installer")
	if err != nil {
		t.Fatal(err)
	}
	asked := time.Now()
	s := newTea(t, c, "rights", kubeconfig)
	s.failed(s.run(s.args("install")...), "--print-rbac")
	events, err := c.AuditEvents(asked)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.User == "installer" && e.Object.Group != "authorization.k8s.io" && (e.Verb == "create" || e.Verb == "update" || e.Verb == "patch" || e.Verb == "delete") && !strings.Contains(e.URI, "dryRun=") {
			t.Errorf("it wrote: %s %s: %d", e.Verb, e.URI, e.Code)
		}
	}
	boss := newInstaller(t, c, unraced(t), "")
	roles, err := apply.Parse([]byte(boss.run(s.args("install", "--print-rbac")...).succeeds(t).stdout))
	if err != nil || len(roles) == 0 {
		t.Fatalf("%d roles: %v", len(roles), err)
	}
	for _, role := range roles {
		if role.GetKind() == "Namespace" {
			if _, err := c.Apply(t.Context(), []*unstructured.Unstructured{role}); err != nil {
				t.Fatal(err)
			}
			continue
		}
		binding := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": role.GetKind() + "Binding",
			"metadata": map[string]any{"name": role.GetName()},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": role.GetKind(), "name": role.GetName()},
			"subjects": []any{map[string]any{"kind": "User", "name": "installer", "apiGroup": "rbac.authorization.k8s.io"}},
		}}
		binding.SetNamespace(role.GetNamespace())
		if _, err := c.Apply(t.Context(), []*unstructured.Unstructured{role, binding}); err != nil {
			t.Fatal(err)
		}
	}
	result := s.run(s.args("install", "--progress", "json")...).succeeds(t)
	s.whole()
	var progress []journal.EventKind
	for line := range strings.Lines(result.stderr) {
		var e journal.Event
		if json.Unmarshal([]byte(line), &e) == nil && e.Step == "" && e.Kind != journal.EventWaiting {
			progress = append(progress, e.Kind)
		}
	}
	if want := []journal.EventKind{journal.EventStarted, journal.EventDone}; !slices.Equal(progress, want) {
		t.Errorf("the run is %v in the progress, want %v:\n%s", progress, want, result.stderr)
	}
	recorded, err := admin(c).EventsV1().Events("tea-"+s.unit).List(t.Context(), metav1.ListOptions{FieldSelector: "reportingController=" + install.FieldManager})
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]int{}
	for _, e := range recorded.Items {
		if e.Regarding.Kind == "ConfigMap" && e.Regarding.Name == "sysop-install-tea" && e.Action == "install" {
			reasons[e.Reason]++
		}
	}
	if reasons["Started"] == 0 || reasons["Done"] == 0 {
		t.Errorf("Events of the installation: %v, want its start and its end", reasons)
	}
}
