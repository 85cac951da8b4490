package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// KubernetesVariable names the environment variable that selects another version of Kubernetes for
// the control plane, as 1.33: a directory below test/cluster/skew with a module for it. Everything
// else is the same as without it.
const KubernetesVariable = "SYSOP_KUBERNETES"

// skewDir has a module for each other version of Kubernetes.
const skewDir = "test/cluster/skew"

// controlPlane lists the programs that come from the module of another version. etcd
// is the one that its API server was released with; kubectl is what its users have.
func controlPlane() []string {
	return []string{Etcd, APIServer, ControllerManager, Scheduler, Kubectl}
}

// findOlder returns the build that KubernetesVariable selects, and an empty name if it is not set.
func findOlder(ctx context.Context, root, cache string, log io.Writer) (string, error) {
	version := os.Getenv(KubernetesVariable)
	if version == "" {
		return "", nil
	}
	r, err := kubernetes(root, version)
	if err != nil {
		return "", err
	}
	return r.find(ctx, root, cache, log)
}

// kubernetes is the build of another version's control plane.
func kubernetes(root, version string) (recipe, error) {
	release, err := kubernetesRelease(root, version)
	if err != nil {
		return recipe{}, err
	}
	dir := path.Join(skewDir, version)
	flags := linkerFlags(release)
	return recipe{what: "the control plane of Kubernetes " + version, takes: 8 * time.Minute, name: "kubernetes-" + version + "-", sources: []string{dir}, targets: []target{
		{name: Etcd, module: dir, tags: noTrace, ldflags: flags, packages: []string{"go.etcd.io/etcd/server/v3"}},
		{module: dir, tags: noTrace, ldflags: flags, packages: []string{
			"k8s.io/kubernetes/cmd/kube-apiserver",
			"k8s.io/kubernetes/cmd/kube-controller-manager",
			"k8s.io/kubernetes/cmd/kube-scheduler",
			"k8s.io/kubernetes/cmd/kubectl",
		}},
	}}, nil
}

// kubernetesRelease is the release of k8s.io/kubernetes that the version's module requires.
func kubernetesRelease(root, version string) (string, error) {
	versions, err := os.ReadDir(filepath.Join(root, skewDir))
	if err != nil {
		return "", fmt.Errorf("look for other versions of Kubernetes: %w", err)
	}
	var names []string
	for _, v := range versions {
		names = append(names, v.Name())
	}
	file := filepath.Join(root, skewDir, version, "go.mod")
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is %q: want one of %s", KubernetesVariable, version, strings.Join(names, ", "))
	}
	if err != nil {
		return "", fmt.Errorf("read the module of Kubernetes %s: %w", version, err)
	}
	m, err := modfile.Parse(file, b, nil)
	if err != nil {
		return "", fmt.Errorf("read the module of Kubernetes %s: %w", version, err)
	}
	for _, r := range m.Require {
		if r.Mod.Path == "k8s.io/kubernetes" && semver.MajorMinor(r.Mod.Version) == "v"+version {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("read the module of Kubernetes %s: it requires no k8s.io/kubernetes v%[1]s.x", version)
}

// linkerFlags returns those with the version of the programs of a release; clients see it.
func linkerFlags(release string) string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(semver.MajorMinor(release), "v"), ".")
	return stripFlags +
		" -X k8s.io/component-base/version.gitVersion=" + release +
		" -X k8s.io/component-base/version.gitMajor=" + major +
		" -X k8s.io/component-base/version.gitMinor=" + minor +
		" -X k8s.io/component-base/version.gitCommit=test" +
		" -X k8s.io/component-base/version.gitTreeState=clean" +
		" -X k8s.io/component-base/version.buildDate=2026-01-01T00:00:00Z" +
		" -X k8s.io/client-go/pkg/version.gitVersion=" + release
}
