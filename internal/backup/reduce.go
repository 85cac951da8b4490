package backup

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// cronJobKind: a CronJob of a rehearsal would send mail, pay or delete a second time.
var cronJobKind = schema.GroupKind{Group: "batch", Kind: "CronJob"}

// Rehearsed drops the objects of apps that a rehearsal shares with what runs, which are
// cluster-scoped ones that exist, and those that would take traffic from it or act by a schedule.
func (r *Restore) Rehearsed(shared func(object.Ref) bool) error {
	return r.reduce(func(ref object.Ref) bool {
		switch {
		case isRoute(ref.GroupKind()):
			r.Notes = append(r.Notes, ref.String()+" is not part of the rehearsal: it would take the traffic of the one that runs")
		case ref.GroupKind() == cronJobKind:
			r.Notes = append(r.Notes, ref.String()+" is not part of the rehearsal: it would do its work a second time")
		case shared(ref):
			r.Notes = append(r.Notes, ref.String()+" exists, and is not part of the rehearsal")
		default:
			return false
		}
		return true
	})
}

// reduce takes objects out of the apps, and apps without objects out of the System.
func (r *Restore) reduce(drop func(object.Ref) bool) error {
	sys := r.System
	gone := dropObjects(sys, drop)
	r.Parts = slices.DeleteFunc(r.Parts, func(p RestoredPart) bool { return gone[p.App] })
	r.Apps = len(sys.Apps)
	if len(sys.Apps) == 0 {
		return nil
	}
	text, err := sys.YAML()
	if err != nil {
		return err
	}
	parsed, problems := system.Parse(r.Name, text)
	if len(problems) > 0 {
		return &hint.Lines{Lines: hint.Placed(r.Name, problems)}
	}
	r.System, r.Manifest = parsed, string(text)
	return nil
}

// dropObjects takes objects out of the apps of a System, and returns the apps that are gone for that.
func dropObjects(sys *system.System, drop func(object.Ref) bool) map[string]bool {
	gone := map[string]bool{}
	for i := range sys.Apps {
		a := &sys.Apps[i]
		remaining := a.Resources[:0:0]
		for _, o := range a.Resources {
			if !drop(placed(o, sys)) {
				remaining = append(remaining, o)
			}
		}
		a.Resources = remaining
		a.Roots = nil // they are those of the resources
		gone[a.Name] = len(remaining) == 0
	}
	sys.Apps = slices.DeleteFunc(sys.Apps, func(a system.App) bool { return gone[a.Name] })
	sys.Dependencies = slices.DeleteFunc(sys.Dependencies, func(d system.Dependency) bool { return gone[d.From] || gone[d.To] })
	sys.Connections = slices.DeleteFunc(sys.Connections, func(c system.Connection) bool { return gone[c.From.App] || gone[c.To.App] })
	return gone
}

// PartialName is the name of the System of a restore of what is missing. It is another one than that
// of the whole System, whose other apps stay as they are.
func (r *Restore) PartialName() string {
	const longest = 63 - len("-restored-") - len(StampFormat)
	return r.Name[:min(len(r.Name), longest)] + "-restored-" + r.stamp
}

// OnlyMissing drops what exists.
func (r *Restore) OnlyMissing(exists func(object.Ref) bool) error {
	existing := map[object.Ref]bool{}
	for _, ref := range r.Objects() {
		existing[ref] = exists(ref)
	}
	for _, p := range r.Parts {
		if existing[p.Object] {
			r.Unrestored = append(r.Unrestored, Unsaved{p.Object, "it exists: its data stays as it is", "restore beside it with --namespace-map for the data of the backup"})
		}
	}
	r.Parts = slices.DeleteFunc(r.Parts, func(p RestoredPart) bool { return existing[p.Object] })
	r.SecretObjects = slices.DeleteFunc(r.SecretObjects, func(o *unstructured.Unstructured) bool { return exists(object.RefOf(o)) })
	r.Name = r.PartialName()
	r.System.Name = r.Name
	return r.reduce(func(ref object.Ref) bool { return existing[ref] })
}

// Objects are those of the apps.
func (r *Restore) Objects() []object.Ref {
	var out []object.Ref
	for i := range r.System.Apps {
		for _, o := range r.System.Apps[i].Resources {
			out = append(out, placed(o, r.System))
		}
	}
	return out
}

// placed is the reference of an object of an app, with the namespace that it gets.
func placed(o *unstructured.Unstructured, sys *system.System) object.Ref {
	ref := object.RefOf(o)
	if ref.Namespace == "" {
		ref.Namespace = sys.Namespace
	}
	return ref
}
