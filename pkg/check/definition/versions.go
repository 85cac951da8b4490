package definition

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

func stored(d *check.Definition, r *check.Result) {
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
		f := check.Finding{
			Object: d.Ref, Field: fmt.Sprintf("status.storedVersions[%d]", i), Value: name,
			Remedy: fmt.Sprintf("rewrite all %s, then: kubectl patch crd %s --subresource=status --type=merge -p '{\"status\":{\"storedVersions\":[\"%s\"]}}'", d.CRD.Spec.Names.Plural, d.CRD.Name, storage.Name),
		}
		isServed, found := served[name]
		switch {
		case !found:
			f.Severity = check.Error
			f.Message = fmt.Sprintf("objects may be stored in %s, which the CRD does not have: the API server cannot read these", name)
		case !isServed:
			f.Message = fmt.Sprintf("objects may still be stored in %s, which is no longer served; a CRD that drops it will be refused", name)
		default:
			f.Message = fmt.Sprintf("objects may still be stored in %s and not in %s; a CRD that drops it will be refused", name, storage.Name)
		}
		if found && len(d.Instances) == 0 && d.World.Read(d.Kind, "") {
			f.Severity = check.Info
			f.Remedy = strings.Replace(f.Remedy, fmt.Sprintf("rewrite all %s, then: ", d.CRD.Spec.Names.Plural), "", 1)
			f.Message = fmt.Sprintf("%s is still listed as stored, although there are no objects; a CRD that drops it will be refused", name)
		}
		r.AddFinding(f)
	}
	if len(r.Findings) == 0 {
		r.Pass(d.Ref)
	}
}

func deprecated(d *check.Definition, r *check.Result) {
	for i := range d.CRD.Spec.Versions {
		v := &d.CRD.Spec.Versions[i]
		if !v.Served || !v.Deprecated {
			continue
		}
		if v.Storage {
			r.AddFinding(check.Finding{
				Object: d.Ref, Field: fmt.Sprintf("spec.versions[%d].deprecated", i), Value: "true",
				Message: fmt.Sprintf("objects are stored in %s, which is deprecated", v.Name),
			})
		}
		if v.DeprecationWarning == nil || *v.DeprecationWarning == "" {
			r.AddFinding(check.Finding{
				Severity: check.Info, Object: d.Ref, Field: fmt.Sprintf("spec.versions[%d].deprecationWarning", i),
				Message: fmt.Sprintf("%s is deprecated, and the warning does not say what to use instead", v.Name),
				Remedy:  fmt.Sprintf("set deprecationWarning to the version to use: %s", successor(d, v.Name)),
			})
		}
	}
	if len(r.Findings) == 0 {
		r.Pass(d.Ref)
	}
}

// successor is the first served version that is not deprecated.
func successor(d *check.Definition, except string) string {
	for _, v := range d.Served() {
		if !v.Deprecated && v.Name != except {
			return d.Kind.Group + "/" + v.Name
		}
	}
	return "none is served yet"
}

func stable(d *check.Definition, r *check.Result) {
	var alpha []string
	for _, v := range d.Served() {
		if !isAlpha(v.Name) {
			r.Pass(d.Ref)
			return
		}
		alpha = append(alpha, v.Name)
	}
	if len(alpha) == 0 {
		return
	}
	r.AddFinding(check.Finding{
		Object: d.Ref, Field: "spec.versions", Value: strings.Join(alpha, ", "),
		Message: fmt.Sprintf("%s is served as alpha only (%s)", d.Kind.Kind, strings.Join(alpha, ", ")),
	})
}

// isAlpha reports whether a version has the form of Kubernetes' alpha versions: v1alpha2. A
// name of another form (2024-01-01) promises nothing, and is no finding.
func isAlpha(version string) bool {
	rest, ok := strings.CutPrefix(version, "v")
	major, minor, alpha := strings.Cut(rest, "alpha")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return ok && alpha && digits(major) && digits(minor)
}
