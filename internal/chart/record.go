package chart

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"sigs.k8s.io/yaml"
)

// maxRecordBytes is the limit of a Secret, in which Helm stores the record of a release.
const maxRecordBytes = 1 << 20

// weigh computes the size of the record of the release, and refuses one that is too large.
func (p *splitter) weigh(c *Chart, opts Options) error {
	rel := &releasev1.Release{
		Name: opts.Release, Namespace: opts.Namespace, Version: max(opts.Revision, 1),
		Chart: c.Helm, Config: opts.Values, Info: &releasev1.Info{Notes: p.out.Notes},
	}
	var manifest strings.Builder
	for _, d := range p.kept {
		text, err := yaml.Marshal(d.object.Object)
		if err != nil {
			return fmt.Errorf("%s: %w", d, err)
		}
		if _, ok := d.object.GetAnnotations()[releasev1.HookAnnotation]; ok {
			rel.Hooks = append(rel.Hooks, &releasev1.Hook{Name: d.object.GetName(), Kind: d.object.GetKind(), Path: d.template, Manifest: string(text)})
			continue
		}
		fmt.Fprintf(&manifest, "---\n# Source: %s\n%s\n", d.template, text)
	}
	rel.Manifest = manifest.String()
	size, err := recordSize(rel)
	if err != nil {
		return fmt.Errorf("write the record of the release: %w", err)
	}
	p.out.Record = size
	if p.out.Record > maxRecordBytes {
		return fmt.Errorf("the record of the release would have %d bytes, and the Secret in which Helm stores it holds at most %d: install it in parts, or remove large files from the chart (files, dashboards, crds/)", p.out.Record, maxRecordBytes)
	}
	return nil
}

// recordSize returns the size of a release as Helm stores it: JSON, gzipped, in base64.
func recordSize(rel *releasev1.Release) (int, error) {
	text, err := json.Marshal(rel)
	if err != nil {
		return 0, err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(text); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return base64.StdEncoding.EncodedLen(out.Len()), nil
}
