package install

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
	return g.ask.Installation.System && live.Labels[helm.SystemLabel] == g.ask.Installation.Name
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
			live = &LiveRelease{Name: name, Namespace: namespace, Records: map[int]*helm.StoredRecord{}}
			byName[name] = live
		}
		live.Revisions = append(live.Revisions, n)
		if labels["status"] == "deployed" && n > live.Deployed {
			live.Deployed = n
		}
		if n > live.Revision {
			live.Revision, live.Status, live.Labels = n, labels["status"], map[string]string{}
			for _, k := range []string{helm.RunLabel, helm.PackageLabel, helm.SystemLabel, helm.SystemNamespaceLabel, helm.VersionLabel, helm.InstallationLabel, helm.InstallationNamespaceLabel} {
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
		name := helm.RecordName(live.Name, n)
		u, err := g.reader.Get(g.ctx, r, live.Namespace, name)
		if err != nil {
			if err := g.absent(r, live.Namespace, err); err != nil {
				return err
			}
			continue
		}
		record, err := helm.DecodeRecord(u)
		if err != nil {
			return fmt.Errorf("read Secret %s in %s: %w", name, live.Namespace, err)
		}
		live.Records[n] = record
	}
	return nil
}
