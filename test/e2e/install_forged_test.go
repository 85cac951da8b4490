package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// tenant may edit some namespaces, and nothing else.
type tenant struct {
	s      *tea
	client dynamic.Interface
}

func (s *tea) tenant(namespaces ...string) *tenant {
	s.t.Helper()
	kubeconfig, err := s.c.User("tenant-" + s.unit)
	if err != nil {
		s.t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, ns := range namespaces {
		applyText(s.t, s.c, fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: tenant, namespace: %s}\n"+
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}\nsubjects: [{kind: User, name: tenant-%s, apiGroup: rbac.authorization.k8s.io}]\n", ns, s.unit))
	}
	return &tenant{s, dynamic.NewForConfigOrDie(config)}
}

// plant writes a ConfigMap over whatever was there; it may have to wait for the rights.
func (p *tenant) plant(namespace, name string, labels map[string]string, data, binary map[string]any) {
	p.s.t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data, "binaryData": binary}}
	o.SetName(name)
	o.SetLabels(labels)
	cluster.Eventually(p.s.t, limit, func() error {
		_, err := p.client.Resource(configMapsResource).Namespace(namespace).Apply(p.s.t.Context(), name, o, metav1.ApplyOptions{FieldManager: "tenant", Force: true})
		return err
	})
}

// journal plants what is to be taken for the journal of an installation. A key signs it.
func (p *tenant) journal(name, namespace, text string, key []byte) {
	p.s.t.Helper()
	place := "sysop-install-" + name
	data := map[string]any{"journal.json": text}
	if key != nil {
		h := hmac.New(sha256.New, key)
		for _, part := range []string{"kubectl sysop journal", "sysop.dev/v1alpha1", install.JournalKind, namespace, place, text} {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			h.Write([]byte(part))
		}
		data["mac"] = hex.EncodeToString(h.Sum(nil))
	}
	p.plant(namespace, place, map[string]string{"app.kubernetes.io/managed-by": "kubectl-sysop", "sysop.dev/install": name}, data, nil)
}

// key is that of the journal of the System: who may edit a namespace reads its Secrets.
func (p *tenant) key(namespace string) []byte {
	p.s.t.Helper()
	var secret corev1.Secret
	cluster.Eventually(p.s.t, limit, func() error { // it may have to wait for the rights
		o, err := p.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(namespace).Get(p.s.t.Context(), journal.KeyName("sysop-install-tea"), metav1.GetOptions{})
		if err != nil {
			return err
		}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &secret)
	})
	return secret.Data["key"]
}

// image plants what is to be taken for an object as it was before the run of a journal.
func (p *tenant) image(namespace, run string, ref object.Ref, text string) journal.BeforeImage {
	p.s.t.Helper()
	b := journal.BeforeImage{Object: ref, StoredIn: journal.ImageName("sysop-install-tea", run, ref)}
	var zip bytes.Buffer
	w := gzip.NewWriter(&zip)
	if _, err := w.Write([]byte(text)); err != nil {
		p.s.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		p.s.t.Fatal(err)
	}
	p.plant(namespace, b.StoredIn, map[string]string{"sysop.dev/kept-for": run}, nil, map[string]any{journal.ImageKey: base64.StdEncoding.EncodeToString(zip.Bytes())})
	return b
}

// forged is the text of a journal of the System tea whose run is not ended.
func (s *tea) forged(run string, steps ...install.StepState) string {
	s.t.Helper()
	of := install.Installation{Name: "tea", Namespace: "tea-" + s.unit, System: true}
	text, err := json.Marshal(struct {
		journal.Header   `json:",inline"`
		*install.Journal `json:",inline"`
	}{
		journal.Header{APIVersion: "sysop.dev/v1alpha1", Kind: install.JournalKind},
		&install.Journal{Installation: of, Run: &install.Run{ID: run, Action: install.Install, Fingerprint: "x", By: "somebody", Steps: steps}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// ownID is an id that a run of the installation could have: anybody can reckon it.
func (s *tea) ownID() string {
	sum := sha256.Sum256([]byte("tea-" + s.unit + "/tea"))
	return "aaaaaaaaaaaa-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:12])
}

// pastID is the id of the run that installed it, which the journal shows.
func (s *tea) pastID() string {
	s.t.Helper()
	o, err := admin(s.c).CoreV1().ConfigMaps("tea-"+s.unit).Get(s.t.Context(), "sysop-install-tea", metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var j install.Journal
	if err := json.Unmarshal([]byte(o.Data["journal.json"]), &j); err != nil || len(j.Runs) != 1 {
		s.t.Fatalf("a journal with %d runs: %v", len(j.Runs), err)
	}
	return j.Runs[0].ID
}

// versions are the versions of every object of the cluster, by name, but of what passes.
func versions(t *testing.T, c *cluster.Cluster, mine func(*unstructured.Unstructured) bool) map[string]string {
	t.Helper()
	lists, err := discovery.NewDiscoveryClientForConfigOrDie(c.Config()).ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	client, out := dynamic.NewForConfigOrDie(c.Config()), map[string]string{}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.APIResources {
			if !slices.Contains(r.Verbs, "list") || strings.Contains(r.Name, "/") || r.Name == "nodes" || slices.Contains(passing, schema.GroupResource{Group: gv.Group, Resource: r.Name}) {
				continue
			}
			all, err := client.Resource(gv.WithResource(r.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range all.Items {
				if o := &all.Items[i]; mine(o) {
					out[fmt.Sprintf("%s.%s/%s/%s", r.Name, gv.Group, o.GetNamespace(), o.GetName())] = o.GetResourceVersion()
				}
			}
		}
	}
	return out
}

// forgery is what a tenant plants.
type forgery struct {
	name  string
	text  string
	words []string // why it is refused
	// left says that it is no refusal: nothing of what it names is touched, and that is told.
	left bool
}

// forgeries are journals of every kind that a tenant could write.
func (s *tea) forgeries(p *tenant) []forgery {
	home, kettle := "tea-"+s.unit, "kettle-"+s.unit
	own, past := s.ownID(), s.pastID()
	const roles = "rbac.authorization.k8s.io"
	binding := object.Ref{Group: roles, Kind: "ClusterRoleBinding", Name: "cluster-admin"}
	planted := object.Ref{Group: roles, Kind: "ClusterRoleBinding", Name: "planted-" + s.unit}
	power := fmt.Sprintf(`{"apiVersion":"%s/v1","kind":"ClusterRoleBinding","metadata":{"name":%q},"roleRef":{"apiGroup":%[1]q,"kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"User","name":"tenant-%s","apiGroup":%[1]q}]}`,
		roles, planted.Name, s.unit)
	victim := object.Ref{Kind: "ConfigMap", Namespace: "planted-" + s.unit, Name: "victim"}
	definition := object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "kettles." + s.unit + ".example.com"}
	hook := object.Ref{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration", Name: "victim-" + s.unit}
	program := object.Ref{Group: "apps", Kind: "Deployment", Namespace: kettle, Name: kettle}
	account := object.Ref{Kind: "ServiceAccount", Namespace: home, Name: "default"}
	app := func(change func(*install.StepState)) install.StepState {
		st := install.StepState{ID: "release/water", Kind: install.InstallRelease, Part: "water", Release: "tea-water", Namespace: home, Phase: install.Done, Revision: 1}
		change(&st)
		return st
	}
	made := func(refs ...object.Ref) install.StepState { return app(func(st *install.StepState) { st.Made = refs }) }
	changed := func(run string, ref object.Ref, text string) install.StepState {
		return app(func(st *install.StepState) { st.Changed = []install.BeforeImage{p.image(home, run, ref, text)} })
	}
	of := func(kind install.StepKind, change func(*install.StepState)) install.StepState {
		st := install.StepState{ID: string(kind), Kind: kind, Namespace: home, Phase: install.Done}
		change(&st)
		return st
	}
	unbelieved := []string{"the journal cannot be trusted", "nothing was written"}
	unreadable := []string{"the journal is invalid"}
	untouched := []string{"left: release/water: release ", "which is not of this run"}
	const other = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"victim","namespace":"planted-%s"},"data":{"of":"the tenant"}}`
	return []forgery{
		{"an id of nobody", s.forged("abc", made(binding)), unbelieved, false},
		{"a binding that a run made", s.forged(own, made(binding)), untouched, true},
		{"a binding that the last run made", s.forged(past, made(binding)), unbelieved, false},
		{"a binding that there was", s.forged(past, changed(past, planted, power)), unbelieved, false},
		{"a binding that was another", s.forged(own, changed(own, binding, strings.ReplaceAll(power, planted.Name, binding.Name))), untouched, true},
		{"an object of another namespace", s.forged(past, made(victim)), unbelieved, false},
		{"an object of another namespace that was another", s.forged(past, changed(past, victim, fmt.Sprintf(other, s.unit))), unbelieved, false},
		{"the program of an operator", s.forged(past, made(program)), unbelieved, false},
		{"what is no release's", s.forged(past, made(account)), unbelieved, false},
		{"a webhook", s.forged(past, made(hook)), unbelieved, false},
		{"a release of another namespace", s.forged(own, app(func(st *install.StepState) {
			st.Release, st.Namespace, st.Made = kettle, kettle, []object.Ref{program}
		})), untouched, true},
		{"a revision that never was", s.forged(past, app(func(st *install.StepState) { st.Kind, st.Was = install.UpgradeRelease, 7 })), unbelieved, false},
		{"a step that makes nothing", s.forged(past, of(install.Await, func(st *install.StepState) { st.Made = []object.Ref{binding} })), unbelieved, false},
		{"deletes with images", s.forged(past, of(install.DeleteObjects, func(st *install.StepState) { st.Changed = []install.BeforeImage{p.image(home, past, planted, power)} })), unbelieved, false},
		{"a namespace of others", s.forged(past, of(install.MakeNamespace, func(st *install.StepState) { st.Made = []object.Ref{{Kind: "Namespace", Name: "planted-" + s.unit}} })), unbelieved, false},
		{"a definition that is none", s.forged(past, of(install.ApplyDefinitions, func(st *install.StepState) { st.Made = []object.Ref{binding} })), unbelieved, false},
		{"a definition that was another", s.forged(past, of(install.ApplyDefinitions, func(st *install.StepState) {
			st.Changed = []install.BeforeImage{p.image(home, past, object.Ref{Kind: "ConfigMap", Namespace: home, Name: "x"}, "{}")}
			st.Changed[0].Object = definition
		})), unreadable, false},
		{"a release of others in the past", strings.Replace(s.forged(past), `"run":{`,
			`"past":[{"revision":1,"id":"x","action":"install","by":"x","started":"2026-01-01T00:00:00Z","ended":"2026-01-01T00:00:00Z","result":"done","releases":[{"part":"water","app":true,"release":"`+kettle+`","namespace":"`+kettle+`","version":"1.0.0","revision":1}]}],"run":{`, 1), unreadable, false},
		{"another kind", strings.Replace(s.forged(own), install.JournalKind, "Journal", 1), unreadable, false},
		{"the journal of another", strings.Replace(s.forged(own), `"tea-`+s.unit+`"`, `"kube-system"`, 1), unreadable, false},
		{"no JSON", "{", unreadable, false},
	}
}

// A tenant plants journals: the administrator's commands do not look at those in a namespace
// that they were not asked for, and refuse what one in their own says, before any write.
func TestForgedJournal(t *testing.T) {
	s := newTea(t, bare.Cluster(t), "forged", "")
	s.brew()
	kettle, home := "kettle-"+s.unit, "tea-"+s.unit
	applyText(t, s.c, "apiVersion: v1\nkind: Namespace\nmetadata: {name: planted-forged}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: victim, namespace: planted-forged}\n"+
		"---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: victim-forged}\nwebhooks: []\n")
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, admin(s.c).AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(context.Background(), "victim-forged", metav1.DeleteOptions{}))
	})
	elsewhere := s.tenant("planted-forged")
	elsewhere.journal("tea", "planted-forged", s.forged(s.ownID()), nil)
	elsewhere.journal(kettle, "planted-forged", "{", nil)
	s.run(s.args("install")...).succeeds(t)
	s.whole()
	if got := s.history("tea", home); len(got) != 1 || got[0] != "install done" {
		t.Errorf("history %q", got)
	}
	s.run("history", kettle, "--catalog", s.catalog).succeeds(t)
	s.refused([]string{"the System tea in " + home + " needs " + kettle}, "uninstall", kettle, "--catalog", s.catalog, "--yes")

	p := s.tenant(home)
	journals := admin(s.c).CoreV1().ConfigMaps(home)
	genuine, err := journals.Get(t.Context(), "sysop-install-tea", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.forgeries(p) {
		t.Run(f.name, func(t *testing.T) {
			was := s.t
			s.t = t
			defer func() { s.t = was }()
			s.refusesForged(p, f)
		})
	}
	if err := journals.Delete(t.Context(), "sysop-install-tea", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	genuine.ResourceVersion, genuine.UID = "", ""
	if _, err := journals.Create(t.Context(), genuine, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.run(s.args("install")...).succeeds(t)
	s.whole()
}

// refusesForged plants a journal, and fails the test unless every command refuses it and no object
// of the cluster is another one afterwards.
func (s *tea) refusesForged(p *tenant, f forgery) {
	s.t.Helper()
	home := "tea-" + s.unit
	before := versions(s.t, s.c, s.unwritten)
	p.journal("tea", home, f.text, nil)
	s.refused([]string{"the journal cannot be trusted: it", "secret sysop-install-tea-key", "nothing was done"}, "rollback", "tea", "-n", home, "--unfinished", "--yes")
	s.sameVersions(before, s.unwritten)
	p.journal("tea", home, f.text, p.key(home))
	if f.left {
		s.leavesForged(f)
		return
	}
	before = versions(s.t, s.c, s.threatened)
	for _, args := range [][]string{
		{"uninstall", "tea", "-n", home, "--yes"},
		{"uninstall", "tea", "-n", home, "--print-rbac"},
		{"rollback", "tea", "-n", home, "--unfinished", "--yes"},
		{"rollback", "tea", "-n", home, "--unfinished", "--dry-run=client"},
		s.args("install"),
	} {
		s.refused(f.words, args...)
	}
	s.sameVersions(before, s.threatened)
}

// leavesForged fails the test unless a run is closed of which the cluster knows nothing, and no
// object but the journal, and what is kept beside it, is another one afterwards.
func (s *tea) leavesForged(f forgery) {
	s.t.Helper()
	home := "tea-" + s.unit
	before := versions(s.t, s.c, s.unwritten)
	for _, args := range [][]string{
		{"uninstall", "tea", "-n", home, "--print-rbac"},
		{"rollback", "tea", "-n", home, "--unfinished", "--dry-run=client"},
		{"rollback", "tea", "-n", home, "--unfinished", "--yes"},
	} {
		s.proxy.Reset()
		r := s.run(args...).succeeds(s.t)
		yes := slices.Contains(args, "--yes")
		for _, w := range f.words {
			if yes && !strings.Contains(r.stderr, w) {
				s.t.Errorf("%v: no %q in:\n%s", args, w, r.stderr)
			}
		}
		for _, w := range s.writes() {
			if !yes || !strings.Contains(w, "/sysop-install-tea") && !strings.HasSuffix(w, "/leases") {
				s.t.Errorf("%v wrote %s", args, w)
			}
		}
	}
	s.sameVersions(before, s.unwritten)
}

// unwritten chooses what is threatened but for the journal, and what is kept beside it.
func (s *tea) unwritten(o *unstructured.Unstructured) bool {
	return s.threatened(o) && o.GetName() != "sysop-install-tea" && !strings.HasPrefix(o.GetName(), "sysop-install-tea-was-")
}

// sameVersions fails the test unless each object is the one that it was, and none is new.
func (s *tea) sameVersions(before map[string]string, mine func(*unstructured.Unstructured) bool) {
	s.t.Helper()
	after := versions(s.t, s.c, mine)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if before[name] != after[name] {
			s.t.Errorf("%s has version %q, and had %q", name, after[name], before[name])
		}
		delete(after, name)
	}
	for name := range after {
		s.t.Errorf("%s is new", name)
	}
}

// threatened chooses what a forged journal could reach: all of the test, and what is of the whole
// cluster and gives rights, refuses or defines.
func (s *tea) threatened(o *unstructured.Unstructured) bool {
	group, _, _ := strings.Cut(o.GetAPIVersion(), "/")
	return s.mine(o) || o.GetNamespace() == "" && slices.Contains([]string{"rbac.authorization.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io"}, group)
}
