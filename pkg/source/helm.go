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

// ErrNoRelease says that Helm keeps no release of a name in a namespace.
var ErrNoRelease = errors.New("no such release")

// maxReleaseBytes bounds what one release may unpack to: more than a Secret can
// hold, and less than a trap.
const maxReleaseBytes = 64 << 20

// HelmRelease returns the objects that Helm says it installed for a release, of
// the manifest and the hooks of its last revision. It reads the data of the one
// Secret (or ConfigMap) in which Helm keeps that, as nothing else here does: it is
// for those who ask for it. The error is ErrNoRelease, the server's, or that what
// is kept cannot be read.
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

// lastRevision returns the name of the object that keeps the last revision of a
// release, by the labels that Helm writes.
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

// installed reads what Helm keeps: JSON, packed, in base64; in a Secret in base64
// once more, as all its data is.
func (c *Cluster) installed(body []byte, secret bool, namespace string) ([]object.Ref, error) {
	var kept struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(body, &kept); err != nil {
		return nil, jsonError(err)
	}
	text := base64.NewDecoder(base64.StdEncoding, strings.NewReader(kept.Data["release"]))
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

// named returns the objects that manifests name, in order. A namespace that one
// leaves out is that of the release.
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
			continue // Nobody serves it any more: it is not there.
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
