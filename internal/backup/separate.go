package backup

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// separate takes out of the apps what would write to the stores of backups of the original: a copy
// that archives to the place of the original spoils its archive.
func (r *restorer) separate() {
	omitted, changes := map[object.Ref]bool{}, len(r.Notes)
	for i := range r.sys.Apps {
		for _, o := range r.sys.Apps[i].Resources {
			rule := catalog.CopyOf(o.GroupVersionKind().GroupKind())
			ref := placed(o, r.sys)
			if rule == nil || !r.isCopy(ref.Namespace) {
				continue
			}
			r.separateObject(o, ref, rule, omitted)
		}
	}
	if len(r.Notes) > changes && !r.options.Rehearsal {
		at := "of the file"
		if r.plan.Live {
			at = fmt.Sprintf("of the ConfigMap %s in %s", r.plan.Name, r.plan.Namespace)
		}
		r.Notes = append(r.Notes, "system.yaml "+at+" has these schedules and archives, to set them again once the original is gone; --keep-schedules restores with them")
	}
	if len(omitted) > 0 {
		dropObjects(r.sys, func(ref object.Ref) bool { return omitted[ref] })
	}
}

func (r *restorer) separateObject(o *unstructured.Unstructured, ref object.Ref, rule *catalog.Copy, omitted map[object.Ref]bool) {
	if rule.Caveat != "" {
		r.Notes = append(r.Notes, ref.String()+": "+rule.Caveat)
	}
	switch {
	case r.options.KeepSchedules:
		r.Notes = append(r.Notes, ref.String()+" backs up to the stores of the original, which has to be gone")
		return
	case rule.Omit:
		omitted[ref] = true
		r.Notes = append(r.Notes, ref.String()+" is left out: a copy must not write to the backups of the original")
		return
	}
	given := r.patches[ref]
	if r.options.Rehearsal {
		given = nil // nothing of it is to stay in a store
	}
	values := catalog.BackupValues{Name: o.GetName(), Stamp: r.archiveStamp(), Object: o.DeepCopy().Object}
	removed, set := rule.Separate(o.Object, given, values)
	if len(removed) > 0 {
		r.Notes = append(r.Notes, ref.String()+" is restored without "+strings.Join(removed, ", ")+": a copy must not write to the backups of the original")
	}
	if len(set) > 0 {
		r.Notes = append(r.Notes, ref.String()+" is restored with another "+strings.Join(set, ", ")+": a copy backs up to a place of its own in the store, which stays there")
	}
}

// isCopy says whether what is restored to a namespace may run beside its original.
func (r *restorer) isCopy(namespace string) bool {
	for from, to := range r.options.Namespaces {
		if to == namespace && from != to {
			return true
		}
	}
	return r.options.Rehearsal || !r.plan.Live && !r.options.Replace
}
