package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
)

// tea is a system of two small operators and two apps, all by names of its own.
type tea struct {
	*installer
	unit    string
	catalog string
	file    string
	before  map[string]string
	// brief says that it is the one of water.yaml: one operator.
	brief bool
}

// newTea writes its catalogue and its manifest; nothing is on the cluster yet.
func newTea(t *testing.T, c *cluster.Cluster, unit, kubeconfig string) *tea {
	t.Helper()
	s := &tea{installer: newInstaller(t, c, unraced(t), kubeconfig), unit: unit, catalog: t.TempDir()}
	s.write("kettle.catalog.yaml")
	for name, kind := range map[string]string{"kettle": "Kettle", "teapot": "Teapot"} {
		archive := repository.Archive(t, name+"-"+unit, map[string]string{
			"Chart.yaml":             "apiVersion: v2\nname: " + name + "-" + unit + "\nversion: 1.0.0\n",
			"crds/definition.yaml":   s.text("kettle.definition.yaml", "NAME", name, "KIND", kind),
			"templates/program.yaml": s.text("kettle.chart.yaml", "NAME", name, "KIND", kind),
		})
		if err := os.WriteFile(filepath.Join(s.catalog, name+"-"+unit+".tgz"), archive, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.file = filepath.Join(s.home, "tea.yaml")
	s.connect("spec.clusterIP")
	return s
}

// text is a file of testdata with its words replaced.
func (s *tea) text(file string, oldnew ...string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "install", file))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.NewReplacer(append([]string{"UNIT", s.unit}, oldnew...)...).Replace(string(text))
}

// write writes the entries of a file to a catalogue, a file each.
func (s *tea) write(file string) {
	s.t.Helper()
	for entry := range strings.SplitSeq(s.text(file), "\n---\n") {
		_, rest, _ := strings.Cut(entry, "\nname: ")
		name, _, _ := strings.Cut(rest, "\n")
		if err := os.WriteFile(filepath.Join(s.catalog, name+".yaml"), []byte(entry+"\n"), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// connect writes the manifest with a value that flows.
func (s *tea) connect(path string) {
	s.t.Helper()
	if err := os.WriteFile(s.file, []byte(s.text("tea.yaml", "CONNECTED", path)), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// brew makes it the system of one operator.
func (s *tea) brew() {
	s.t.Helper()
	s.brief = true
	if err := os.WriteFile(s.file, []byte(s.text("water.yaml")), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// mine chooses what has the unit in its name or is in a namespace of it, and what is in
// namespaces that any test may write into.
func (s *tea) mine(o *unstructured.Unstructured) bool {
	return strings.Contains(o.GetName(), s.unit) || strings.Contains(o.GetNamespace(), s.unit) || o.GetNamespace() == "default" || o.GetNamespace() == "kube-system"
}

// args are those of a command on the system.
func (s *tea) args(command string, more ...string) []string {
	return append([]string{command, "-f", s.file, "--catalog", s.catalog, "--yes"}, more...)
}

// whole fails the test unless all of it is there, once.
func (s *tea) whole() {
	s.t.Helper()
	releases := map[string]string{
		"kettle-" + s.unit: "kettle-" + s.unit + " 1 deployed 1.0.0", "teapot-" + s.unit: "teapot-" + s.unit + " 1 deployed 1.0.0",
		"tea-" + s.unit: "tea-tea 1 deployed 1.0.0 tea-water 1 deployed 1.0.0",
	}
	if s.brief {
		delete(releases, "teapot-"+s.unit)
	}
	for namespace, want := range releases {
		if got := strings.Join(helmList(s.t, s.c, namespace), " "); got != want {
			s.t.Errorf("helm list -n %s: %q, want %q", namespace, got, want)
		}
	}
	s.proxy.Reset()
	r := s.run(s.args("install")...).succeeds(s.t)
	if w := s.writes(); len(w) > 0 || !strings.Contains(r.stderr, "nothing to do") {
		s.t.Errorf("a second run writes %v, and says:\n%s", w, r.stderr)
	}
}

// remember keeps how all is, for nothing.
func (s *tea) remember() {
	s.t.Helper()
	s.before = snapshotOf(s.t, s.c, s.mine)
}

// nothing waits until all is as it was when it was remembered.
func (s *tea) nothing() {
	s.t.Helper()
	if s.before == nil {
		s.t.Fatal("how it was before was not remembered")
	}
	asBefore(s.t, s.c, s.before, s.mine)
}
