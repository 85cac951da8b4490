package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// installers are the prefixes of the field managers of tools that apply manifests.
var installers = []string{
	"kubectl", "helm", "argocd", "kustomize-controller", "helm-controller", "flux", "kapp", "terraform", "pulumi", "before-first-apply", "kubeadm", "k3s", "rke2", "deploy@", "oc",
	"olm", "catalog", "package-server", "packageserver", "cluster-version-operator", "kube-addon-manager", "addon-manager", "fleet", "rancher", "eks", "clusterctl", "cluster-api",
	"istioctl", "linkerd", "cilium-cli", "velero-cli", "operator-sdk", "skaffold", "tilt", "werf", "tanka", "spinnaker", "ansible", "openapi-generator", "lens", "k9s", "headlamp",
}

// fieldWriters returns the field managers that wrote the substance of a definition (its group
// or its names, not only a CA bundle), in the listed order.
func fieldWriters(entries []metav1.ManagedFieldsEntry) []string {
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

// makers returns the field managers that wrote the substance of a definition, or its creator.
func makers(d *check.Definition) []string {
	if writers := fieldWriters(d.CRD.ManagedFields); len(writers) > 0 || d.Creator == "" {
		return writers
	}
	return []string{d.Creator}
}

func registered(d *check.Definition, r *check.Result) {
	if len(d.World.Owners(d.Ref)) > 0 {
		// Code rightly creates the definitions that other objects define (a composite
		// resource, a constraint).
		r.Pass(d.Ref)
		return
	}
	writers := makers(d)
	if len(writers) == 0 {
		r.AddUnknown(d.Ref, "its managedFields, which show what registered it, were not read or name no manager")
		return
	}
	var strangers []string
	for _, manager := range writers {
		if installer(manager) {
			continue
		}
		if wl := operatorWriter(d, manager); wl != nil {
			r.AddFinding(check.Finding{
				Object: d.Ref, Field: "metadata.managedFields", Value: manager, Related: []object.Ref{wl.Ref},
				Message: fmt.Sprintf("%s wrote this CRD itself, as field manager %s", check.Describe(wl.Ref), manager),
			})
			return
		}
		strangers = append(strangers, manager)
	}
	if len(strangers) == 0 || d.World.InstalledBy(d.Ref) != "" {
		r.Pass(d.Ref)
		return
	}
	r.AddUnknown(d.Ref, fmt.Sprintf("%s wrote it; it is unknown whether that is the operator or what installed it", strings.Join(strangers, ", ")))
}

func installer(manager string) bool {
	lower := strings.ToLower(manager)
	return slices.ContainsFunc(installers, func(p string) bool {
		rest, ok := strings.CutPrefix(lower, p)
		// A prefix must end at a word: oc is a tool, octavia-operator is not.
		return ok && (rest == "" || len(p) > 3 || !letter(rest[0]))
	})
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' }

// operatorWriter returns the operator workload whose program has the name of a field manager,
// and which may register definitions. The default field manager is the file name of the
// program.
func operatorWriter(d *check.Definition, manager string) *check.Workload {
	if d.Operator == nil {
		return nil
	}
	for _, wl := range d.Operator.Workloads {
		if !slices.Contains(programs(wl), check.PlainName(manager)) {
			continue
		}
		for _, spec := range wl.Specs() {
			grants, known := d.World.Grants(check.ServiceAccount(wl.Ref.Namespace, spec.ServiceAccountName))
			if _, may := check.CreatesDefinitions(grants); may || !known {
				return wl
			}
		}
	}
	return nil
}

// programs returns the names that the programs of a workload may have.
func programs(wl *check.Workload) []string {
	out := []string{check.PlainName(wl.Ref.Name)}
	for _, spec := range wl.Specs() {
		for _, c := range spec.Containers {
			out = append(out, check.PlainName(c.Name))
			if len(c.Command) > 0 {
				out = append(out, check.PlainName(c.Command[0][strings.LastIndex(c.Command[0], "/")+1:]))
			}
			out = append(out, check.PlainName(check.ParseImage(c.Image).Name()))
		}
	}
	return out
}

func survives(d *check.Definition, r *check.Result) {
	release := d.CRD.Annotations[graph.HelmName]
	if release == "" {
		// Helm does not upgrade definitions from a chart's crds/ directory.
		if d.World.InstalledBy(d.Ref) != "" || len(makers(d)) > 0 {
			r.Pass(d.Ref)
		}
		return
	}
	if strings.EqualFold(strings.TrimSpace(d.CRD.Annotations["helm.sh/resource-policy"]), "keep") {
		r.Pass(d.Ref)
		return
	}
	f := check.Finding{
		Object: d.Ref, Field: "metadata.annotations[" + graph.HelmName + "]", Value: release,
		Patch: "metadata:\n  annotations:\n    helm.sh/resource-policy: keep\n",
	}
	switch n := len(d.Instances); {
	case n > 0:
		f.Message = fmt.Sprintf("helm uninstall %s deletes this CRD, and with it %s", release, object.Count(n, "object"))
	default:
		f.Severity = check.Info
		f.Message = fmt.Sprintf("helm uninstall %s deletes this CRD, and with it all future objects", release)
	}
	r.AddFinding(f)
}
