package fetch_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
	"github.com/kubectl-sysop/kubectl-sysop/test/repository"
)

func TestRegistryChart(t *testing.T) {
	host := repository.ServeOCI(t)
	archive := chartOf(t, "db", "1.2.3+build")
	digest := repository.PushChart(t, host+"/charts/db:1.2.3_build", archive, []byte("signed"))
	other := repository.PushChart(t, host+"/charts/db:2.0.0", chartOf(t, "db", "2.0.0"), nil)
	at, cache := "oci://"+host+"/charts/db", t.TempDir()
	f := newFetcher(t, fetch.Options{PlainHTTP: true, Cache: cache})
	source := catalog.ChartSource{OCI: at, Version: "1.2.3+build", Digest: digest}
	for i, source := range []catalog.ChartSource{source, {OCI: at, Digest: digest}, {OCI: at + ":1.2.3_build@" + digest}} {
		got, err := f.Chart(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		mustBe(t, got, archive, i > 0, fetch.ByDigest)
		noted(t, got, "not checked: no keyring")
		if got.Digest != digest {
			t.Errorf("digest %s, want %s", got.Digest, digest)
		}
	}
	got, err := newFetcher(t, fetch.Options{Offline: true, Cache: cache}).Chart(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, true, fetch.ByDigest)
	fresh := newFetcher(t, fetch.Options{PlainHTTP: true})
	_, err = fresh.Chart(t.Context(), catalog.ChartSource{OCI: at, Version: "2.0.0", Digest: digest})
	refused(t, err, "db 2.0.0 from "+at, "says "+digest, "has "+other, "the tag was moved")
	_, err = fresh.Chart(t.Context(), catalog.ChartSource{OCI: at, Version: "2.0.0"})
	refused(t, err, "has no digest")
	_, err = fresh.Chart(t.Context(), catalog.ChartSource{OCI: at, Version: "3.0.0", Digest: digest})
	refused(t, err, "404", "manifests/3.0.0")
	_, err = newFetcher(t, fetch.Options{}).Chart(t.Context(), source)
	refused(t, err, "https")
	_, err = newFetcher(t, fetch.Options{Offline: true, PlainHTTP: true}).Chart(t.Context(), source)
	refused(t, err, "not in the cache", "offline")
	if got, err = newFetcher(t, fetch.Options{Unverified: true, PlainHTTP: true}).Chart(t.Context(), catalog.ChartSource{OCI: at, Version: "2.0.0"}); err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, got.Data, false)
	noted(t, got, "is unverified")
	for want, bad := range map[string]catalog.ChartSource{
		"write oci://HOST/PATH":      {OCI: "https://" + host, Digest: digest},
		"invalid":                    {OCI: "oci://" + host + "/UPPER", Digest: digest},
		"neither a tag nor a digest": {OCI: at},
		"invalid reference":          {OCI: at, Version: "../../x", Digest: digest},
	} {
		_, err := newFetcher(t, fetch.Options{Unverified: true, PlainHTTP: true}).Chart(t.Context(), bad)
		refused(t, err, want)
	}
}

// TestRegistryTricks has manifests and layers that are not what they should be.
func TestRegistryTricks(t *testing.T) {
	host := repository.ServeOCI(t)
	archive := chartOf(t, "db", "1.0.0")
	config := repository.Layer{MediaType: repository.ChartConfig, Data: []byte("{}")}
	content := repository.Layer{MediaType: repository.ChartLayer, Data: archive}
	f := newFetcher(t, fetch.Options{PlainHTTP: true, Limits: fetch.Limits{Bytes: 5 << 20}})
	for want, layers := range map[string][]repository.Layer{
		"outside of the registry: refused": {{MediaType: repository.ChartLayer, Data: archive, URLs: []string{"http://elsewhere.example/x"}}},
		"is it a chart?":                   {{MediaType: "application/vnd.oci.image.layer.v1.tar", Data: archive}},
		"has two layers of the media type": {content, {MediaType: repository.ChartLayer, Data: []byte("another")}},
		"it has no layers":                 {},
		"the limit is 5242880":             {{MediaType: repository.ChartLayer, Data: make([]byte, 5<<20+1)}},
	} {
		digest := repository.Push(t, host+"/charts/db:1.0.0", config, layers, nil)
		_, err := f.Chart(t.Context(), catalog.ChartSource{OCI: "oci://" + host + "/charts/db", Digest: digest})
		refused(t, err, want)
	}
}

// TestRegistryManifests has a registry of our own, which lies.
func TestRegistryManifests(t *testing.T) {
	archive := chartOf(t, "db", "1.0.0")
	layer := func(digest string, size int) string {
		text, err := json.Marshal(map[string]any{"layers": []any{map[string]any{"mediaType": repository.ChartLayer, "digest": digest, "size": size}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, test := range map[string]struct{ manifest, want string }{
		"giant":          {strings.Repeat(" ", 4<<20+1), "4194304"},
		"no json":        {"\x1b[2J", "invalid character"},
		"an index":       {`{"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`, "image.index.v1+json, expected"},
		"an array":       {`[]`, "cannot unmarshal"},
		"negative size":  {layer(fetch.Digest(archive), -5), "negative size"},
		"lying size":     {layer(fetch.Digest(archive), len(archive)-1), "bytes, and the limit is"},
		"lying digest":   {layer(fetch.Digest([]byte("x")), len(archive)), "the manifest says"},
		"another digest": {layer("sha512:"+strings.Repeat("a", 128), len(archive)), "only sha256 is supported"},
		"bad digest":     {layer("sha256:../../x", len(archive)), "is not a digest"},
	} {
		t.Run(name, func(t *testing.T) {
			at := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "/manifests/") {
					fmt.Fprint(w, test.manifest)
					return
				}
				_, _ = w.Write(archive)
			})
			cache := t.TempDir()
			f := newFetcher(t, fetch.Options{PlainHTTP: true, Unverified: true, Cache: cache})
			_, err := f.Chart(t.Context(), catalog.ChartSource{OCI: "oci://" + strings.TrimPrefix(at, "http://") + "/db", Version: "1.0.0"})
			refused(t, err, test.want)
			if kept, _ := filepath.Glob(filepath.Join(cache, "sha256", ".part*")); len(kept) > 0 {
				t.Errorf("left behind: %q", kept)
			}
		})
	}
}

// TestRegistryLogin has a registry that asks for a password: it is the one that docker keeps,
// it is not changed, and it does not go to the host of a redirect.
func TestRegistryLogin(t *testing.T) {
	archive := chartOf(t, "db", "1.0.0")
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the password went to another host")
		}
		_, _ = w.Write(archive)
	})
	manifest := fmt.Sprintf(`{"layers":[{"mediaType":%q,"digest":%q,"size":%d}]}`, repository.ChartLayer, fetch.Digest(archive), len(archive))
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user != "me" || password != "secret":
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		case strings.Contains(r.URL.Path, "/manifests/"):
			fmt.Fprint(w, manifest)
		default:
			http.Redirect(w, r, otherHost(t, elsewhere), http.StatusTemporaryRedirect)
		}
	})
	host := strings.TrimPrefix(at, "http://")
	source := catalog.ChartSource{OCI: "oci://" + host + "/db", Version: "1.0.0", Digest: fetch.Digest([]byte(manifest))}
	f := newFetcher(t, fetch.Options{PlainHTTP: true})
	_, err := f.Chart(t.Context(), source)
	refused(t, err, "helm registry login "+host)
	config := filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json")
	text := fmt.Sprintf(`{"auths":{%q:{"auth":"bWU6c2VjcmV0"}}}`, host)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err = fetch.New(fetch.Options{PlainHTTP: true}); err != nil {
		t.Fatal(err)
	}
	got, err := f.Chart(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	mustBe(t, got, archive, false, fetch.ByDigest)
	if after, err := os.ReadFile(config); err != nil || string(after) != text {
		t.Errorf("the configuration is now %s, %v", after, err)
	}
}

// TestRegistryRealm has a registry that wants the password sent in the clear to another host.
func TestRegistryRealm(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="http://tokens.example.com/",service="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	f := newFetcher(t, fetch.Options{PlainHTTP: true})
	_, err := f.Chart(t.Context(), catalog.ChartSource{OCI: "oci://" + strings.TrimPrefix(at, "http://") + "/db", Digest: fetch.Digest(nil)})
	refused(t, err, "tokens.example.com", "over https only")
}
