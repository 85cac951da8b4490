package build

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

func findRoot(t *testing.T) string {
	t.Helper()
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// skewVersions are the versions of Kubernetes that have a module of their own.
func skewVersions(t *testing.T, root string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, skewDir, "*", "go.mod"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no modules in %s: %v", skewDir, err)
	}
	var out []string
	for _, f := range files {
		out = append(out, filepath.Base(filepath.Dir(f)))
	}
	return out
}

// Every staging module is of the release itself: one that the go command selects would make a
// program that was never released.
func TestModulesAreOfOneRelease(t *testing.T) {
	root := findRoot(t)
	for _, version := range skewVersions(t, root) {
		release, err := kubernetesRelease(root, version)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(root, skewDir, version, "go.mod")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := modfile.Parse(file, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		staging := "v0." + strings.TrimPrefix(release, "v1.")
		replaced := map[string]string{}
		for _, r := range m.Replace {
			replaced[r.Old.Path] = r.New.Version
		}
		for _, r := range m.Require {
			name := r.Mod.Path
			// These are no part of a release, and have versions of their own.
			own := slices.Contains([]string{"k8s.io/klog/v2", "k8s.io/kube-openapi", "k8s.io/kubernetes", "k8s.io/utils"}, name)
			if strings.HasPrefix(name, "k8s.io/") && !own && replaced[name] != staging {
				t.Errorf("Kubernetes %s: %s is %s, want %s", version, name, replaced[name], staging)
			}
		}
	}
}

func TestVersionIsToldToThePrograms(t *testing.T) {
	root := findRoot(t)
	for _, version := range skewVersions(t, root) {
		release, err := kubernetesRelease(root, version)
		if err != nil {
			t.Fatal(err)
		}
		if semver.MajorMinor(release) != "v"+version {
			t.Errorf("the module of Kubernetes %s builds %s", version, release)
		}
		r, err := kubernetes(root, version)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"component-base/version.gitVersion=" + release + " ", "gitMajor=1 ", "gitMinor=" + strings.TrimPrefix(version, "1.") + " "} {
			for _, target := range r.targets {
				if !strings.Contains(target.ldflags, want) {
					t.Errorf("%s of Kubernetes %s is not built with %q: %s", target, version, want, target.ldflags)
				}
			}
		}
	}
}

// The recipe builds what Path returns from there.
func TestOlderControlPlane(t *testing.T) {
	root := findRoot(t)
	b := Binaries{Dir: "current", older: "older"}
	for _, version := range skewVersions(t, root) {
		r, err := kubernetes(root, version)
		if err != nil {
			t.Fatal(err)
		}
		var built []string
		for _, target := range r.targets {
			built = append(built, strings.Split(target.String(), ", ")...)
		}
		if !slices.Equal(built, controlPlane()) {
			t.Errorf("Kubernetes %s builds %v, want %v", version, built, controlPlane())
		}
	}
	for name, want := range map[string]string{APIServer: "older", Etcd: "older", Kubectl: "older", Kwok: "current", Supervise: "current", Loader: "current"} {
		if got := b.Path(name); got != filepath.Join(want, "bin", name) {
			t.Errorf("%s is %s, want the one of %s", name, got, want)
		}
		if got := (Binaries{Dir: "current"}).Path(name); got != filepath.Join("current", "bin", name) {
			t.Errorf("without another version %s is %s", name, got)
		}
	}
	if got := b.Manifests(ManifestKwokCRDs); got != filepath.Join("current", "manifests", ManifestKwokCRDs) {
		t.Errorf("manifests are in %s", got)
	}
}

// A version without a module is refused before anything is built.
func TestUnknownVersion(t *testing.T) {
	for _, version := range []string{"1.2", "33", "../k8s", "v1.33", "1.33.13"} {
		t.Setenv(KubernetesVariable, version)
		t.Setenv(CacheVariable, t.TempDir())
		_, err := All(t.Context(), t.Output())
		if err == nil || !strings.Contains(err.Error(), version) {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// Builds of other versions are next to the current one, which they do not change.
func TestKeys(t *testing.T) {
	root := findRoot(t)
	own, err := current().key(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(KubernetesVariable, skewVersions(t, root)[0])
	again, err := current().key(t.Context(), root)
	if err != nil || again != own {
		t.Errorf("the key of the current build is %s and then %s: %v", own, again, err)
	}
	for _, version := range skewVersions(t, root) {
		r, err := kubernetes(root, version)
		if err != nil {
			t.Fatal(err)
		}
		key, err := r.key(t.Context(), root)
		if err != nil || key == own || r.name != "kubernetes-"+version+"-" {
			t.Errorf("the build of Kubernetes %s is %s%s, beside %s: %v", version, r.name, key, own, err)
		}
	}
}
