package cli

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

const rightsHint = "you need the permissions that --print-rbac prints"

// deniedLines lists the missing permissions, a line for each resource of a namespace: one cause may
// cover all of its objects.
func deniedLines(missing []regulate.Permission) []string {
	type group struct {
		one          regulate.Permission
		verbs, names []string
	}
	var groups []*group
	for _, r := range missing {
		resource := regulate.Permission{Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Namespace: r.Namespace}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.one == resource })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{one: resource})
		}
		g := groups[i]
		g.verbs, g.names = append(g.verbs, r.Verb), append(g.names, r.Name)
	}
	var lines []string
	for _, g := range groups {
		slices.Sort(g.verbs)
		g.one.Verb = strings.Join(slices.Compact(g.verbs), ", ")
		names := distinctTexts(g.names)
		if len(names) == 1 {
			g.one.Name = names[0]
		}
		lines = append(lines, fmt.Sprintf("you may not %s", g.one))
	}
	return lines
}

// deniedReading explains that an error is Forbidden, so the object may exist all the same; it
// returns other errors as they are.
func deniedReading(err error, subject, unknown string) error {
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		return err
	}
	return hint.With(fmt.Errorf("you may not read %s, so %s is unknown: %w", subject, unknown, err), rightsHint)
}

// deniedJournal says that the journal of an installation may not be read.
func deniedJournal(err error, resource install.Installation) error {
	return deniedReading(err, fmt.Sprintf("the journal of %s in %s", resource.Name, resource.Namespace), "what was done to it")
}

// deniedReleases is an error if it is unknown whether a package is installed, because the releases
// of namespaces where it could be may not be read; nil if they may.
func (i installedPackages) deniedReleases(name string, in []string) error {
	unread := slices.DeleteFunc(distinctTexts(in), func(ns string) bool { return !slices.Contains(i.unread, ns) })
	if len(unread) == 0 {
		return nil
	}
	return hint.With(fmt.Errorf("you may not list secrets in %s, where the releases are, so whether %s is installed is unknown", strings.Join(unread, ", "), name), rightsHint)
}

// gapError is the error of what may not be read, a line a cause; nil for no gap.
func gapError(gaps []object.Gap) error {
	if len(gaps) == 0 {
		return nil
	}
	lines := &hint.Lines{}
	for _, r := range install.GapRefusals(gaps) {
		lines.Lines = append(lines.Lines, r.Message)
	}
	return hint.With(lines, rightsHint)
}
