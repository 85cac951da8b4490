package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

// installedPackage is an operator that was installed with us.
type installedPackage struct {
	name, version      string
	release, namespace string
	revision           int
	status             string
	values             map[string]any
	// marks are those of its last record: the run, and the System that it was installed with.
	marks install.RecordLabels
}

// installedPackages are the installed operators.
type installedPackages struct {
	there map[string]installedPackage
	// elsewhere are the namespaces of releases that call themselves an operator where that is
	// not believed, by its name.
	elsewhere map[string][]string
	// unread are the namespaces of which the releases may not be read.
	unread []string
}

// hint says where a release calls itself an operator that was not found; empty for nowhere.
func (i installedPackages) hint(name string) string {
	in := i.elsewhere[name]
	if len(in) == 0 {
		return ""
	}
	return fmt.Sprintf("a release in %s has the name %s: use -n %s if it is yours", strings.Join(in, ", "), name, in[0])
}

// believed says in which namespaces a release is believed to be an operator, the first before
// the others: in the one that is given, the one that the System's manifest names, those of
// the versions of the catalogue. Anybody may label a Secret in a namespace of their own.
type believed struct {
	cats  *catalogues
	given string
	// system are the namespaces that a System names for its operators, by their names.
	system map[string]string
}

func (b believed) namespaces(name string) []string {
	out := []string{b.given, b.system[name]}
	if b.cats != nil {
		if e, ok := b.cats.Find(name); ok {
			for i := range e.Versions {
				out = append(out, e.Versions[i].Namespace)
			}
		}
	}
	return slices.DeleteFunc(distinctTexts(out), func(ns string) bool { return ns == "" })
}

// distinctTexts leaves out what came before.
func distinctTexts(all []string) (out []string) {
	for _, text := range all {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// installed finds the operators that were installed with us, by the labels of Helm's records:
// of all namespaces where that may be asked, else of those that are given. The records of
// uninstalled ones are no operators.
func (c *installCluster) installed(ctx context.Context, b believed, namespaces []string) (installedPackages, error) {
	out := installedPackages{there: map[string]installedPackage{}, elsewhere: map[string][]string{}}
	claims, unread, err := c.claims(ctx, namespaces)
	if err != nil {
		return out, err
	}
	out.unread = unread
	rank := func(r install.LiveRelease) int {
		return slices.Index(b.namespaces(r.Labels[install.PackageLabel]), r.Namespace)
	}
	slices.SortStableFunc(claims, func(x, y install.LiveRelease) int { return cmp.Compare(rank(x), rank(y)) })
	for i := range claims {
		r := &claims[i]
		name := r.Labels[install.PackageLabel]
		if r.Status == install.Uninstalled {
			continue
		}
		if rank(*r) < 0 {
			out.elsewhere[name] = append(out.elsewhere[name], r.Namespace)
			continue
		}
		if _, known := out.there[name]; known {
			continue
		}
		current, found, err := c.installedRelease(ctx, install.ReleaseName{Name: r.Name, Namespace: r.Namespace})
		if apierrors.IsForbidden(err) { // Their metadata may be listed, and that is all.
			out.unread = append(out.unread, r.Namespace)
			continue
		}
		if err != nil {
			return out, err
		}
		if found && current.name == name {
			out.there[name] = current
		}
	}
	maps.DeleteFunc(out.elsewhere, func(name string, _ []string) bool { _, known := out.there[name]; return known })
	return out, nil
}

// claims are the releases that call themselves operators, and the namespaces of which they may
// not be read.
func (c *installCluster) claims(ctx context.Context, namespaces []string) (all []install.LiveRelease, unread []string, err error) {
	all, err = install.Claims(ctx, c.reader, "")
	if err == nil {
		return all, nil, nil
	}
	if !apierrors.IsForbidden(err) {
		return nil, nil, fmt.Errorf("list the releases: %w", err)
	}
	for _, ns := range namespaces {
		inNamespace, err := install.Claims(ctx, c.reader, ns)
		switch {
		case apierrors.IsForbidden(err):
			unread = append(unread, ns)
		case err != nil:
			return nil, nil, fmt.Errorf("list the releases in %s: %w", ns, err)
		}
		all = append(all, inNamespace...)
	}
	return all, unread, nil
}

// installedRelease reads what the last record of a release says.
func (c *installCluster) installedRelease(ctx context.Context, name install.ReleaseName) (installedPackage, bool, error) {
	list, err := c.engine.History(ctx, name)
	if err != nil || len(list) == 0 {
		return installedPackage{}, false, err
	}
	r := list[len(list)-1]
	if r.Status == install.Uninstalled || r.Marks.Package == "" {
		return installedPackage{}, false, nil
	}
	out := installedPackage{
		name: r.Marks.Package, version: cmp.Or(r.Marks.Version, r.Version), release: r.Release.Name, namespace: r.Release.Namespace,
		revision: r.Revision, status: r.Status, marks: r.Marks,
	}
	// The values of a revision that was never deployed do not count.
	if current, ok := install.DeployedRecord(list, ""); ok {
		out.version, out.values = cmp.Or(current.Marks.Version, current.Version), current.Values
	}
	return out, true, nil
}

// beforeRun makes of what a run that is not ended has changed what it was before: versions and
// values of a half-done run are not inherited. It says whether there was any.
func (p *installPlan) beforeRun(ctx context.Context) (bool, error) {
	r := p.journal.Run
	if r == nil || r.Committed {
		return false, nil
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(p.there)) {
		current := p.there[name]
		if current.marks.Run != r.ID {
			continue
		}
		list, err := p.cluster.engine.History(ctx, install.ReleaseName{Name: current.release, Namespace: current.namespace})
		if err != nil {
			return false, err
		}
		changed = true
		was, ok := install.DeployedRecord(list, r.ID)
		if !ok {
			delete(p.there, name)
			continue
		}
		current.version, current.revision, current.values = cmp.Or(was.Marks.Version, was.Version), was.Revision, was.Values
		p.there[name] = current
	}
	return changed, nil
}
