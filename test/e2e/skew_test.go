package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/build"
)

// controlPlane is the module that the control plane of this run is built of.
func controlPlane() string {
	if version := os.Getenv(build.KubernetesVariable); version != "" {
		return filepath.Join("skew", version)
	}
	return "k8s"
}

// The server is the one that is asked for: a run beside an older Kubernetes that had the
// current one would say nothing. kubectl of its release finds the plugin, and what it does not
// serve is neither a gap nor an error.
func TestControlPlane(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	module, err := os.ReadFile(filepath.Join("..", "cluster", controlPlane(), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`k8s\.io/kubernetes (v[0-9.]+)`).FindSubmatch(module)
	if want == nil {
		t.Fatalf("%s requires no k8s.io/kubernetes", controlPlane())
	}
	version, err := admin(c).Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != string(want[1]) {
		t.Errorf("the server is %s, want %s", version.GitVersion, want[1])
	}
	ns := c.Namespace(t)
	applied(t, c, ns, "deployment.yaml")
	for _, args := range [][]string{{"graph", "deployment/web"}, {"check", "deployment/web"}, {"health", "deployment/web"}} {
		t.Run(args[0], func(t *testing.T) {
			throughKubectl(t, c, append(args, "-n", ns, "-o", "json")...)
		})
	}
}

// throughKubectl runs the plugin as kubectl of the server's release does, and wants a whole
// answer: no gap, nothing on stderr.
func throughKubectl(t *testing.T, c *cluster.Cluster, args ...string) {
	t.Helper()
	home := t.TempDir()
	if err := os.Symlink(plugin, filepath.Join(home, "kubectl-sysop")); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), c.Binaries().Path(build.Kubectl), append([]string{"sysop"}, args...)...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + home, "TMPDIR=" + os.TempDir(), "KUBECONFIG=" + c.Kubeconfig}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.String())
	}
	var doc struct{ Gaps []gap }
	if err := json.Unmarshal([]byte(stdout.String()), &doc); err != nil {
		t.Fatalf("%v: %v in:\n%s", args, err, stdout.String())
	}
	if len(doc.Gaps) > 0 || stderr.Len() > 0 {
		t.Errorf("%v: gaps %+v, stderr:\n%s", args, doc.Gaps, stderr.String())
	}
}

// olderDevices are the flags of an older API server by which it serves resource.k8s.io, and the
// version that it prefers then: v1 came with 1.34.
var olderDevices = map[string]struct {
	version string
	flags   []string
}{
	"1.33": {"v1beta2", []string{
		"--feature-gates=DynamicResourceAllocation=true",
		"--runtime-config=resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true",
	}},
}

// Devices in the version that the plugin knows are followed to their class. In another one
// claims are found by who names them, and it is said of each kind that its fields were not read:
// never that a claim needs nothing.
func TestDevices(t *testing.T) {
	t.Parallel()
	older, isOlder := olderDevices[os.Getenv(build.KubernetesVariable)]
	version := "v1"
	if isOlder {
		version = older.version
	}
	c := cluster.StartFor(t, cluster.Options{APIServerFlags: older.flags})
	applyText(t, c, strings.ReplaceAll(devices, "VERSION", version))
	d := graph(t, c.Kubeconfig, "deployment/model", "-n", "default")
	const model = "Deployment.apps/default/model"
	want := []string{
		model + " --needs--> ResourceClaim.resource.k8s.io/default/card",
		model + " --needs--> ResourceClaimTemplate.resource.k8s.io/default/cards",
	}
	var wantGaps []string
	if isOlder {
		wantGaps = []string{"resourceclaims.resource.k8s.io UnknownVersion", "resourceclaimtemplates.resource.k8s.io UnknownVersion"}
	} else {
		want = append(
			want,
			"ResourceClaim.resource.k8s.io/default/card --needs--> DeviceClass.resource.k8s.io/gpu",
			"ResourceClaimTemplate.resource.k8s.io/default/cards --needs--> DeviceClass.resource.k8s.io/gpu",
		)
	}
	var got, gaps []string
	for _, e := range d.Edges {
		if strings.Contains(e.To, ".resource.k8s.io/") {
			got = append(got, e.line())
		}
	}
	for _, g := range d.Gaps {
		gaps = append(gaps, g.Resource+" "+g.Reason)
	}
	slices.Sort(got)
	slices.Sort(gaps)
	if !slices.Equal(got, want) {
		t.Errorf("edges to devices:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Equal(gaps, wantGaps) || len(d.Problems) > 0 {
		t.Errorf("gaps %+v, want %q; problems %+v", d.Gaps, wantGaps, d.Problems)
	}
}

// devices is a Deployment that takes one device by a claim and one by a template.
const devices = `
apiVersion: resource.k8s.io/VERSION
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
---
apiVersion: resource.k8s.io/VERSION
kind: ResourceClaim
metadata: {name: card, namespace: default}
spec: {devices: {requests: [{name: one, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: resource.k8s.io/VERSION
kind: ResourceClaimTemplate
metadata: {name: cards, namespace: default}
spec: {spec: {devices: {requests: [{name: one, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: model, namespace: default}
spec:
  selector: {matchLabels: {app: model}}
  template:
    metadata: {labels: {app: model}}
    spec:
      containers: [{name: c, image: c, resources: {claims: [{name: own}, {name: shared}]}}]
      resourceClaims: [{name: own, resourceClaimTemplateName: cards}, {name: shared, resourceClaimName: card}]
`

// skewLine is a line of testdata/skew.txt.
var skewLine = regexp.MustCompile(`^(?:run ([a-z0-9_]+_test\.go)|omit (1\.[0-9]+) (Test\S+)) \S.*\S$`)

// The list that make skew reads names files and tests that there are, each once.
func TestSkewList(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "skew.txt"))
	if err != nil {
		t.Fatal(err)
	}
	seen, tests, omitted := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := skewLine.FindStringSubmatch(line)
		if m == nil || seen[m[1]+m[2]+m[3]] {
			t.Errorf("what is no run or omit with a reason, or is listed before: %q", line)
			continue
		}
		seen[m[1]+m[2]+m[3]] = true
		if m[3] != "" {
			name, _, _ := strings.Cut(m[3], "/")
			omitted[name] = true
			continue
		}
		source, err := os.ReadFile(m[1])
		if err != nil {
			t.Error(err)
		}
		found := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`).FindAllStringSubmatch(string(source), -1)
		if len(found) == 0 {
			t.Errorf("%s has no tests", m[1])
		}
		for _, f := range found {
			tests[f[1]] = true
		}
	}
	for name := range omitted {
		if !tests[name] {
			t.Errorf("%s is omitted, and is in no file that is run", name)
		}
	}
}
