package installer

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	helmchart "helm.sh/helm/v4/pkg/chart/common"

	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// counting refuses every request, and counts them.
type counting struct{ requests atomic.Int32 }

func (c *counting) RoundTrip(*http.Request) (*http.Response, error) {
	c.requests.Add(1)
	return nil, errors.New("no network here")
}

const bundledManifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "quay.io/x/web:1"}]}}
`

// bundled writes a bundle of one operator, whose manifest was fetched from an address, with a
// change to its files.
func bundled(t *testing.T, change func(files map[string][]byte)) string {
	t.Helper()
	e := catalog.Entry{Name: "web", Title: "Web", Description: "Serves.", Source: []string{"https://example.com"}}
	v := &catalog.Version{Version: "1.0.0", Namespace: "web", Source: catalog.Source{Manifests: []catalog.ManifestSource{{URL: "https://example.com/web.yaml"}}}}
	files, err := bundle.Files(bundle.Contents{Name: "web", Packages: []bundle.Package{{Entry: e, Version: v, Artifacts: []fetch.Artifact{{Data: []byte(bundledManifest)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(files)
	}
	packed, err := bundle.Write(files)
	if err != nil {
		t.Fatal(err)
	}
	return bundledFile(t, packed)
}

func bundledFile(t *testing.T, packed []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "web.tar")
	if err := os.WriteFile(name, packed, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// offline opens a bundle as install --offline does, with a transport that counts.
func offline(t *testing.T, name string) (*partLoader, *counting, error) {
	t.Helper()
	network, cache := &counting{}, t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", cache)
	all, err := catalogs.Load(t.Context(), catalogs.Options{Offline: true, Bundle: name, Transport: network, Getenv: func(name string) string {
		return map[string]string{"KUBECTL_SYSOP_CACHE": cache}[name]
	}}, nil)
	if err != nil {
		return nil, network, err
	}
	req := &Request{ImageRegistry: "mirror.local:5000"}
	return newPartLoader(req, all, source.BuiltInKinds(), "", slices.Clone(helmchart.DefaultCapabilities.APIVersions)), network, nil
}

// compose makes the parts of a package.
func composeOne(t *testing.T, c *partLoader, name string) error {
	t.Helper()
	e, err := c.cats.Installable(name)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := e.Latest()
	return c.packages(t.Context(), []solve.Choice{{Package: solve.Package{Name: name, Version: v.Version}}})
}

func TestOfflineSendsNothing(t *testing.T) {
	c, network, err := offline(t, bundled(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := composeOne(t, c, "web"); err != nil {
		t.Fatal(err)
	}
	if got := c.parts[0].Rendered.Images; !slices.Equal(got, []string{"mirror.local:5000/x/web:1"}) {
		t.Errorf("images %q", got)
	}
	// What the bundle has not cannot be had.
	err = composeOne(t, c, "cert-manager")
	if err == nil || !strings.Contains(err.Error(), "cert-manager") {
		t.Errorf("want an error of cert-manager, got %v", err)
	}
	if n := network.requests.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
	if _, _, err := offline(t, "https://example.com/web.tar#sha256:"+strings.Repeat("a", 64)); err == nil {
		t.Error("a bundle was fetched")
	}
}

// A bundle that is not what was written is refused, whatever it is that was changed.
func TestBundleRefused(t *testing.T) {
	good, err := os.ReadFile(bundled(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(bytes.Clone(good), []byte("quay.io/x/web"), []byte("quay.io/y/web"), 1)
	raw := func(files map[string][]byte) []byte {
		packed, err := fetch.Pack(files)
		if err != nil {
			t.Fatal(err)
		}
		return packed
	}
	sum := strings.TrimPrefix(fetch.Digest([]byte("x")), "sha256:")
	for want, packed := range map[string][]byte{
		"the bundle was changed or is damaged": changed,
		"incomplete":                           good[:len(good)-1024],
		"it has no checksums.txt":              raw(map[string][]byte{"catalog/web.yaml": []byte("x")}),
		"is missing":                           raw(map[string][]byte{"a": []byte("x"), bundle.Checksums: []byte(sum + "  a\n" + sum + "  b\n")}),
		"leads out of the archive":             bytes.Replace(bytes.Clone(raw(map[string][]byte{"zz/evil.yaml": []byte("x")})), []byte("zz/evil.yaml"), []byte("../evil.yaml"), 1),
	} {
		if want == "leads out of the archive" {
			packed = rehead(packed)
		}
		c, _, err := offline(t, bundledFile(t, packed))
		if err == nil || !strings.Contains(err.Error(), want) || c != nil {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// rehead puts right the checksum of the first header of a tar.
func rehead(packed []byte) []byte {
	header := packed[:512]
	copy(header[148:156], "        ")
	sum := 0
	for _, b := range header {
		sum += int(b)
	}
	digits := []byte("000000\x00 ")
	for i := 5; i >= 0; i-- {
		digits[i] = byte('0' + sum%8)
		sum /= 8
	}
	copy(header[148:156], digits)
	return packed
}

// An entry of a bundle cannot name what is outside of it, nor another digest than the file has.
func TestBundleEntryOutside(t *testing.T) {
	entry := bundle.Entries + "/web.yaml"
	for want, change := range map[string]func(string) string{
		"leaves the catalog": func(text string) string {
			return strings.Replace(text, "manifests/web-1.0.0/00.yaml", "../system.yaml", 1)
		},
		"wrong digest": func(text string) string {
			return strings.Replace(text, strings.TrimPrefix(fetch.Digest([]byte(bundledManifest)), "sha256:"), strings.Repeat("a", 64), 1)
		},
		"manifests/web-2.0.0": func(text string) string { return strings.Replace(text, "web-1.0.0", "web-2.0.0", 1) },
	} {
		c, network, err := offline(t, bundled(t, func(files map[string][]byte) {
			text := string(files[entry])
			if files[entry] = []byte(change(text)); string(files[entry]) == text {
				t.Fatal("nothing was changed")
			}
		}))
		if err == nil { // else it was refused as soon as it was read
			err = composeOne(t, c, "web")
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
		if n := network.requests.Load(); n != 0 {
			t.Errorf("%s: %d requests", want, n)
		}
	}
}
