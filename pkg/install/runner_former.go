package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// forgetFormer deletes the records of releases that former runs removed, and that nothing of
// what is kept of the history names any more. What cannot be deleted is of no consequence: it
// is told.
func (x *run) forgetFormer(ctx context.Context, runs []RunRecord) {
	named := map[ReleaseName]bool{}
	if len(runs) < len(x.j.Runs) {
		for _, p := range x.j.Runs[len(runs):] {
			for _, r := range p.Releases {
				named[ReleaseName{r.Release, r.Namespace}] = true
			}
		}
	}
	for _, p := range runs {
		for _, r := range p.Releases {
			name := ReleaseName{r.Release, r.Namespace}
			if named[name] {
				continue
			}
			named[name] = true
			if err := x.forgetUninstalled(ctx, name); err != nil {
				x.notify(Progress{Kind: Noted, Message: fmt.Sprintf("the records of the release %s, which was removed before, stay: %v", name, err)})
			}
		}
	}
}

// forgetUninstalled deletes the records of a release that is uninstalled, and of the installation.
func (x *run) forgetUninstalled(ctx context.Context, name ReleaseName) error {
	list, err := x.Engine.History(ctx, name)
	if err != nil || len(list) == 0 {
		return err
	}
	last := list[len(list)-1]
	m := last.Marks
	if mine := m.System == x.of.Name && m.SystemNamespace == x.of.Namespace; x.of.System && !mine {
		return nil
	}
	if mine := m.Installation == x.of.Name && m.InstallationNamespace == x.of.Namespace; !x.of.System && !mine {
		return nil
	}
	if last.Status != Uninstalled {
		return nil
	}
	return x.Engine.Forget(ctx, name)
}

// claims are the claims that an installation which was undone has left: those of the
// StatefulSets that it made, which nobody deletes with them.
func (x *run) claims(ctx context.Context, result string) []string {
	if result != ResultUndone && result != ResultPartlyUndone {
		return nil
	}
	var out []string
	for _, s := range x.j.Run.Steps {
		if s.Kind != InstallRelease || s.Phase == NotUndone {
			continue
		}
		list, err := x.Engine.History(ctx, ReleaseName{s.Release, s.Namespace})
		if err != nil {
			continue // then the step says why
		}
		for _, r := range list {
			if r.Marks.Run == x.j.Run.ID {
				out = append(out, x.claimsOf(ctx, r)...)
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	for _, text := range out {
		x.notify(Progress{Kind: Noted, Message: text + " stays: its data is left alone"})
	}
	return out
}

// claimsOf are the claims of the StatefulSets of a record.
func (x *run) claimsOf(ctx context.Context, r Record) []string {
	objects, err := objectsIn(r.Manifest)
	if err != nil {
		return nil
	}
	var out []string
	for _, o := range objects {
		prefixes := claimPrefixes(o)
		if len(prefixes) == 0 {
			continue
		}
		namespace := o.GetNamespace()
		if namespace == "" {
			namespace = r.Release.Namespace
		}
		all, err := x.Objects.List(ctx, claimKind, namespace)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			out = append(out, fmt.Sprintf("claims of StatefulSet %s/%s (they cannot be listed: %v)", namespace, o.GetName(), err))
			continue
		}
		for i := range all {
			if slices.ContainsFunc(prefixes, func(p string) bool { return isOrdinal(all[i].GetName(), p) }) {
				out = append(out, refOf(&all[i]).String())
			}
		}
	}
	return out
}

// claimPrefixes are what the names of the claims of a StatefulSet begin with.
func claimPrefixes(o *unstructured.Unstructured) []string {
	if gk := o.GroupVersionKind().GroupKind(); gk.Group != "apps" || gk.Kind != "StatefulSet" {
		return nil
	}
	templates, _, _ := unstructured.NestedSlice(o.Object, "spec", "volumeClaimTemplates")
	var out []string
	for _, t := range templates {
		m, _ := t.(map[string]any)
		if name, _, _ := unstructured.NestedString(m, "metadata", "name"); name != "" {
			out = append(out, name+"-"+o.GetName()+"-")
		}
	}
	return out
}

// isOrdinal says that a name is a prefix and a number.
func isOrdinal(name, prefix string) bool {
	number, ok := strings.CutPrefix(name, prefix)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
