package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func portabilityPackaged(o *Operator, r *Result) {
	for _, wl := range o.Workloads {
		if o.World.packageOf(wl.Ref) != "" {
			r.Pass(wl.Ref)
			continue
		}
		r.AddFinding(Finding{
			Object: wl.Ref, Field: "metadata.labels",
			Message: "nothing on it shows what installed it: no Helm release, OLM package, Argo CD or Flux mark, and no app.kubernetes.io/managed-by",
			Related: o.Definitions,
		})
	}
}

// packageOf says what installed an object, by the marks that installers leave; empty where
// there is none.
func (w *ClusterState) packageOf(ref object.Ref) string {
	if name, ns := w.releaseOf(ref); name != "" {
		return "Helm release " + ns + "/" + name
	}
	labels := w.labelsOf(ref)
	for _, key := range []string{
		"helm.sh/chart", "app.kubernetes.io/managed-by", "helm.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/name", "argocd.argoproj.io/instance",
		"applyset.kubernetes.io/part-of", "addonmanager.kubernetes.io/mode", "objectset.rio.cattle.io/hash", "kapp.k14s.io/app", "olm.owner", "olm.managed",
	} {
		if v := labels[key]; v != "" {
			return "label " + key + "=" + v
		}
	}
	if labels["heritage"] != "" && labels["chart"] != "" {
		return "label chart=" + labels["chart"]
	}
	for key := range labels {
		if strings.HasPrefix(key, "operators.coreos.com/") {
			return "label " + key
		}
	}
	for _, key := range []string{"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id", "helm.sh/hook"} {
		if v, ok := w.Facts.Annotation(ref, key); ok {
			return "annotation " + key + "=" + v
		}
	}
	// What another object made goes and changes with that: a provider of Crossplane, an
	// operator of OLM.
	if owner, ok := w.owner(ref); ok {
		return owner.String()
	}
	return ""
}

// portabilityInstallers are the field managers of tools that apply manifests, by the
// start of their names.
var portabilityInstallers = []string{
	"kubectl", "helm", "argocd", "kustomize-controller", "helm-controller", "flux", "kapp", "terraform", "pulumi", "before-first-apply", "kubeadm", "k3s", "rke2", "deploy@", "oc",
	"olm", "catalog", "package-server", "packageserver", "cluster-version-operator", "kube-addon-manager", "addon-manager", "fleet", "rancher", "eks", "clusterctl", "cluster-api",
	"istioctl", "linkerd", "cilium-cli", "velero-cli", "operator-sdk", "skaffold", "tilt", "werf", "tanka", "spinnaker", "ansible", "openapi-generator", "lens", "k9s", "headlamp",
}

// portabilityWriters returns the field managers that wrote what a definition defines (its
// group or its names, not only a CA bundle), in the order in which they are listed.
func portabilityWriters(entries []metav1.ManagedFieldsEntry) []string {
	var out []string
	for _, e := range entries {
		if e.Subresource != "" || e.FieldsV1 == nil || slices.Contains(out, e.Manager) {
			continue
		}
		var fields struct {
			Spec json.RawMessage `json:"f:spec"`
		}
		if json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields) != nil || fields.Spec == nil {
			continue
		}
		if bytes.Equal(bytes.TrimSpace(fields.Spec), []byte("{}")) || bytes.Contains(fields.Spec, []byte(`"f:group"`)) || bytes.Contains(fields.Spec, []byte(`"f:names"`)) {
			out = append(out, e.Manager)
		}
	}
	return out
}

// portabilityMakers returns who wrote what a definition defines, or who made it.
func portabilityMakers(d *Definition) []string {
	if writers := portabilityWriters(d.CRD.ManagedFields); len(writers) > 0 || d.Creator == "" {
		return writers
	}
	return []string{d.Creator}
}

func portabilityRegistered(d *Definition, r *Result) {
	if len(d.World.owners(d.Ref)) > 0 {
		// What others define (a composite resource, a constraint) is made by code, as it should.
		r.Pass(d.Ref)
		return
	}
	writers := portabilityMakers(d)
	if len(writers) == 0 {
		r.AddUnknown(d.Ref, "its managedFields, which show what registered it, were not read or name no manager")
		return
	}
	var strangers []string
	for _, manager := range writers {
		if portabilityInstaller(manager) {
			continue
		}
		if wl := portabilityWriter(d, manager); wl != nil {
			r.AddFinding(Finding{
				Object: d.Ref, Field: "metadata.managedFields", Value: manager, Related: []object.Ref{wl.Ref},
				Message: fmt.Sprintf("%s wrote this CRD itself, as field manager %s", describe(wl.Ref), manager),
			})
			return
		}
		strangers = append(strangers, manager)
	}
	if len(strangers) == 0 || d.World.packageOf(d.Ref) != "" {
		r.Pass(d.Ref)
		return
	}
	r.AddUnknown(d.Ref, fmt.Sprintf("%s wrote it; it is unknown whether that is the operator or what installed it", strings.Join(strangers, ", ")))
}

func portabilityInstaller(manager string) bool {
	lower := strings.ToLower(manager)
	return slices.ContainsFunc(portabilityInstallers, func(p string) bool {
		rest, ok := strings.CutPrefix(lower, p)
		// oc is a tool, and octavia-operator is not.
		return ok && (rest == "" || len(p) > 3 || !portabilityLetter(rest[0]))
	})
}

func portabilityLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// portabilityWriter returns the workload of the operator whose program goes by the name of
// a field manager, and which may register definitions. By default that name is what the
// program's file is called.
func portabilityWriter(d *Definition, manager string) *Workload {
	if d.Operator == nil {
		return nil
	}
	for _, wl := range d.Operator.Workloads {
		if !slices.Contains(portabilityPrograms(wl), operatorPlain(manager)) {
			continue
		}
		for _, spec := range wl.Specs() {
			grants, known := d.World.Grants(account(wl.Ref.Namespace, spec.ServiceAccountName))
			if _, may := portabilityCreates(grants); may || !known {
				return wl
			}
		}
	}
	return nil
}

// portabilityPrograms returns the names that the programs of a workload may have.
func portabilityPrograms(wl *Workload) []string {
	out := []string{operatorPlain(wl.Ref.Name)}
	for _, spec := range wl.Specs() {
		for _, c := range spec.Containers {
			out = append(out, operatorPlain(c.Name))
			if len(c.Command) > 0 {
				out = append(out, operatorPlain(c.Command[0][strings.LastIndex(c.Command[0], "/")+1:]))
			}
			out = append(out, operatorPlain(ParseImage(c.Image).Name()))
		}
	}
	return out
}

// portabilityCreates returns the grant by which definitions may be created.
func portabilityCreates(grants []Grant) (Grant, bool) {
	for _, g := range grants {
		if g.Namespace == "" && grantNames(g.Rule.APIGroups, "apiextensions.k8s.io") && grantNames(g.Rule.Resources, "customresourcedefinitions") && grantNames(g.Rule.Verbs, "create") && len(g.Rule.ResourceNames) == 0 {
			return g, true
		}
	}
	return Grant{}, false
}

func portabilityRegisters(o *Operator, r *Result) {
	seen := map[object.Ref]bool{}
	for _, wl := range o.Workloads {
		for _, sa := range wl.Accounts() {
			if seen[sa] {
				continue
			}
			seen[sa] = true
			grants, known := o.World.Grants(sa)
			g, may := portabilityCreates(grants)
			switch {
			case may:
				r.AddFinding(Finding{
					Object: g.Role, Field: fmt.Sprintf("rules[%d]", g.Index), Value: strings.Join(g.Rule.Verbs, ",") + " " + strings.Join(g.Rule.Resources, ","),
					Message: fmt.Sprintf("%s may create CRDs of any kind (service account %s)", describe(wl.Ref), sa.Name),
					Related: []object.Ref{sa, g.Binding},
				})
			case known:
				r.Pass(sa)
			default:
				r.AddUnknown(sa, "roles and their bindings were not all read")
			}
		}
	}
}

func portabilitySurvives(d *Definition, r *Result) {
	release := d.CRD.Annotations[graph.HelmName]
	if release == "" {
		// From a chart's crds/ folder, or no chart: Helm leaves it alone.
		if d.World.packageOf(d.Ref) != "" || len(portabilityMakers(d)) > 0 {
			r.Pass(d.Ref)
		}
		return
	}
	if strings.EqualFold(strings.TrimSpace(d.CRD.Annotations["helm.sh/resource-policy"]), "keep") {
		r.Pass(d.Ref)
		return
	}
	f := Finding{
		Object: d.Ref, Field: "metadata.annotations[" + graph.HelmName + "]", Value: release,
		Patch: "metadata:\n  annotations:\n    helm.sh/resource-policy: keep\n",
	}
	switch n := len(d.Instances); {
	case n > 0:
		f.Message = fmt.Sprintf("helm uninstall %s deletes this CRD, and with it %s", release, object.Count(n, "object"))
	default:
		f.Severity = Info
		f.Message = fmt.Sprintf("helm uninstall %s deletes this CRD, and with it all future objects", release)
	}
	r.AddFinding(f)
}
