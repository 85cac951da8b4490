package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// argocdScripts are a ConfigMap of Argo CD with a rule for one kind, one for all others of the
// group, and three that never come to an end.
const argocdScripts = `
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: NAMESPACE}
data:
  application.instanceLabelKey: example.org/instance
  resource.customizations.health.NAMESPACE.example.org_Plain: |
    if obj.spec.open then
      return {status = "Healthy", message = "it is open"}
    end
    return {status = "Degraded", message = "it is shut"}
  resource.customizations: |
    "*.example.org/*":
      health.lua: |
        return {status = "Suspended", message = obj.kind .. " fits the pattern"}
  resource.customizations.health.NAMESPACE.example.org_Endless: |
    local n = 0
    while true do n = n + 1 end
    return {status = "Healthy"}
  resource.customizations.health.NAMESPACE.example.org_Doubling: |
    local s = "x"
    while true do s = s .. s end
    return {status = "Healthy"}
  resource.customizations.useOpenLibs.NAMESPACE.example.org_Huge: "true"
  resource.customizations.health.NAMESPACE.example.org_Huge: |
    return {status = "Healthy", message = string.rep("x", 4000000000)}
`

// Health rules that a cluster has for Argo CD are asked, as they are written there; those that do
// not end are ended and named, and the other rules judge. Who may not read them is told so.
func TestHealthArgoCD(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	kinds := []string{"Plain", "Other", "Endless", "Doubling", "Huge"}
	define(t, c, ownKinds(ns, kinds...))
	var text strings.Builder
	text.WriteString(strings.ReplaceAll(argocdScripts, "NAMESPACE", ns))
	for _, kind := range kinds {
		text.WriteString(ownObject(ns, kind, "one", "spec: {open: true}\n"+notReady))
	}
	text.WriteString(ownObject(ns, "Plain", "two", "spec: {open: false}"))
	applyText(t, c, text.String())
	id := func(kind, name string) string { return kind + "." + ns + ".example.org/" + ns + "/" + name }

	began := time.Now()
	r := sysop(t, c.Kubeconfig, "health", "-n", ns, "--all", "--argocd="+ns, "-o", "json").succeeds(t)
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
	d := healthIn(t, r)
	origin := func(key string) string { return "(by argocd-cm (" + ns + "/argocd-cm, " + key + "))" }
	of := "resource.customizations.health." + ns + ".example.org_"
	for what, want := range map[[2]string][]string{
		{"Plain", "one"}:    {"Healthy", "it is open", of + "Plain"},
		{"Plain", "two"}:    {"Degraded", "it is shut", of + "Plain"},
		{"Other", "one"}:    {"Suspended", "Other fits the pattern", "resource.customizations"},
		{"Endless", "one"}:  {"Degraded", "it failed", ""},
		{"Doubling", "one"}: {"Degraded", "it failed", ""},
		{"Huge", "one"}:     {"Degraded", "it failed", ""},
	} {
		o := d.object(id(what[0], what[1]))
		if o.OwnHealth != want[0] || !strings.Contains(o.Message, want[1]) || want[2] != "" && o.OwnHealth != "Healthy" && !strings.Contains(o.Message, strings.TrimSuffix(origin(want[2]), "))")) {
			t.Errorf("%v: %+v, want %v", what, o, want)
		}
	}
	for kind, why := range map[string]string{"Endless": "it takes more than 500000 instructions", "Doubling": "it creates a string of more than 1024 KiB", "Huge": "it creates a string of more than 1024 KiB"} {
		if !strings.Contains(r.stderr, of+kind) || !strings.Contains(r.stderr, why) {
			t.Errorf("no note of %s, %s, in:\n%s", kind, why, r.stderr)
		}
	}
	without := healthOf(t, c.Kubeconfig, "-n", ns, "--all")
	if o := without.object(id("Plain", "one")); o.OwnHealth != "Degraded" {
		t.Errorf("without --argocd: %+v", o)
	}

	kubeconfig := user(t, c, "no-scripts-in-"+ns, ns, ns+".example.org/*")
	cluster.Eventually(t, limit, func() error { // the authorizer takes a moment
		r := sysop(t, kubeconfig, "health", "-n", ns, "--all", "--argocd="+ns, "-o", "json")
		if r.code != 0 || healthIn(t, r).object(id("Plain", "one")).OwnHealth != "Degraded" {
			return fmt.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", r.code, r.stdout, r.stderr)
		}
		for _, words := range []string{"note: the health rules of Argo CD are ignored: ", "configmaps", "orbidden"} {
			if !strings.Contains(r.stderr, words) {
				return fmt.Errorf("no %q on stderr:\n%s", words, r.stderr)
			}
		}
		return nil
	})
}
