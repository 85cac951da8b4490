package source

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ErrNoRelease reports that Helm has no release of a name in a namespace.
var ErrNoRelease = errors.New("no such release")

// maxReleaseBytes limits the size of an unpacked release: more than a Secret can hold, and small
// enough to stop a decompression bomb.
const maxReleaseBytes = 64 << 20

// HelmRelease returns the objects of a Helm release, from the manifest and the hooks of its last
// revision. It reads the data of the Secret (or ConfigMap) in which Helm stores that, which nothing
// else here does, so it runs only on request. The error is ErrNoRelease, the server's, or that the
// data is invalid.
func (c *Cluster) HelmRelease(ctx context.Context, namespace, release string) ([]object.Ref, error) {
	for _, plural := range []string{"secrets", "configmaps"} {
		r, ok := c.Current().Resource(schema.GroupResource{Resource: plural})
		if !ok {
			continue
		}
		name, err := c.lastRevision(ctx, r, namespace, release)
		switch {
		case err != nil:
			return nil, err
		case name == "":
			continue
		}
		a, err := c.ask(ctx, pathOf(r, namespace, name), nil, jsonType)
		if err != nil {
			return nil, err
		}
		refs, err := c.installed(a.body, plural == "secrets", namespace)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r, name, err)
		}
		return refs, nil
	}
	return nil, ErrNoRelease
}

// lastRevision returns the name of the object with the last revision of a release, by Helm's
// labels.
func (c *Cluster) lastRevision(ctx context.Context, r object.Resource, namespace, release string) (string, error) {
	query := url.Values{"labelSelector": {"owner=helm,name=" + release}}
	a, err := c.ask(ctx, pathOf(r, namespace, ""), query, accept(r, Metadata, true))
	if err != nil {
		return "", err
	}
	last, found := -1, ""
	_, err = decodeList(a, r, Metadata, func(o object.Object) {
		if n, err := strconv.Atoi(o.Meta.GetLabels()["version"]); err == nil && n > last {
			last, found = n, o.Name
		}
	})
	return found, err
}

// installed decodes Helm's data: gzipped JSON in base64; in a Secret, base64 twice.
func (c *Cluster) installed(body []byte, secret bool, namespace string) ([]object.Ref, error) {
	var object struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, jsonError(err)
	}
	text := base64.NewDecoder(base64.StdEncoding, strings.NewReader(object.Data["release"]))
	if secret {
		text = base64.NewDecoder(base64.StdEncoding, text)
	}
	packed, err := gzip.NewReader(text)
	if err != nil {
		return nil, errors.New("holds no release of Helm 3")
	}
	var release struct {
		Manifest string `json:"manifest"`
		Hooks    []struct {
			Manifest string `json:"manifest"`
		} `json:"hooks"`
	}
	if err := json.NewDecoder(io.LimitReader(packed, maxReleaseBytes)).Decode(&release); err != nil {
		return nil, fmt.Errorf("the release cannot be read: %w", err)
	}
	manifests := []string{release.Manifest}
	for _, h := range release.Hooks {
		manifests = append(manifests, h.Manifest)
	}
	return c.named(strings.Join(manifests, "\n---\n"), namespace)
}

// named returns the objects of manifests, in order. The default namespace is that of the release.
func (c *Cluster) named(manifests, namespace string) ([]object.Ref, error) {
	docs, err := Parse("the manifest", strings.NewReader(manifests))
	if err != nil {
		return nil, err
	}
	var refs []object.Ref
	for _, d := range docs {
		u := unstructured.Unstructured{Object: d.Object}
		gvk := u.GroupVersionKind()
		ref := object.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
		switch k, ok := c.Current().Kind(gvk.GroupKind()); {
		case !ok || ref.Name == "":
			continue // a kind that is no longer served has no objects
		case !k.Namespaced:
			ref.Namespace = ""
		case ref.Namespace == "":
			ref.Namespace = namespace
		}
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, object.Compare)
	return slices.Compact(refs), nil
}
