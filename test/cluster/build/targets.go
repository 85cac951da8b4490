package build

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Names of binaries.
const (
	Supervise          = "supervise"
	Etcd               = "etcd"
	APIServer          = "kube-apiserver"
	ControllerManager  = "kube-controller-manager"
	Scheduler          = "kube-scheduler"
	Kubectl            = "kubectl"
	Kwok               = "kwok"
	MetricsServer      = "metrics-server"
	FakeKubelet        = "fakekubelet"
	Loader             = "loader"
	PrometheusOperator = "prometheus-operator"
	CertManager        = "cert-manager"
	Prometheus         = "prometheus"
	TSDBLoad           = "tsdbload"
	Promtool           = "promtool"
)

// Names of sets of manifests.
const (
	ManifestKwokCRDs       = "kwok-crds"
	ManifestKwokStages     = "kwok-stages"
	ManifestKwokMetrics    = "kwok-metrics"
	ManifestPrometheusCRDs = "prometheus-operator-crds"
	ManifestCertCRDs       = "cert-manager-crds"
)

// target is one go build. Without a name it makes several binaries, named by
// the last element of their package.
type target struct {
	name     string
	module   string // directory of the module, below the root
	tags     string
	ldflags  string
	packages []string
}

const (
	stripFlags = "-s -w"
	noTrace    = "grpcnotrace" // lets the linker drop what nobody calls: smaller, faster to link
)

// targets lists what is built, in an order that fails early.
func targets() []target {
	const toolDir = "test/cluster"
	kube := linkerFlags("v1.36.3") + " -X sigs.k8s.io/kwok/pkg/consts.Version=v0.8.0"
	return []target{
		supervisor(),
		{name: Etcd, module: toolDir + "/k8s", tags: noTrace, ldflags: kube, packages: []string{"go.etcd.io/etcd/server/v3"}},
		{module: toolDir + "/k8s", tags: noTrace, ldflags: kube, packages: []string{
			"k8s.io/kubernetes/cmd/kube-apiserver",
			"k8s.io/kubernetes/cmd/kube-controller-manager",
			"k8s.io/kubernetes/cmd/kube-scheduler",
			"k8s.io/kubernetes/cmd/kubectl",
			"sigs.k8s.io/kwok/cmd/kwok",
			"sigs.k8s.io/metrics-server/cmd/metrics-server",
			"./cmd/loader",
			"./cmd/fakekubelet",
		}},
		{name: CertManager, module: toolDir + "/certmanager", ldflags: stripFlags, packages: []string{"."}},
		{
			name: PrometheusOperator, module: toolDir + "/prometheus-operator",
			ldflags:  stripFlags + " -X github.com/prometheus/common/version.Version=0.85.0",
			packages: []string{"github.com/prometheus-operator/prometheus-operator/cmd/operator"},
		},
	}
}

// supervisor starts and ends the processes of a cluster, and of a Prometheus.
func supervisor() target {
	return target{name: Supervise, module: ".", ldflags: stripFlags, packages: []string{"./test/cluster/cmd/supervise"}}
}

// prometheusTargets are the server with its tool, what loads series into it, and what starts and ends it.
func prometheusTargets() []target {
	return []target{
		supervisor(),
		{
			// Of all service discovery only that of Kubernetes is needed: the rest is half of the
			// server, and two thirds of its build.
			module: "test/cluster/prometheus", tags: noTrace + ",remove_all_sd,enable_kubernetes_sd",
			ldflags:  stripFlags + " -X github.com/prometheus/common/version.Version=3.13.0",
			packages: []string{"github.com/prometheus/prometheus/cmd/prometheus", "github.com/prometheus/prometheus/cmd/promtool", "./cmd/tsdbload"},
		},
	}
}

func (t target) String() string {
	if t.name != "" {
		return t.name
	}
	var names []string
	for _, p := range t.packages {
		names = append(names, p[strings.LastIndexByte(p, '/')+1:])
	}
	return strings.Join(names, ", ")
}

func (t target) build(ctx context.Context, root, bin string, log io.Writer) error {
	out := filepath.Join(bin, t.name) + string(filepath.Separator)
	if t.name != "" {
		out = filepath.Join(bin, t.name)
	}
	args := append([]string{"build", "-tags", t.tags, "-ldflags", t.ldflags, "-o", out}, t.packages...)
	cmd := goCommand(ctx, filepath.Join(root, t.module), args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", t, err)
	}
	return nil
}

// manifest is a set of YAML files that a module ships.
type manifest struct {
	name   string
	module string // directory of the tool module, below the root
	from   string // path of the module that ships them
	globs  []string
}

func manifests() []manifest {
	const kwok, kwokDir = "sigs.k8s.io/kwok", "test/cluster/k8s"
	return []manifest{
		{ManifestKwokCRDs, kwokDir, kwok, []string{"kustomize/crd/bases/*.yaml"}},
		{ManifestKwokStages, kwokDir, kwok, []string{
			"kustomize/stage/node/fast/node-*.yaml", "kustomize/stage/node/heartbeat-with-lease/node-*.yaml",
			"kustomize/stage/pod/fast/pod-*.yaml", "kustomize/stage/volume/fast/pv*.yaml",
		}},
		{ManifestKwokMetrics, kwokDir, kwok, []string{
			"kustomize/metrics/resource/metrics-resource.yaml", "kustomize/metrics/usage/usage-from-annotation.yaml",
		}},
		{
			ManifestPrometheusCRDs, "test/cluster/prometheus-operator", "github.com/prometheus-operator/prometheus-operator",
			[]string{"example/prometheus-operator-crd/*.yaml"},
		},
		{ManifestCertCRDs, "test/cluster/certmanager", "github.com/cert-manager/cert-manager", []string{"deploy/crds/*.yaml"}},
	}
}

// copy copies the files out of the module cache. A pattern that matches
// nothing is an error: the module has moved its files.
func (m manifest) copy(ctx context.Context, root, dir string) error {
	out, err := goCommand(ctx, filepath.Join(root, m.module), "list", "-m", "-f", "{{.Dir}}", m.from).Output()
	if err != nil {
		return fmt.Errorf("find module %s: %w", m.from, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("copy %s: %w", m.name, err)
	}
	for _, g := range m.globs {
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), filepath.FromSlash(g)))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("copy %s: module %s has no %s", m.name, m.from, g)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, filepath.Base(f)), b, 0o600)
			}
			if err != nil {
				return fmt.Errorf("copy %s: %w", m.name, err)
			}
		}
	}
	return nil
}
