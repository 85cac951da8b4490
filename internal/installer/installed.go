package installer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

const rightsHint = "you need the permissions that --print-rbac prints"

// installedPackage is an operator that this program installed.
type installedPackage struct {
	name, version      string
	release, namespace string
	revision           int
	values             map[string]any
	// marks are the labels of its last record: the run, and the System that it was installed with.
	marks helm.RecordLabels
}

// installedPackages are the installed operators.
type installedPackages struct {
	there map[string]installedPackage
	// elsewhere are, by the name of an operator, the namespaces of releases that claim to be this
	// operator where that is not trusted.
	elsewhere map[string][]string
	unread    []string // namespaces whose releases may not be read
}

// hint names the namespaces in which a release has the name of an operator that was not found; it is
// empty if there are none.
func (i installedPackages) hint(name string) string {
	in := i.elsewhere[name]
	if len(in) == 0 {
		return ""
	}
	return fmt.Sprintf("a release in %s has the name %s: use -n %s if it is yours", strings.Join(in, ", "), name, in[0])
}

// denied is an error if it is unknown whether an operator is installed, because the releases of
// namespaces where it could be may not be read.
func (i installedPackages) denied(name string, in []string) error {
	unread := slices.DeleteFunc(distinct(in), func(ns string) bool { return !slices.Contains(i.unread, ns) })
	if len(unread) == 0 {
		return nil
	}
	return hint.With(fmt.Errorf("you may not list secrets in %s, where the releases are, so whether %s is installed is unknown", strings.Join(unread, ", "), name), rightsHint)
}

// trust says in which namespaces a release is trusted to be an operator, in this order: in the
// namespace of -n, in that of the manifest of the System, in those of the versions of the catalog.
// Anybody may label a Secret in a namespace of their own.
type trust struct {
	cats   *catalogs.Catalogs
	given  string
	system map[string]string // namespaces by the names of operators
}

func (t trust) namespaces(name string) []string {
	out := []string{t.given, t.system[name]}
	if t.cats != nil {
		if e, ok := t.cats.Find(name); ok {
			for i := range e.Versions {
				out = append(out, e.Versions[i].Namespace)
			}
		}
	}
	return slices.DeleteFunc(distinct(out), func(ns string) bool { return ns == "" })
}

// installed finds the installed operators by the labels of Helm's records, in all namespaces, or in
// the given ones if the user may not list all.
func (c *cluster) installed(ctx context.Context, t trust, namespaces []string) (installedPackages, error) {
	out := installedPackages{there: map[string]installedPackage{}, elsewhere: map[string][]string{}}
	claims, unread, err := listReleases(ctx, c.reader, install.Claims, namespaces)
	if err != nil {
		return out, err
	}
	out.unread = unread
	rank := func(r install.LiveRelease) int {
		return slices.Index(t.namespaces(r.Labels[helm.PackageLabel]), r.Namespace)
	}
	slices.SortStableFunc(claims, func(x, y install.LiveRelease) int { return cmp.Compare(rank(x), rank(y)) })
	for i := range claims {
		r := &claims[i]
		name := r.Labels[helm.PackageLabel]
		if r.Status == helm.Uninstalled {
			continue
		}
		if rank(*r) < 0 {
			out.elsewhere[name] = append(out.elsewhere[name], r.Namespace)
			continue
		}
		if _, known := out.there[name]; known {
			continue
		}
		current, found, err := c.readRelease(ctx, helm.ReleaseName{Name: r.Name, Namespace: r.Namespace})
		if apierrors.IsForbidden(err) { // A user may be allowed to list the metadata only.
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

// listReleases lists the releases of all namespaces. If the user may not do that, it lists those of
// the given namespaces, and returns the namespaces whose releases may not be read; these are not
// nil.
func listReleases(ctx context.Context, reader install.Reader, list func(context.Context, install.Reader, string) ([]install.LiveRelease, error), namespaces []string) (all []install.LiveRelease, unread []string, err error) {
	all, err = list(ctx, reader, "")
	if err == nil {
		return all, nil, nil
	}
	if !apierrors.IsForbidden(err) {
		return nil, nil, fmt.Errorf("list the releases: %w", err)
	}
	unread = []string{}
	for _, ns := range namespaces {
		some, err := list(ctx, reader, ns)
		switch {
		case apierrors.IsForbidden(err):
			unread = append(unread, ns)
		case err != nil:
			return nil, nil, fmt.Errorf("list the releases in %s: %w", ns, err)
		}
		all = append(all, some...)
	}
	return all, unread, nil
}

// readRelease reads the records of a release; false if it is no installed operator.
func (c *cluster) readRelease(ctx context.Context, name helm.ReleaseName) (installedPackage, bool, error) {
	list, err := c.engine.History(ctx, name)
	if err != nil || len(list) == 0 {
		return installedPackage{}, false, err
	}
	r := list[len(list)-1]
	if r.Status == helm.Uninstalled || r.Marks.Package == "" {
		return installedPackage{}, false, nil
	}
	out := installedPackage{
		name: r.Marks.Package, version: cmp.Or(r.Marks.Version, r.Version), release: r.Release.Name, namespace: r.Release.Namespace,
		revision: r.Revision, marks: r.Marks,
	}
	// The values of a revision that was never deployed do not count.
	if current, ok := install.DeployedRecord(list, ""); ok {
		out.version, out.values = cmp.Or(current.Marks.Version, current.Version), current.Values
	}
	return out, true, nil
}

// revertOpenRun replaces the versions and values of operators that an open run has changed by those
// from before the run: those of a half-done run are not inherited. It says whether there are any.
func (p *Plan) revertOpenRun(ctx context.Context) (bool, error) {
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
		list, err := p.engine.History(ctx, helm.ReleaseName{Name: current.release, Namespace: current.namespace})
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

// InstalledVersions returns the versions of the installed operators by their names. It is empty if
// the user may not read the releases.
func (i *Installer) InstalledVersions(ctx context.Context) (map[string]string, error) {
	c, err := i.connect(ctx)
	if err != nil {
		return nil, err
	}
	found, err := c.installed(ctx, trust{cats: i.Catalogs, given: c.namespace}, []string{c.namespace})
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	out := map[string]string{}
	for name, current := range found.there {
		out[name] = current.version
	}
	return out, nil
}
