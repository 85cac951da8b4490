package check

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func portabilityStored(d *Definition, r *Result) {
	storage := d.Storage()
	if storage == nil || len(d.CRD.Status.StoredVersions) == 0 {
		r.AddUnknown(d.Ref, "its status does not say in which versions objects are stored")
		return
	}
	served := map[string]bool{}
	for _, v := range d.CRD.Spec.Versions {
		served[v.Name] = v.Served
	}
	for i, name := range d.CRD.Status.StoredVersions {
		if name == storage.Name {
			continue
		}
		f := Finding{
			Object: d.Ref, Field: fmt.Sprintf("status.storedVersions[%d]", i), Value: name,
			Remedy: fmt.Sprintf("rewrite all %s, then: kubectl patch crd %s --subresource=status --type=merge -p '{\"status\":{\"storedVersions\":[\"%s\"]}}'", d.CRD.Spec.Names.Plural, d.CRD.Name, storage.Name),
		}
		is, there := served[name]
		switch {
		case !there:
			f.Severity = Error
			f.Message = fmt.Sprintf("objects may be stored in %s, which the CRD does not have: the API server cannot read these", name)
		case !is:
			f.Message = fmt.Sprintf("objects may still be stored in %s, which is no longer served; a CRD that drops it will be refused", name)
		default:
			f.Message = fmt.Sprintf("objects may still be stored in %s and not in %s; a CRD that drops it will be refused", name, storage.Name)
		}
		if there && len(d.Instances) == 0 && d.World.Read(d.Kind, "") {
			f.Severity = Info
			f.Remedy = strings.Replace(f.Remedy, fmt.Sprintf("rewrite all %s, then: ", d.CRD.Spec.Names.Plural), "", 1)
			f.Message = fmt.Sprintf("%s is still listed as stored, although there are no objects; a CRD that drops it will be refused", name)
		}
		r.AddFinding(f)
	}
	if len(r.Findings) == 0 {
		r.Pass(d.Ref)
	}
}

func portabilityDeprecated(d *Definition, r *Result) {
	for i := range d.CRD.Spec.Versions {
		v := &d.CRD.Spec.Versions[i]
		if !v.Served || !v.Deprecated {
			continue
		}
		if v.Storage {
			r.AddFinding(Finding{
				Object: d.Ref, Field: fmt.Sprintf("spec.versions[%d].deprecated", i), Value: "true",
				Message: fmt.Sprintf("objects are stored in %s, which is deprecated", v.Name),
			})
		}
		if v.DeprecationWarning == nil || *v.DeprecationWarning == "" {
			r.AddFinding(Finding{
				Severity: Info, Object: d.Ref, Field: fmt.Sprintf("spec.versions[%d].deprecationWarning", i),
				Message: fmt.Sprintf("%s is deprecated, and the warning does not say what to use instead", v.Name),
				Remedy:  fmt.Sprintf("set deprecationWarning to the version to use: %s", portabilitySuccessor(d, v.Name)),
			})
		}
	}
	if len(r.Findings) == 0 {
		r.Pass(d.Ref)
	}
}

// portabilitySuccessor is the first served version that is not deprecated.
func portabilitySuccessor(d *Definition, not string) string {
	for _, v := range d.Served() {
		if !v.Deprecated && v.Name != not {
			return d.Kind.Group + "/" + v.Name
		}
	}
	return "none is served yet"
}

func portabilityStable(d *Definition, r *Result) {
	var alpha []string
	for _, v := range d.Served() {
		if !portabilityAlpha(v.Name) {
			r.Pass(d.Ref)
			return
		}
		alpha = append(alpha, v.Name)
	}
	if len(alpha) == 0 {
		return
	}
	r.AddFinding(Finding{
		Object: d.Ref, Field: "spec.versions", Value: strings.Join(alpha, ", "),
		Message: fmt.Sprintf("%s is served as alpha only (%s)", d.Kind.Kind, strings.Join(alpha, ", ")),
	})
}

// portabilityAlpha says that a version is named as Kubernetes names alpha ones: v1alpha2. A
// name of another form (2024-01-01) promises nothing, and is not found fault with.
func portabilityAlpha(version string) bool {
	rest, ok := strings.CutPrefix(version, "v")
	major, minor, alpha := strings.Cut(rest, "alpha")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return ok && alpha && digits(major) && digits(minor)
}

// portabilityGone is a resource that its group has no more, the release that removed it, and
// the group that has it now.
type portabilityGone struct{ group, resource, release, now string }

// portabilityRemoved returns them. A kind of which its own group has a later version is
// still what a right names.
func portabilityRemoved() []portabilityGone {
	var all []portabilityGone
	for _, r := range object.RemovedAPIs() {
		if r.Successor.Group != r.Group {
			plural, _ := meta.UnsafeGuessKindToResource(r.GroupVersionKind)
			all = append(all, portabilityGone{r.Group, plural.Resource, r.Release, r.Successor.Group})
		}
	}
	return all
}

func portabilityRemovedAPIs(o *Operator, r *Result) {
	for _, sa := range o.Accounts() {
		grants, known := o.World.Grants(sa)
		if len(grants) == 0 {
			if !known {
				r.AddUnknown(sa, "roles and their bindings were not all read")
			}
			continue
		}
		wrong := len(r.Findings)
		for _, gone := range portabilityRemoved() {
			if o.World.olderThan(gone.release) {
				continue
			}
			at, names := portabilityNamed(grants, gone.group, gone.resource)
			if !names {
				continue
			}
			f := Finding{Object: at.Role, Field: fmt.Sprintf("rules[%d]", at.Index), Value: gone.resource + "." + gone.group, Related: []object.Ref{sa, at.Binding}}
			if gone.now == "" {
				f.Message = fmt.Sprintf("grants %s of %s, which Kubernetes %s removed: it has no effect", gone.resource, gone.group, gone.release)
				r.AddFinding(f)
				continue
			}
			if slices.ContainsFunc(grants, func(g Grant) bool {
				return grantNames(g.Rule.APIGroups, gone.now) && grantNames(g.Rule.Resources, gone.resource)
			}) {
				continue
			}
			f.Severity = Warning
			f.Message = fmt.Sprintf("grants %s of %s, which Kubernetes %s removed, and not of %s, its replacement: the operator may not use them", gone.resource, gone.group, gone.release, gone.now)
			f.Remedy = fmt.Sprintf("grant the same verbs on %s of the group %s", gone.resource, gone.now)
			r.AddFinding(f)
		}
		if len(r.Findings) == wrong {
			r.Pass(sa)
		}
	}
}

// olderThan says that the cluster is older than a release of Kubernetes, as its nodes tell,
// which are never newer than its API server by a release.
func (w *ClusterState) olderThan(release string) bool {
	nodes := All[*corev1.Node](w.Facts, "", "Node")
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n *corev1.Node) bool {
		return !coreosIsOlder(n.Status.NodeInfo.KubeletVersion, release)
	})
}

// portabilityNamed returns the grant whose rule names a resource and its group.
func portabilityNamed(grants []Grant, group, resource string) (Grant, bool) {
	for _, g := range grants {
		if slices.Contains(g.Rule.APIGroups, group) && slices.Contains(g.Rule.Resources, resource) {
			return g, true
		}
	}
	return Grant{}, false
}
