package backup

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// ByVelero saves whole namespaces by Velero: their objects, and their volumes.
const ByVelero Method = "velero"

const veleroGroup = "velero.io"

// VeleroLocationKind is where Velero stores backups.
var VeleroLocationKind = schema.GroupKind{Group: veleroGroup, Kind: "BackupStorageLocation"}

// ComputeVelero plans one Velero Backup of the namespaces of the members.
func ComputeVelero(s State, plan *Plan) error {
	gv := schema.GroupVersion{Group: veleroGroup, Version: "v1"}
	if _, served := s.Kinds.Kind(gv.WithKind("Backup").GroupKind()); !served {
		return hint.With(errors.New("--engine velero: the cluster serves no Backup.velero.io"), "install Velero (https://velero.io), or leave out --engine")
	}
	location, err := s.veleroLocation()
	if err != nil {
		return err
	}
	claims := map[string]int{}
	for _, id := range s.Members {
		if ref := s.Graph.Ref(id); ref.Namespace != "" {
			claims[ref.Namespace] += 0
			if ref.GroupKind() == ClaimKind {
				claims[ref.Namespace]++
			}
		}
	}
	names := slices.Sorted(maps.Keys(claims))
	spec := map[string]any{"includedNamespaces": texts(names), "storageLocation": location.Name, "snapshotVolumes": true}
	o := newObject(gv.WithKind("Backup"), location.Namespace, plan.Name, map[string]string{NameLabel: plan.Name}, spec)
	for i, name := range names {
		p := Part{
			Object: object.Ref{Kind: "Namespace", Name: name}, Method: ByVelero, Provider: location.Name, Backup: object.RefOf(o),
			Reason: "all objects of the namespace, and " + object.Count(claims[name], "claim"),
		}
		if i == 0 {
			p.Create = o
		}
		plan.Parts = append(plan.Parts, p)
	}
	plan.Notes = append(plan.Notes, "Velero saves all Secrets of "+strings.Join(names, ", ")+" to "+location.Name+", as its store protects them")
	return nil
}

// veleroLocation is the default location, or the only one.
func (s *State) veleroLocation() (object.Ref, error) {
	var all, marked []object.Ref
	for ref, fields := range s.Whole {
		if ref.GroupKind() != VeleroLocationKind {
			continue
		}
		all = append(all, ref)
		if marks, _, _ := unstructured.NestedBool(fields, "spec", "default"); marks {
			marked = append(marked, ref)
		}
	}
	switch {
	case len(marked) == 1:
		return marked[0], nil
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return object.Ref{}, hint.With(errors.New("--engine velero: Velero has no BackupStorageLocation that could be read"), "velero backup-location create makes one")
	}
	var names []string
	for _, ref := range all {
		names = append(names, ref.String())
	}
	slices.Sort(names)
	return object.Ref{}, hint.With(fmt.Errorf("--engine velero: not one of %s is the default", strings.Join(names, ", ")), "set spec.default of one of them")
}

// restoreVelero makes the System of a restore: one Velero Restore, which skips what exists.
func (r *restorer) restoreVelero() error {
	if len(r.options.StorageClasses) > 0 {
		return hint.With(fmt.Errorf("--storage-class-map: the backup %s is one of Velero", r.plan.Name), "Velero maps storage classes by a ConfigMap with the label velero.io/change-storage-class")
	}
	first := &r.plan.Parts[0]
	mapping, names := map[string]any{}, []string{}
	for i := range r.plan.Parts {
		p := &r.plan.Parts[i]
		names = append(names, p.Object.Name)
		if to := r.namespace(p.Object.Name); to != p.Object.Name {
			mapping[p.Object.Name] = to
		}
		ref := p.Object
		ref.Name = r.namespace(ref.Name)
		r.Parts = append(r.Parts, RestoredPart{ref, string(ByVelero), p.Backup.String(), "a Restore of Velero"})
	}
	spec := map[string]any{"backupName": first.Backup.Name, "includedNamespaces": texts(names), "restorePVs": true}
	if len(mapping) > 0 {
		spec["namespaceMapping"] = mapping
	}
	kind := schema.GroupVersionKind{Group: veleroGroup, Version: "v1", Kind: "Restore"}
	o := newObject(kind, first.Backup.Namespace, r.PartialName(), map[string]string{NameLabel: r.plan.Name}, spec)
	r.Name = r.PartialName()
	r.Notes = append(r.Notes, "Velero restores the objects in an order of kinds, and skips what exists; operators have to be installed before")
	r.sys = &system.System{
		Name: r.Name, Namespace: first.Backup.Namespace, Apps: []system.App{{Name: string(ByVelero), Resources: []*unstructured.Unstructured{o}}}, Regulation: r.sys.Regulation,
	}
	r.Namespace, r.Apps = r.sys.Namespace, 1
	return r.finish()
}

func texts(all []string) []any {
	var out []any
	for _, text := range all {
		out = append(out, text)
	}
	return out
}
