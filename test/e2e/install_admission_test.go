package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

const gates = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: NAMESPACE}
webhooks:
- name: gate.example.com
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  matchConditions:
  - {name: unit, expression: "has(request.name) && request.name.contains('UNIT') || has(request.namespace) && request.namespace.contains('UNIT')"}
  rules:
  - {apiGroups: ["", apps, batch, apiextensions.k8s.io, UNIT.example.com], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [namespaces, serviceaccounts, configmaps, secrets, services, deployments, jobs, customresourcedefinitions, kettles]}
  clientConfig: {caBundle: BUNDLE, service: {namespace: NAMESPACE, name: hook, port: PORT}}
`

// gate is a webhook that is asked about what is written for a unit.
type gate struct {
	// refuse says what is refused; nil for nothing.
	refuse atomic.Pointer[func(*admissionv1.AdmissionRequest) bool]
	// mutates says that each object gets a label.
	mutates        atomic.Bool
	asked, refused atomic.Int32
}

func (g *gate) answer(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q := review.Request
	g.asked.Add(1)
	review.Response = &admissionv1.AdmissionResponse{UID: q.UID, Allowed: true}
	dry := q.DryRun != nil && *q.DryRun
	if refuse := g.refuse.Load(); refuse != nil && !dry && (*refuse)(q) {
		g.refused.Add(1)
		review.Response.Allowed, review.Response.Result = false, &metav1.Status{Message: "the gate refuses it"}
	}
	var o metav1.PartialObjectMetadata
	if g.mutates.Load() && q.SubResource == "" && q.Resource.Resource != "namespaces" && json.Unmarshal(q.Object.Raw, &o) == nil && o.Labels["gate"] == "" {
		patch := `[{"op":"add","path":"/metadata/labels/gate","value":"passed"}]`
		if o.Labels == nil {
			patch = `[{"op":"add","path":"/metadata/labels","value":{"gate":"passed"}}]`
		}
		jsonPatch := admissionv1.PatchTypeJSONPatch
		review.Response.PatchType, review.Response.Patch = &jsonPatch, []byte(patch)
	}
	review.Request = nil
	reply(w, review)
}

// gated puts a gate before what is written for the unit.
func (s *tea) gated() *gate {
	s.t.Helper()
	g := &gate{}
	ns := s.c.Namespace(s.t)
	bundle := askedBy(s.t, s.c, ns, g.answer)
	service, err := admin(s.c).CoreV1().Services(ns).Get(s.t.Context(), "hook", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { // the test's context has ended by now
		deleted(s.t, admin(s.c).AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(context.Background(), ns, metav1.DeleteOptions{}))
	})
	applyText(s.t, s.c, strings.NewReplacer("NAMESPACE", ns, "UNIT", s.unit, "BUNDLE", bundle, "PORT", fmt.Sprint(service.Spec.Ports[0].Port)).Replace(gates))
	probe := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "probe-" + s.unit}}
	cluster.Eventually(s.t, limit, func() error { // the API server takes a moment
		_, err := admin(s.c).CoreV1().Namespaces().Create(s.t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil || g.asked.Load() == 0 {
			return fmt.Errorf("the gate is not asked: %w", err)
		}
		return nil
	})
	return g
}

// writing says that a request writes a resource whose name begins so.
func writing(resource, name string, operation admissionv1.Operation) func(*admissionv1.AdmissionRequest) bool {
	return func(q *admissionv1.AdmissionRequest) bool {
		return q.Resource.Resource == resource && strings.HasPrefix(q.Name, name) && q.Operation == operation && q.SubResource == ""
	}
}

// A webhook refuses what an install writes, at each step of it: whatever was done before is undone,
// and the cluster is byte-equal to what it was.
func TestInstallRefusedByWebhook(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	var work errgroup.Group
	work.SetLimit(6)
	for step, of := range map[string][2]string{
		"namespace": {"namespaces", "kettle-"}, "definition": {"customresourcedefinitions", "kettles."}, "account": {"serviceaccounts", "kettle-"},
		"program": {"deployments", "kettle-"}, "prehook": {"configmaps", "kettle-"}, "posthook": {"jobs", "kettle-"}, "record": {"secrets", "sh.helm.release.v1.kettle-"},
		"service": {"services", "water"}, "custom": {"kettles", "water"}, "apprecord": {"secrets", "sh.helm.release.v1.tea-tea"}, "app": {"configmaps", "tea"},
		"journal": {"configmaps", "sysop-install-tea"},
	} {
		for _, mutates := range []bool{false, true} {
			work.Go(func() error {
				unit := "gate-" + step + map[bool]string{true: "-m", false: "-p"}[mutates] // none is in the name of another
				t.Run(unit, func(t *testing.T) {
					s := newTea(t, c, unit, "")
					if step != "custom" { // The smaller system has no kettle.
						s.brew()
					}
					g := s.gated()
					g.mutates.Store(mutates)
					s.remember()
					refuse := writing(of[0], of[1], admissionv1.Create)
					g.refuse.Store(&refuse)
					r := s.run(s.args("install")...)
					s.failed(r, "the gate refuses it")
					if g.refused.Load() == 0 {
						t.Error("nothing was refused")
					}
					g.refuse.Store(nil)
					s.nothing()
				})
				return nil
			})
		}
	}
	_ = work.Wait() // each says itself how it ended
}

// changedTea is the manifest with another value of each app.
func (s *tea) changedTea() {
	s.t.Helper()
	text := strings.NewReplacer("data: {of: ''}", "data: {of: '', more: 'yes'}", "port: 80", "port: 81").Replace(s.text("water.yaml"))
	if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// A webhook changes what an install writes: the install is done, and once. Then it refuses what an
// upgrade writes, at each step: all is as it was before the upgrade.
func TestUpgradeRefusedByWebhook(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "gate-upgrade", "")
	s.brew()
	g := s.gated()
	g.mutates.Store(true)
	s.run(s.args("install")...).succeeds(t)
	s.whole()
	s.changedTea()
	before := s.lasting()
	for _, of := range []struct {
		resource, name string
		operation      admissionv1.Operation
	}{
		{"services", "water", admissionv1.Update},
		{"configmaps", "tea", admissionv1.Update},
		{"secrets", "sh.helm.release.v1.tea-water", admissionv1.Create},
		{"secrets", "sh.helm.release.v1.tea-tea", admissionv1.Create},
	} {
		t.Run(of.resource+" "+of.name, func(t *testing.T) {
			once, refuse := true, writing(of.resource, of.name, of.operation)
			first := func(q *admissionv1.AdmissionRequest) bool { // what undoes it is let through
				if !once || !refuse(q) {
					return false
				}
				once = false
				return true
			}
			g.refuse.Store(&first)
			r := s.run(s.args("upgrade")...)
			g.refuse.Store(nil)
			s.failed(r, "the gate refuses it")
			if once {
				t.Error("nothing was refused")
			}
			if err := unequal(before, s.lasting()); err != nil {
				t.Errorf("%v\nit says:\n%s", err, r.stderr)
			}
		})
	}
	s.run(s.args("upgrade")...).succeeds(t)
}

// lasting is the state of the unit without what going to and fro leaves: records and journals.
func (s *tea) lasting() map[string]string {
	s.t.Helper()
	all := snapshotOf(s.t, s.c, s.mine)
	for name := range all {
		if strings.Contains(name, "/sysop-install-") || strings.Contains(name, "/sh.helm.release.") || strings.HasPrefix(name, "endpoint") {
			delete(all, name)
		}
	}
	return all
}

// whenProgramIsMade calls something when the Deployment of the operator has been made.
func (s *tea) whenProgramIsMade(then func()) {
	s.proxy.Inject(faults.Fault{Times: 1, Match: func(q *http.Request) bool {
		return faults.Writes(q) && strings.HasSuffix(q.URL.Path, "/namespaces/kettle-"+s.unit+"/deployments/kettle-"+s.unit)
	}, Effect: func(w http.ResponseWriter, q *http.Request, next http.Handler) {
		next.ServeHTTP(w, q)
		then()
	}})
}

// A quota is full when an install comes to its apps: all is undone, and the namespace, which was
// there before, is as it was but for what filled it.
func TestInstallQuotaFills(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	s := newTea(t, c, "quota", "")
	s.brew()
	home := "tea-" + s.unit
	applyText(t, c, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+home+"}\n")
	quotas := admin(c).CoreV1().ResourceQuotas(home)
	hard := corev1.ResourceList{"count/services": resource.MustParse("1")}
	if _, err := quotas.Create(t.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "few"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, limit, func() error {
		q, err := quotas.Get(t.Context(), "few", metav1.GetOptions{})
		if err != nil || len(q.Status.Used) == 0 {
			return fmt.Errorf("nothing is counted: %w", err)
		}
		return nil
	})
	t.Cleanup(func() { forgotten(t, c, home) })
	unquoted := func(o *unstructured.Unstructured) bool { // a quota counts, and the journal stays for history
		return s.mine(o) && o.GetKind() != "ResourceQuota" && !strings.HasPrefix(o.GetName(), "sysop-install-tea")
	}
	before := snapshotOf(t, c, unquoted)
	filler := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "filler"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	services := admin(c).CoreV1().Services(home)
	s.whenProgramIsMade(func() {
		if _, err := services.Create(context.WithoutCancel(t.Context()), filler, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	})
	r := s.run(s.args("install")...)
	s.failed(r, "exceeded quota", "all changes were undone")
	if err := services.Delete(t.Context(), "filler", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	asBefore(t, c, before, unquoted)
	if got := s.history("tea", home); len(got) != 1 || got[0] != "install undone" {
		t.Errorf("history %q", got)
	}
}

// Somebody deletes a namespace in the middle of an install, that of an operator or that of the
// System: the run ends, says so, and what it did elsewhere is undone.
func TestInstallNamespaceDeleted(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	for _, which := range []string{"kettle", "tea"} {
		t.Run(which, func(t *testing.T) {
			s := newTea(t, c, "ends-"+which, "")
			s.brew()
			s.remember()
			namespaces := admin(c).CoreV1().Namespaces()
			s.whenProgramIsMade(func() {
				if err := namespaces.Delete(context.WithoutCancel(t.Context()), which+"-"+s.unit, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			})
			r := s.run(s.args("install", "--timeout", "20s")...)
			s.failed(r)
			t.Logf("it says:\n%s", r.stderr)
			s.nothing()
		})
	}
}

// An uninstall of definitions is killed between the consent and the deletion, and somebody makes a
// custom resource of one: the consent was to delete what is empty, so it is refused now; what was
// taken away by then can be brought back, or said what not.
func TestUninstallDefinitionsKilled(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	for _, goOn := range []bool{true, false} {
		unit := map[bool]string{true: "consent-on", false: "consent-back"}[goOn]
		t.Run(unit, func(t *testing.T) {
			s := newTea(t, c, unit, "")
			kettle := "kettle-" + unit
			with := []string{"--catalog", s.catalog, "--yes"}
			s.run(slices.Concat([]string{"install", kettle}, with)...).succeeds(t)
			definition := "kettles." + unit + ".example.com"
			was, err := definitionsOf(c).Get(t.Context(), definition, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			started := make(chan *os.Process, 1)
			s.proxy.Inject(faults.Fault{Times: 1, Match: func(q *http.Request) bool {
				return q.Method == http.MethodDelete && strings.HasSuffix(q.URL.Path, "/customresourcedefinitions/"+definition)
			}, Effect: faults.Dropped(func() { _ = (<-started).Kill() })})
			uninstall := slices.Concat([]string{"uninstall", kettle, "--delete-crds"}, with)
			consent := append(slices.Clone(uninstall), "--delete-data="+kettle)
			run := s.start(consent...)
			started <- run.cmd.Process
			if r := run.wait(); r.code != -1 {
				t.Fatalf("it was not killed: exit code %d:\n%s", r.code, r.stderr)
			}
			s.proxy.Reset()
			elsewhere := c.Namespace(t)
			applyText(t, c, "apiVersion: "+unit+".example.com/v1\nkind: Kettle\nmetadata: {name: late, namespace: "+elsewhere+"}\n")
			s.hurryOf(kettle)
			var r result
			if goOn {
				r = s.run(uninstall...)
				s.failed(r, "late")
			} else {
				r = s.run("rollback", kettle, "-n", kettle, "--unfinished", "--yes")
			}
			t.Logf("it says:\n%s", r.stderr)
			now, err := definitionsOf(c).Get(t.Context(), definition, metav1.GetOptions{})
			if err != nil || now.GetUID() != was.GetUID() {
				t.Fatalf("the definition went with what somebody made: %v", err)
			}
			s.run("rollback", kettle, "-n", kettle, "--unfinished", "--yes") // Where there is none to end, it says so.
			if got := helmList(t, c, kettle); len(got) != 1 || !strings.Contains(got[0], "deployed") {
				t.Errorf("the operator is not back: %q", got)
			}
			late := s.client.Resource(definedIn(unit+".example.com", "kettles")).Namespace(elsewhere)
			if err := late.Delete(t.Context(), "late", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			s.run(consent...).succeeds(t)
			if _, err := definitionsOf(c).Get(t.Context(), definition, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("the definition is left: %v", err)
			}
		})
	}
}

// hurryOf is hurry for the lock of an operator's installation.
func (s *tea) hurryOf(name string) {
	s.t.Helper()
	leases := admin(s.c).CoordinationV1().Leases(name)
	l, err := leases.Get(s.t.Context(), "sysop-install-"+name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	*l.Spec.LeaseDurationSeconds = 1
	if _, err := leases.Update(s.t.Context(), l, metav1.UpdateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}
