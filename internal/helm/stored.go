package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// StoredRecord is Helm's record of a revision.
type StoredRecord struct {
	Chart, Version string // name and version of the chart
	Values         map[string]any
	// Objects are the objects of the manifest, Hooks those of the hooks; both without a namespace
	// if the manifest gives none.
	Objects, Hooks []*unstructured.Unstructured
}

// RecordName returns the name of the Secret of a revision of a release.
func RecordName(release string, revision int) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", release, revision)
}

// DecodeRecord decodes a record: compressed JSON in base64, inside the base64 of Secret data.
func DecodeRecord(u *unstructured.Unstructured) (*StoredRecord, error) {
	text, _, _ := unstructured.NestedString(u.Object, "data", "release")
	inner := base64.NewDecoder(base64.StdEncoding, base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	packed, err := gzip.NewReader(inner)
	if err != nil {
		return nil, errors.New("it holds no Helm release")
	}
	data, err := io.ReadAll(io.LimitReader(packed, MaxRecordBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the release in it cannot be unpacked: %w", err)
	case len(data) > MaxRecordBytes:
		return nil, fmt.Errorf("the release in it unpacks to more than %d MiB", MaxRecordBytes>>20)
	}
	var stored struct {
		Chart struct {
			Metadata struct{ Name, Version string } `json:"metadata"`
		} `json:"chart"`
		Config   map[string]any `json:"config"`
		Manifest string         `json:"manifest"`
		Hooks    []struct {
			Manifest string   `json:"manifest"`
			Events   []string `json:"events"`
		} `json:"hooks"`
	}
	if err := json.Unmarshal(data, &stored); err != nil {
		return nil, fmt.Errorf("the release in it cannot be read: %w", err)
	}
	out := &StoredRecord{Chart: stored.Chart.Metadata.Name, Version: stored.Chart.Metadata.Version, Values: stored.Config}
	if out.Objects, err = ObjectsIn(stored.Manifest); err != nil {
		return nil, fmt.Errorf("the manifest in it: %w", err)
	}
	for _, h := range stored.Hooks {
		if len(h.Events) > 0 && !slices.ContainsFunc(h.Events, func(e string) bool { return e != "test" }) {
			continue // tests do not run in installs and upgrades (chart.Rendered.Tests)
		}
		objects, err := ObjectsIn(h.Manifest)
		if err != nil {
			return nil, fmt.Errorf("a hook in it: %w", err)
		}
		out.Hooks = append(out.Hooks, objects...)
	}
	return out, nil
}

// ObjectsIn parses the objects of a manifest.
func ObjectsIn(manifest string) ([]*unstructured.Unstructured, error) {
	if err := strict.CheckBounds([]byte(manifest)); err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(manifest)), 4096)
	for {
		u := &unstructured.Unstructured{}
		switch err := d.Decode(&u.Object); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case u.GetKind() != "":
			out = append(out, u)
		}
	}
}
