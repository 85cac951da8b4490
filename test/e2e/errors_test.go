package e2e

import (
	"fmt"
	"net"
	"testing"
)

// What is asked for and is not there is an error, with a way out.
func TestMistakes(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	applied(t, c, ns, "deployment.yaml")
	for _, m := range []struct {
		name  string
		args  []string
		words []string
	}{
		{"unknown kind", []string{"graph", "deploymint/web", "-n", ns}, []string{"deploymint", "deployment"}},
		{"unknown kind, far from all", []string{"graph", "xyzzyplugh/web", "-n", ns}, []string{`unknown kind "xyzzyplugh"`}},
		{"not found", []string{"graph", "deployment/wob", "-n", ns}, []string{`"wob" not found`, ns, "hint: ", "web"}},
		{"none there", []string{"graph", "statefulset/db", "-n", ns}, []string{`"db" not found`, "hint: there are no statefulsets.apps"}},
		{"no such namespace", []string{"graph", "deployment/web", "-n", "no-such-namespace"}, []string{`"web" not found`, "no-such-namespace"}},
		{"path to what is not there", []string{"path", "deployment/web", "secret/nope", "-n", ns}, []string{`"nope" not found`, "hint: ", "web-password"}},
		{"impact of what is not there", []string{"impact", "secret/nope", "-n", ns}, []string{`"nope" not found`, "hint: ", "web-password"}},
		{"snapshot of what is not there", []string{"snapshot", "deployment/wob", "-o", "-", "-n", ns}, []string{`"wob" not found`, "hint: "}},
		{"no context", []string{"graph", "deployment/web", "--context", "nope"}, []string{"nope", "hint: ", "--context"}},
	} {
		t.Run(m.name, func(t *testing.T) { sysop(t, c.Kubeconfig, m.args...).fails(t, m.words...) })
	}
}

// A server that is not there is named, with a way out.
func TestNoCluster(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"graph", "pod/x"}, {"path", "pod/x", "pod/y"}, {"impact", "pod/x"}, {"snapshot", "-o", "-", "-n", "default"}} {
		r := sysop(t, c.Kubeconfig, append(command, fmt.Sprintf("--server=https://%s", address))...)
		r.fails(t, "connect", address, "hint: ", "--kubeconfig", "--from demo")
	}
}
