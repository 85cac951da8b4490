package main

import (
	"bytes"
	"io/fs"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/examples"
)

// demo returns the example as one stream.
func demo(t *testing.T) string {
	t.Helper()
	files, err := fs.Glob(examples.Demo(), "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all []string
	for _, name := range files {
		text, err := fs.ReadFile(examples.Demo(), name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return strings.Join(all, "\n---\n")
}

func ask(t *testing.T, in string, args ...string) (string, error) {
	t.Helper()
	secret, err := asked(args)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = users(t.Context(), secret, strings.NewReader(in), &out)
	return out.String(), err
}

func TestDemo(t *testing.T) {
	in := demo(t)
	for _, args := range [][]string{{"wordpress-db", "-n", "moodle"}, {"-n", "moodle", "wordpress-db"}} {
		got, err := ask(t, in, args...)
		for _, want := range wanted {
			if !strings.Contains(got, want+"\n") {
				t.Errorf("%q: %v, got\n%s\nwant %s", args, err, got, want)
			}
		}
	}
}

// Directly, by a template, and through the Service.
var wanted = []string{
	`Deployment.apps/moodle/wordpress needs it: spec.template.spec.containers[0].env[2].valueFrom.secretKeyRef.name = "wordpress-db"`,
	`Service/moodle/wordpress through Pod/moodle/wordpress-56cbb85497-4fhzp: spec.selector = "app=wordpress"`,
	`Deployment.apps/moodle/wordpress-importer through Service/moodle/wordpress: spec.template.spec.containers[0].env[0].value = "http://wordpress"`,
}

const small = `
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  volumes: [{name: tls, secret: {secretName: web-tls}}]
---
apiVersion: v1
kind: Secret
metadata: {name: unused, namespace: shop}
`

func TestMissingAndUnused(t *testing.T) {
	for name, want := range map[string]string{
		"web-tls": "Secret/shop/web-tls is missing\nPod/shop/web needs it: spec.volumes[0].secret.secretName = \"web-tls\"\n",
		"unused":  "nothing in the snapshot needs Secret/shop/unused\n",
	} {
		if got, err := ask(t, small, name, "-n", "shop"); err != nil || got != want {
			t.Errorf("%s: %v, got\n%s", name, err, got)
		}
	}
}

func TestErrors(t *testing.T) {
	cut := `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}]}`
	whole := demo(t)
	for name, c := range map[string]struct {
		in   string
		args []string
		want string
	}{
		"no name":      {small, nil, "want one name"},
		"two names":    {small, []string{"a", "b"}, "want one name"},
		"a flag":       {small, []string{"-x", "a"}, "-x"},
		"not there":    {small, []string{"none"}, "Secret/default/none is not in the snapshot"},
		"nothing":      {"", []string{"a"}, "read the snapshot: "},
		"no snapshot":  {"just: text\n", []string{"a"}, "read the snapshot: "},
		"half of JSON": {cut[:len(cut)/2], []string{"a"}, "read the snapshot: "},
		"half of YAML": {whole[:strings.LastIndex(whole[:len(whole)/2], "{")+1], []string{"a"}, "read the snapshot: "},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, c.in, c.args...)
			if err == nil || got != "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, output %q", err, got)
			}
		})
	}
}

// The example imports only packages that others can import, and few of them.
func TestImports(t *testing.T) {
	list, err := exec.Command("go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := 0
	for path := range strings.Lines(string(list)) {
		path = strings.TrimSpace(path)
		relative, ok := strings.CutPrefix(path, "github.com/kubectl-sysop/kubectl-sysop/")
		switch {
		case ok && strings.HasPrefix(relative, "pkg/"):
			ours++
		case ok || strings.Contains(path, "."):
			t.Errorf("imports %s", path)
		}
	}
	if ours != 5 {
		t.Errorf("%d packages of the library", ours)
	}
}
