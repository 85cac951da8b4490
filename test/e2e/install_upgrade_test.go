package e2e

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// specOf changes the properties of a Certificate's spec in a definition.
func specOf(change func(properties map[string]any)) func(*unstructured.Unstructured) {
	return func(d *unstructured.Unstructured) {
		if d.GetName() != "certificates.cert-manager.io" {
			return
		}
		versions, _, _ := unstructured.NestedSlice(d.Object, "spec", "versions")
		at := []string{"schema", "openAPIV3Schema", "properties", "spec", "properties"}
		v := versions[0].(map[string]any)
		properties, _, _ := unstructured.NestedMap(v, at...)
		change(properties)
		_ = unstructured.SetNestedMap(v, properties, at...)
		_ = unstructured.SetNestedSlice(d.Object, versions, "spec", "versions")
	}
}

// later are versions of cert-manager after the one that is shipped.
var later = []operatorVersion{
	asShipped,
	{version: "1.22.0", change: specOf(func(p map[string]any) { p["purpose"] = map[string]any{"type": "string"} })},
	{version: "1.23.0", change: specOf(func(p map[string]any) {
		p["purpose"] = map[string]any{"type": "string"}
		delete(p, "dnsNames")
	})},
	{version: "1.24.0", values: map[string]any{"fail": "CrashLoopBackOff"}, change: specOf(func(p map[string]any) {
		p["purpose"], p["owner"] = map[string]any{"type": "string"}, map[string]any{"type": "string"}
	})},
}

// An upgrade that definitions forbid is refused, naming field and version; one that they
// allow goes through, and what is there stays; one that fails is undone; rollback goes back;
// and Helm's own library says the same of it all.
func TestInstallUpgrade(t *testing.T) {
	t.Parallel()
	c := bare.Cluster(t)
	myTurn(t)
	cleared(t, c, "cert-manager")
	ns := c.Namespace(t)
	dir := operators(t, c, later...)
	i := newInstaller(t, c, unraced(t), "")
	helm := func(want ...string) {
		t.Helper()
		if got := helmHistory(t, c, "cert-manager", "cert-manager"); !slices.Equal(got, want) {
			t.Errorf("helm history: %q, want %q", got, want)
		}
	}
	with := func(command, version string, more ...string) []string {
		return append([]string{command, "cert-manager@" + version, "--catalog", dir, "--plain-http"}, more...)
	}
	i.run(with("install", "1.21.2", "--yes")...).succeeds(t)
	applyText(t, c, inNamespace(t, ns, "install/identity.yaml"))
	i.gate(ns)
	cert := i.certificate(ns)

	i.refused([]string{"certificates.cert-manager.io", "v1", "dnsNames", "nothing was written"}, with("upgrade", "1.23.0", "--yes")...)
	if r := i.run(with("diff", "1.22.0")...).succeeds(t); !strings.Contains(r.stdout, "purpose") || !strings.Contains(r.stdout, "v1.22.0") {
		t.Errorf("diff shows neither the field nor the image:\n%s", r.stdout)
	}
	i.run(with("upgrade", "1.22.0", "--yes")...).succeeds(t)
	helm("1 superseded v1.21.2", "2 deployed v1.22.0")
	patched(t, c, certificates, ns, "identity", `{"spec":{"purpose":"to be kept"}}`)
	if now := i.certificate(ns); now.GetUID() != cert.GetUID() || !keepsPurpose(t, i, ns) {
		t.Errorf("the Certificate is another one, or lacks what the new version has: %v", now.Object["spec"])
	}

	before := snapshotOf(t, c, inNamespaceOf("cert-manager", ns))
	r := i.run(with("upgrade", "1.24.0", "--yes", "--timeout", "8s")...)
	i.failed(r, "undone")
	same := func(now map[string]string) {
		t.Helper()
		if err := unequal(steady(before), steady(now)); err != nil {
			t.Error(err)
		}
	}
	same(snapshotOf(t, c, inNamespaceOf("cert-manager", ns)))
	if got := helmList(t, c, "cert-manager"); len(got) != 1 || !strings.HasSuffix(got[0], "deployed v1.22.0") {
		t.Errorf("helm list after an upgrade that failed: %q", got)
	}
	if !keepsPurpose(t, i, ns) {
		t.Error("an upgrade that failed took a field of the Certificate")
	}

	i.run("rollback", "cert-manager", "1", "--yes").succeeds(t)
	if got := helmList(t, c, "cert-manager"); len(got) != 1 || !strings.HasSuffix(got[0], "deployed v1.21.2") {
		t.Errorf("helm list after rollback: %q", got)
	}
	if !keepsPurpose(t, i, ns) {
		t.Error("rollback took a field of the Certificate")
	}
	if got, want := i.history("cert-manager", "cert-manager"), []string{"install done", "upgrade done", "upgrade undone", "rollback done"}; !slices.Equal(got, want) {
		t.Errorf("history: %q, want %q", got, want)
	}

	// What is there of custom resources keeps the definitions; with the name typed they go too.
	i.refused([]string{"Certificate.cert-manager.io/" + ns + "/identity", "--delete-data"}, "uninstall", "cert-manager", "--delete-crds", "--yes")
	i.refused([]string{"expected --delete-data=cert-manager"}, "uninstall", "cert-manager", "--delete-data=other", "--yes")
	i.refused([]string{"identity", "--orphan"}, "uninstall", "cert-manager", "--yes")
	i.run("uninstall", "cert-manager", "--orphan", "--yes").succeeds(t)
	if now := i.certificate(ns); now.GetUID() != cert.GetUID() {
		t.Error("uninstall took the Certificate")
	}
	i.run(with("install", "1.22.0", "--yes")...).succeeds(t)
	held := i.certificate(ns)
	held.SetFinalizers([]string{"example.com/held"})
	if _, err := i.client.Resource(certificates).Namespace(ns).Update(t.Context(), held, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	i.failed(i.run("uninstall", "cert-manager", "--delete-data=cert-manager", "--yes", "--timeout", "4s"), "example.com/held", "identity")
	patched(t, c, certificates, ns, "identity", `{"metadata":{"finalizers":null}}`)
	i.run("uninstall", "cert-manager", "--delete-data=cert-manager", "--yes").succeeds(t)
	if _, err := i.client.Resource(certificates).Namespace(ns).List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("the definitions are still there")
	}
}

// gate waits until the certificate is there.
func (i *installer) gate(ns string) {
	i.t.Helper()
	i.run("health", "certificate/identity", "-n", ns, "--wait", "--timeout", limit.String()).succeeds(i.t)
}

func (i *installer) certificate(ns string) *unstructured.Unstructured {
	i.t.Helper()
	o, err := i.client.Resource(certificates).Namespace(ns).Get(i.t.Context(), "identity", metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	return o
}

// keepsPurpose says whether the Certificate has the field that came with 1.22.0.
func keepsPurpose(t *testing.T, i *installer, ns string) bool {
	t.Helper()
	purpose, _, _ := unstructured.NestedString(i.certificate(ns).Object, "spec", "purpose")
	return purpose == "to be kept"
}

// inNamespaceOf chooses what is in namespaces, and definitions.
func inNamespaceOf(names ...string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool {
		return slices.Contains(names, o.GetNamespace()) || strings.HasSuffix(o.GetName(), ".cert-manager.io")
	}
}

// steady leaves out of a state what going to and fro leaves behind: the records of Helm and
// our journal, what a rollout makes, and what is
// looked at one by one.
func steady(all map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range all {
		kind, _, _ := strings.Cut(name, "/")
		if slices.Contains([]string{"pods.", "replicasets.apps", "secrets.", "certificates.cert-manager.io", "deployments.apps", "customresourcedefinitions.apiextensions.k8s.io"}, kind) || strings.Contains(name, "/sysop-install-") {
			continue
		}
		out[name] = text
	}
	return out
}
