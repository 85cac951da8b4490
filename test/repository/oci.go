package repository

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

// ServeOCI runs a registry that speaks plain http, and returns its host: 127.0.0.1:PORT.
func ServeOCI(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// Layer is a part of what is pushed.
type Layer struct {
	MediaType string
	Data      []byte
	// URLs make it a foreign layer, which is not pushed.
	URLs []string
}

// Media types as Helm writes them.
const (
	ChartConfig     = "application/vnd.cncf.helm.config.v1+json"
	ChartLayer      = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	ProvenanceLayer = "application/vnd.cncf.helm.chart.provenance.v1.prov"
	CatalogueLayer  = "application/vnd.oci.image.layer.v1.tar"
)

// PushChart pushes the archive of a chart, and its provenance where that is not nil, to
// HOST/PATH:TAG, and returns the digest of the manifest.
func PushChart(t testing.TB, ref string, archive, provenance []byte) string {
	t.Helper()
	config, err := json.Marshal(chartYAML(t, ref, archive))
	if err != nil {
		t.Fatal(err)
	}
	layers := []Layer{{MediaType: ChartLayer, Data: archive}}
	if provenance != nil {
		layers = append(layers, Layer{MediaType: ProvenanceLayer, Data: provenance})
	}
	return Push(t, ref, Layer{MediaType: ChartConfig, Data: config}, layers, nil)
}

// PushCatalogue pushes a tar with its signature, and returns the digest of the manifest.
func PushCatalogue(t testing.TB, ref string, archive []byte, signature string) string {
	t.Helper()
	annotations := map[string]string{}
	if signature != "" {
		annotations["sysop.dev/signature"] = signature
	}
	empty := Layer{MediaType: "application/vnd.oci.empty.v1+json", Data: []byte("{}")}
	return Push(t, ref, empty, []Layer{{MediaType: CatalogueLayer, Data: archive}}, annotations)
}

// Push pushes layers under a manifest, and returns the digest of that.
func Push(t testing.TB, ref string, config Layer, layers []Layer, annotations map[string]string) string {
	t.Helper()
	host, name, tag := parts(t, ref)
	descriptors := []map[string]any{}
	for _, layer := range layers {
		descriptors = append(descriptors, pushLayer(t, host, name, layer))
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": pushLayer(t, host, name, config), "layers": descriptors, "annotations": annotations,
	})
	if err != nil {
		t.Fatal(err)
	}
	return PushManifest(t, host+"/"+name+":"+tag, "application/vnd.oci.image.manifest.v1+json", manifest)
}

// PushManifest pushes a manifest as it is, and returns its digest.
func PushManifest(t testing.TB, ref, mediaType string, manifest []byte) string {
	t.Helper()
	host, name, tag := parts(t, ref)
	send(t, http.MethodPut, "http://"+host+"/v2/"+name+"/manifests/"+tag, mediaType, manifest)
	return digest(manifest)
}

func parts(t testing.TB, ref string) (host, name, tag string) {
	t.Helper()
	host, rest, ok := strings.Cut(strings.TrimPrefix(ref, "oci://"), "/")
	at := strings.LastIndex(rest, ":")
	if !ok || at < 0 {
		t.Fatalf("%s is not HOST/PATH:TAG", ref)
	}
	return host, rest[:at], rest[at+1:]
}

func pushLayer(t testing.TB, host, name string, layer Layer) map[string]any {
	t.Helper()
	descriptor := map[string]any{"mediaType": layer.MediaType, "digest": digest(layer.Data), "size": len(layer.Data)}
	if len(layer.URLs) > 0 {
		descriptor["urls"] = layer.URLs
		return descriptor
	}
	at := fmt.Sprintf("http://%s/v2/%s/blobs/uploads/?digest=%s", host, name, digest(layer.Data))
	send(t, http.MethodPost, at, "application/octet-stream", layer.Data)
	return descriptor
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func send(t testing.TB, method, at, contentType string, data []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, at, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		t.Fatalf("%s %s: %s: %s", method, at, response.Status, body)
	}
}
