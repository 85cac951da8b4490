package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withoutEnv is the picture without what is known by the values of variables,
// which a snapshot does not have.
func (d document) withoutEnv() document {
	d.Edges = slices.DeleteFunc(slices.Clone(d.Edges), func(e edge) bool { return e.Via == "env" })
	return d
}

// A snapshot of a namespace shows the same picture as the cluster does.
func TestSnapshotShowsTheSame(t *testing.T) {
	c := shared.Cluster(t)
	settledExample(t, c)
	dir := t.TempDir()
	plain, withEnv := filepath.Join(dir, "plain.yaml.gz"), filepath.Join(dir, "env.json")
	sysop(t, c.Kubeconfig, "snapshot", "-n", demo, "-o", plain).succeeds(t)
	sysop(t, c.Kubeconfig, "snapshot", "-n", demo, "-o", withEnv, "--include-env").succeeds(t)
	for _, args := range [][]string{
		{"moodle/moodle-1"},
		{"moodle/moodle-1", "moodle/moodle-2", "mysqlcluster/cluster1"},
		{"mysqlcluster/cluster1", "--connected"},
		{"pod/cluster1-mysql-0", "--up"},
		{"ingress/wordpress"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			args := append(args, "-n", demo)
			want := graph(t, c.Kubeconfig, args...)
			same(t, want, graph(t, "", append(args, "--from", withEnv)...))
			// Without the variables, what is needed by them alone is out of the picture;
			// --no-inferred takes it out on both sides.
			args = append(args, "--no-inferred")
			want = graph(t, c.Kubeconfig, args...)
			same(t, want.withoutEnv(), graph(t, "", append(args, "--from", plain)...).withoutEnv())
		})
	}
}

// A snapshot has nothing in it that is nobody's business, and is not written
// over.
func TestSnapshotKeepsSecrets(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	settledWeb(t, c, ns)
	file := filepath.Join(t.TempDir(), "snapshot.yaml")
	args := []string{"snapshot", "-n", ns, "-o", file}
	sysop(t, c.Kubeconfig, args...).succeeds(t)
	before := holdsNoSecrets(t, file)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %s, want it readable for its owner alone", info.Mode())
	}

	sysop(t, c.Kubeconfig, args...).fails(t, file, "exists", "hint: ", "--force")
	after, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed by a snapshot that was refused (%v)", err)
	}
	sysop(t, c.Kubeconfig, append(args, "--force")...).succeeds(t)
	holdsNoSecrets(t, file)
	if files, err := os.ReadDir(filepath.Dir(file)); err != nil || len(files) != 1 {
		t.Errorf("%v (%v) lie beside the snapshot", files, err)
	}
}

// holdsNoSecrets reads a snapshot of deployment.yaml.
func holdsNoSecrets(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{
		"the-data-of-a-secret", "dGhlLWRhdGEtb2YtYS1zZWNyZXQ", "hello-from-a-config-map", "the-value-of-a-variable",
		"managedFields", "last-applied-configuration", "BEGIN CERTIFICATE",
	} {
		if bytes.Contains(b, []byte(word)) {
			t.Errorf("%s has %q in it", file, word)
		}
	}
	for _, word := range []string{"web-password", "web-settings", "LITERAL", "kind: Secret"} {
		if !bytes.Contains(b, []byte(word)) {
			t.Errorf("%s has no %q in it", file, word)
		}
	}
	return b
}
