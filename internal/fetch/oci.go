package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// Media types of charts in registries, as Helm writes them.
const (
	chartLayer      = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	provenanceLayer = "application/vnd.cncf.helm.chart.provenance.v1.prov"
)

const maxManifestBytes = 4 << 20

// place is where something is in a registry.
type place struct {
	registry.Reference
	tag, digest string
	plain       bool
}

// placeOf parses oci://HOST/PATH[:TAG][@DIGEST].
func (f *Fetcher) placeOf(text string) (place, error) {
	if field.URLScheme(text) != "oci" {
		return place{}, fmt.Errorf("%s is not an address in a registry: write oci://HOST/PATH", plain(text))
	}
	rest, digest, _ := strings.Cut(text[len("oci://"):], "@")
	digest, err := parseDigest(digest)
	if err != nil {
		return place{}, err
	}
	ref, err := registry.ParseReference(rest)
	if err != nil {
		return place{}, safeError{err}
	}
	out := place{Reference: ref, tag: ref.Reference, digest: digest}
	host, _, _ := strings.Cut(ref.Registry, ":")
	if u, err := url.Parse("http://" + ref.Registry); err == nil {
		host = u.Hostname()
	}
	out.plain = f.options.PlainHTTP && isLoopback(host)
	return out, nil
}

func (p place) String() string {
	out := "oci://" + p.Registry + "/" + p.Repository
	if p.tag != "" {
		out += ":" + p.tag
	}
	if p.digest != "" {
		out += "@" + p.digest
	}
	return out
}

// fromRegistry gets a manifest ("manifests") or a blob ("blobs"), by tag or by digest.
func (f *Fetcher) fromRegistry(ctx context.Context, p place, kind, name, accept string, most int64) ([]byte, error) {
	return f.fromRegistryAt(ctx, p, p.url(kind, name, nil), strings.HasPrefix(name, digestPrefix), accept, most)
}

// url is the address of something of the place, in the registry's API.
func (p place) url(kind, name string, query url.Values) *url.URL {
	u := &url.URL{Scheme: "https", Host: p.Host(), Path: path.Join("/v2", p.Repository, kind, name), RawQuery: query.Encode()}
	if p.plain {
		u.Scheme = "http"
	}
	return u
}

// fromRegistryAt gets what is at an address of a registry; pinned says that the address holds its digest.
func (f *Fetcher) fromRegistryAt(ctx context.Context, p place, u *url.URL, pinned bool, accept string, most int64) ([]byte, error) {
	ctx = auth.AppendRepositoryScope(ctx, p.Reference, auth.ActionPull)
	data, err := f.receive(withPin(ctx, pinned), f.registry, u, accept, most)
	var status *statusError
	switch {
	case errors.Is(err, auth.ErrBasicCredentialNotFound),
		errors.As(err, &status) && (status.status == http.StatusUnauthorized || status.status == http.StatusForbidden):
		return nil, fmt.Errorf("get %s: %w; to log in: helm registry login %s", shown(u), err, p.Registry)
	case err != nil:
		return nil, fmt.Errorf("get %s: %w", shown(u), err)
	}
	return data, nil
}

// manifestOf gets a manifest and the digest that it has. A tag has to lead to the digest where
// there are both.
func (f *Fetcher) manifestOf(ctx context.Context, p place) (manifest ocispec.Manifest, digest string, notes []string, err error) {
	data, note := f.recall(p.digest)
	notes = appendNote(nil, note)
	if data == nil {
		name := p.tag
		if name == "" {
			name = p.digest
		}
		if name == "" {
			return manifest, "", notes, fmt.Errorf("%s has neither a tag nor a digest", p)
		}
		if data, err = f.fromRegistry(ctx, p, "manifests", name, ocispec.MediaTypeImageManifest, maxManifestBytes); err != nil {
			return manifest, "", notes, err
		}
	}
	digest = Digest(data)
	if p.digest != "" && p.digest != digest {
		return manifest, "", notes, fmt.Errorf("wrong digest: the catalog says %s, and %s:%s has %s: the tag was moved, or this is another registry; nothing was stored",
			p.digest, p.Repository, p.tag, digest)
	}
	if manifest, err = parseManifest(data); err != nil {
		return manifest, "", notes, fmt.Errorf("read the manifest of %s: %w", p, err)
	}
	f.keep(ctx, digest, "", data)
	return manifest, digest, notes, nil
}

func parseManifest(data []byte) (ocispec.Manifest, error) {
	var manifest ocispec.Manifest
	if err := json.Unmarshal(data, &manifest); err != nil {
		return manifest, safeError{err}
	}
	if manifest.MediaType != "" && manifest.MediaType != ocispec.MediaTypeImageManifest {
		return manifest, fmt.Errorf("it is of the media type %s, expected %s", plain(manifest.MediaType), ocispec.MediaTypeImageManifest)
	}
	if len(manifest.Layers) == 0 {
		return manifest, errors.New("it has no layers; expected an image manifest with one")
	}
	return manifest, nil
}

// layer is the one layer of a media type; nil for none.
func layer(manifest ocispec.Manifest, mediaType string) (*ocispec.Descriptor, error) {
	var found *ocispec.Descriptor
	for i := range manifest.Layers {
		if manifest.Layers[i].MediaType != mediaType {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("it has two layers of the media type %s", mediaType)
		}
		found = &manifest.Layers[i]
	}
	return found, nil
}

// blob gets the content of a layer.
func (f *Fetcher) blob(ctx context.Context, p place, layer ocispec.Descriptor, most int64) (data []byte, cached bool, notes []string, err error) {
	if len(layer.URLs) > 0 {
		return nil, false, nil, fmt.Errorf("a layer is at %s, outside of the registry: refused", plain(layer.URLs[0]))
	}
	if !strings.HasPrefix(layer.Digest.String(), digestPrefix) {
		return nil, false, nil, fmt.Errorf("a layer has the digest %s: only sha256 is supported", plain(layer.Digest.String()))
	}
	digest, err := parseDigest(layer.Digest.String())
	if err != nil {
		return nil, false, nil, err
	}
	if layer.Size < 0 {
		return nil, false, nil, fmt.Errorf("layer %s has a negative size: %d", digest, layer.Size)
	}
	if layer.Size > most {
		return nil, false, nil, fmt.Errorf("layer %s: %w", digest, tooLarge(layer.Size, most))
	}
	data, note := f.recall(digest)
	if data != nil {
		return data, true, nil, nil
	}
	if data, err = f.fromRegistry(ctx, p, "blobs", digest, "", layer.Size); err != nil {
		return nil, false, nil, err
	}
	if err := check(data, digest, "the manifest"); err != nil {
		return nil, false, nil, err
	}
	f.keep(ctx, digest, "", data)
	return data, false, appendNote(nil, note), nil
}

func (f *Fetcher) registryChart(ctx context.Context, source catalog.ChartSource) (Artifact, error) {
	p, err := f.placeOf(source.OCI)
	if err != nil {
		return Artifact{}, err
	}
	if source.Version != "" {
		// A tag has no +, so Helm writes _.
		p.tag = strings.ReplaceAll(source.Version, "+", "_")
		p.Reference.Reference = p.tag
		if err := p.ValidateReferenceAsTag(); err != nil {
			return Artifact{}, safeError{err}
		}
	}
	if source.Digest != "" {
		p.digest = source.Digest
	}
	artifact := Artifact{From: p.String()}
	if p.digest == "" && f.keyring == nil {
		note, err := f.unverified("it")
		if err != nil {
			return Artifact{}, err
		}
		artifact.Notes = appendNote(artifact.Notes, note)
	}
	manifest, digest, notes, err := f.manifestOf(ctx, p)
	if err != nil {
		return Artifact{}, err
	}
	archive, err := layer(manifest, chartLayer)
	if err == nil && archive == nil {
		err = fmt.Errorf("its layers are %s, and none is %s: is it a chart?", some(mediaTypes(manifest)), chartLayer)
	}
	if err != nil {
		return Artifact{}, err
	}
	var more []string
	if artifact.Data, artifact.Cached, more, err = f.blob(ctx, p, *archive, f.options.Limits.Bytes); err != nil {
		return Artifact{}, err
	}
	artifact.Digest = digest
	artifact.Notes = appendNote(append(artifact.Notes, notes...), more...)
	if artifact.Cached = artifact.Cached && p.digest != ""; artifact.Cached {
		artifact.From = "cache"
	}
	if p.digest != "" {
		artifact.Verified = []string{ByDigest}
	}
	source.Digest = p.digest
	err = f.layerProvenance(ctx, &artifact, p, manifest, source)
	return artifact, err
}

func mediaTypes(manifest ocispec.Manifest) []string {
	var out []string
	for _, one := range manifest.Layers {
		out = append(out, one.MediaType)
	}
	return out
}

// layerProvenance checks the provenance that lies with a chart in a registry.
func (f *Fetcher) layerProvenance(ctx context.Context, artifact *Artifact, p place, manifest ocispec.Manifest, source catalog.ChartSource) error {
	provenance, err := layer(manifest, provenanceLayer)
	switch {
	case err != nil:
		return err
	case provenance == nil && f.keyring == nil:
		return nil
	case provenance == nil:
		return f.noProvenance(artifact, source)
	case f.keyring == nil:
		artifact.Notes = append(artifact.Notes, notChecked("beside it in the registry"))
		return nil
	}
	prov, _, notes, err := f.blob(ctx, p, *provenance, maxProvenanceBytes)
	if err != nil {
		return err
	}
	artifact.Notes = appendNote(artifact.Notes, notes...)
	name := source.Name
	if name == "" {
		name = path.Base(p.Repository)
	}
	version := source.Version
	if version == "" {
		version = strings.ReplaceAll(p.tag, "_", "+")
	}
	return f.checkProvenance(artifact, prov, name+"-"+version+".tgz")
}
