package install

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// maxRecordBytes limits the decompressed size of a record: more than any real release, less than a
// decompression bomb.
const maxRecordBytes = 64 << 20

// releases reads Helm's records: the metadata of all in a namespace, and then the contents of those
// that count.
func (g *stateReader) releases() error {
	r, ok := g.kind(secretKind)
	if !ok {
		r = object.Resource{Version: "v1", Kind: secretKind.Kind, Plural: "secrets", Namespaced: true}
	}
	namespaces := []string{g.ask.Installation.Namespace}
	for _, p := range g.ask.Parts {
		namespaces = append(namespaces, p.Namespace)
	}
	for _, b := range slices.Concat(g.ask.Before, g.ask.To) {
		namespaces = append(namespaces, b.Namespace)
	}
	for _, ns := range distinct(namespaces) {
		if _, found := g.state.Namespaces[ns]; !found {
			continue
		}
		list, err := g.reader.ListMetadata(g.ctx, r, ns, "owner=helm")
		if err != nil {
			if err := g.absent(r, ns, err); err != nil {
				return err
			}
			continue
		}
		for _, live := range releasesIn(ns, list) {
			if !g.concerns(&live) {
				continue
			}
			if err := g.records(r, &live); err != nil {
				return err
			}
			g.state.Releases = append(g.state.Releases, live)
		}
	}
	return nil
}

// concerns reports whether a release belongs to a part, or to the installation.
func (g *stateReader) concerns(live *LiveRelease) bool {
	for _, p := range g.ask.Parts {
		if p.Release == live.Name && p.Namespace == live.Namespace {
			return true
		}
	}
	for _, b := range slices.Concat(g.ask.Before, g.ask.To) {
		if b.Release == live.Name && b.Namespace == live.Namespace {
			return true
		}
	}
	return g.ask.Installation.System && live.Labels[SystemLabel] == g.ask.Installation.Name
}

// releasesIn builds releases from the metadata of the records of a namespace, by Helm's labels.
func releasesIn(namespace string, records []*unstructured.Unstructured) []LiveRelease {
	byName := map[string]*LiveRelease{}
	for _, u := range records {
		labels := u.GetLabels()
		n, err := strconv.Atoi(labels["version"])
		name := labels["name"]
		if err != nil || name == "" || !strings.HasPrefix(u.GetName(), "sh.helm.release.v1.") {
			continue
		}
		live := byName[name]
		if live == nil {
			live = &LiveRelease{Name: name, Namespace: namespace, Records: map[int]*LiveRecord{}}
			byName[name] = live
		}
		live.Revisions = append(live.Revisions, n)
		if labels["status"] == "deployed" && n > live.Deployed {
			live.Deployed = n
		}
		if n > live.Revision {
			live.Revision, live.Status, live.Labels = n, labels["status"], map[string]string{}
			for _, k := range []string{RunLabel, PackageLabel, SystemLabel, SystemNamespaceLabel, VersionLabel, InstallationLabel, InstallationNamespaceLabel} {
				if v, have := labels[k]; have {
					live.Labels[k] = v
				}
			}
		}
	}
	var out []LiveRelease
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		slices.Sort(byName[name].Revisions)
		out = append(out, *byName[name])
	}
	return out
}

// records reads the contents of the deployed revision of a release, and of the target of a
// rollback.
func (g *stateReader) records(r object.Resource, live *LiveRelease) error {
	revisions := []int{live.Revision}
	if live.Deployed > 0 {
		revisions = []int{live.Deployed}
	}
	for _, to := range g.ask.To {
		if to.Release == live.Name && to.Namespace == live.Namespace && slices.Contains(live.Revisions, to.Revision) {
			revisions = append(revisions, to.Revision)
		}
	}
	slices.Sort(revisions)
	for _, n := range slices.Compact(revisions) {
		name := RecordName(live.Name, n)
		u, err := g.reader.Get(g.ctx, r, live.Namespace, name)
		if err != nil {
			if err := g.absent(r, live.Namespace, err); err != nil {
				return err
			}
			continue
		}
		record, err := decodeRecord(u)
		if err != nil {
			return fmt.Errorf("read Secret %s in %s: %w", name, live.Namespace, err)
		}
		live.Records[n] = record
	}
	return nil
}

// RecordName returns the name of the Secret of a revision of a release.
func RecordName(release string, revision int) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", release, revision)
}

// decodeRecord decodes a record: compressed JSON in base64, inside the base64 of Secret data.
func decodeRecord(u *unstructured.Unstructured) (*LiveRecord, error) {
	text, _, _ := unstructured.NestedString(u.Object, "data", "release")
	inner := base64.NewDecoder(base64.StdEncoding, base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	packed, err := gzip.NewReader(inner)
	if err != nil {
		return nil, errors.New("it holds no Helm release")
	}
	data, err := io.ReadAll(io.LimitReader(packed, maxRecordBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the release in it cannot be unpacked: %w", err)
	case len(data) > maxRecordBytes:
		return nil, fmt.Errorf("the release in it unpacks to more than %d MiB", maxRecordBytes>>20)
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
	out := &LiveRecord{Chart: stored.Chart.Metadata.Name, Version: stored.Chart.Metadata.Version, Values: stored.Config}
	if out.Objects, err = objectsIn(stored.Manifest); err != nil {
		return nil, fmt.Errorf("the manifest in it: %w", err)
	}
	for _, h := range stored.Hooks {
		if len(h.Events) > 0 && !slices.ContainsFunc(h.Events, func(e string) bool { return e != "test" }) {
			continue // tests do not run in installs and upgrades (chart.Rendered.Tests)
		}
		objects, err := objectsIn(h.Manifest)
		if err != nil {
			return nil, fmt.Errorf("a hook in it: %w", err)
		}
		out.Hooks = append(out.Hooks, objects...)
	}
	return out, nil
}

// objectsIn parses the objects of a manifest.
func objectsIn(manifest string) ([]*unstructured.Unstructured, error) {
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
