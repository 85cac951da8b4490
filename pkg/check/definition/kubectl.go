package definition

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// crdPrinterColumns checks that kubectl get shows more than a name and an age.
func crdPrinterColumns(d *check.Definition, r *check.Result) {
	v := preferred(d)
	if v == nil {
		return
	}
	if len(v.AdditionalPrinterColumns) > 0 {
		r.Pass(d.Ref)
		return
	}
	r.AddFinding(check.Finding{
		Object: d.Ref, Field: "spec.versions[" + v.Name + "].additionalPrinterColumns",
		Message: "kubectl get shows the name and the age of " + d.CRD.Spec.Names.Plural + ", and neither what they are nor their status",
	})
}

// crdPrinterPaths checks that the paths of columns exist in the schema.
func crdPrinterPaths(d *check.Definition, r *check.Result) {
	for _, v := range d.Served() {
		root := schemaOf(v)
		if root == nil {
			continue
		}
		for _, column := range v.AdditionalPrinterColumns {
			if missing := schemaPathLost(root.props, column.JSONPath); missing != "" {
				r.AddFinding(check.Finding{
					Object: d.Ref, Field: "spec.versions[" + v.Name + "].additionalPrinterColumns[" + column.Name + "].jsonPath", Value: column.JSONPath,
					Message: "the column " + column.Name + " of version " + v.Name + " is always empty: the schema has no " + missing,
				})
				continue
			}
			r.Pass(d.Ref)
		}
	}
}

// schemaPathLost returns the first field of a JSON path that a schema does not have and that
// no object can have, since unknown fields are pruned. It follows names, items and values; any
// other step of a path counts as valid.
func schemaPathLost(p *apiextensionsv1.JSONSchemaProps, path string) string {
	at := ""
	for i, step := range schemaPathSteps(path) {
		if schemaOpen(p) || p.XEmbeddedResource || i == 0 && slices.Contains([]string{"apiVersion", "kind", "metadata"}, step) {
			return ""
		}
		at = strings.TrimPrefix(at+"."+step, ".")
		next, ok := p.Properties[step]
		switch {
		case ok:
			p = &next
		case p.AdditionalProperties != nil && p.AdditionalProperties.Schema != nil:
			p = p.AdditionalProperties.Schema
		case p.AdditionalProperties != nil && p.AdditionalProperties.Allows:
			return ""
		default:
			return at
		}
		for p.Items != nil && p.Items.Schema != nil {
			p = p.Items.Schema
		}
	}
	return ""
}

// schemaPathSteps returns the names at the start of a JSON path: status and conditions of
// .status.conditions[?(@.type=="Ready")].status, with status behind.
func schemaPathSteps(path string) []string {
	var steps []string
	name := ""
	flush := func() {
		if name != "" {
			steps = append(steps, name)
		}
		name = ""
	}
	rest := strings.TrimPrefix(strings.Trim(path, "{} "), "$")
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; c {
		case '.':
			if strings.HasPrefix(rest[i:], "..") {
				flush()
				return steps
			}
			flush()
		case '[':
			flush()
			end := strings.IndexByte(rest[i:], ']')
			inside := ""
			if end > 0 {
				inside = rest[i+1 : i+end]
			}
			if end < 0 || strings.ContainsAny(inside, "[") || !strings.HasPrefix(inside, "?") && strings.Trim(inside, "0123456789-:*") != "" {
				return steps
			}
			i += end
		case '*', '\\', '\'', '"':
			return steps
		default:
			name += string(c)
		}
	}
	flush()
	return steps
}

// crdShortNames checks that there is a short name; a short plural is enough.
func crdShortNames(d *check.Definition, r *check.Result) {
	const quick = 6
	names := d.CRD.Spec.Names
	if len(names.ShortNames) > 0 || len(names.Plural) <= quick {
		r.Pass(d.Ref)
		return
	}
	r.AddFinding(check.Finding{
		Object: d.Ref, Field: "spec.names.shortNames",
		Message: "no short name exists for " + names.Plural,
	})
}

// crdCategories checks that a category lists all kinds of an operator at once.
func crdCategories(d *check.Definition, r *check.Result) {
	if len(d.CRD.Spec.Names.Categories) > 0 {
		r.Pass(d.Ref)
		return
	}
	r.AddFinding(check.Finding{
		Object: d.Ref, Field: "spec.names.categories",
		Message: d.CRD.Spec.Names.Plural + " are in no category, so no single kubectl get lists them together with the other kinds of " + d.CRD.Spec.Group,
	})
}

// crdNamesClash finds names that kubectl resolves to another kind.
func crdNamesClash(d *check.Definition, r *check.Result) {
	if d.World.Kinds == nil {
		return
	}
	names := d.CRD.Spec.Names
	clash := false
	for _, name := range append([]string{names.Plural}, names.ShortNames...) {
		for _, other := range d.World.Kinds.All() {
			if other.GroupKind() == d.Kind || !crdCalled(other, name) || sameKindMoved(d, other) {
				continue
			}
			clash = true
			r.AddFinding(check.Finding{
				Object: d.Ref, Field: "spec.names", Value: name,
				Message: "kubectl get " + name + " can mean " + other.String() + " as well, without saying which one it took",
				Remedy:  "Write the name with its group (" + names.Plural + "." + d.CRD.Spec.Group + "); as the author of the CRD, choose another short name.",
			})
		}
	}
	if !clash {
		r.Pass(d.Ref)
	}
}

func crdCalled(r object.Resource, name string) bool {
	return r.Plural == name || r.Singular == name || slices.Contains(r.ShortNames, name)
}

// sameKindMoved reports whether two kinds are one kind in two groups, as when an operator
// renames its group.
func sameKindMoved(d *check.Definition, other object.Resource) bool {
	return other.Kind == d.Kind.Kind && (strings.HasSuffix(other.Group, "."+d.Kind.Group) || strings.HasSuffix(d.Kind.Group, "."+other.Group))
}

// crdStatusSubresource checks that the status is a subresource.
func crdStatusSubresource(d *check.Definition, r *check.Result) {
	for _, v := range d.Served() {
		root := schemaOf(v)
		if root == nil {
			continue
		}
		_, has := root.props.Properties["status"]
		subresource := v.Subresources != nil && v.Subresources.Status != nil
		field := "spec.versions[" + v.Name + "].subresources.status"
		switch {
		case has && !subresource:
			r.AddFinding(check.Finding{
				Object: d.Ref, Field: field,
				Message: "version " + v.Name + " has a status but no status subresource: users who may change the spec may write the status, and each write of the status counts as a change of the spec",
			})
		case subresource && !has && !schemaOpen(root.props) && !d.CRD.Spec.PreserveUnknownFields:
			r.AddFinding(check.Finding{
				Severity: check.Info, Object: d.Ref, Field: schemaField(v) + ".properties.status",
				Message: "version " + v.Name + " has a status subresource but no status in its schema: anything written there is pruned",
			})
		case !subresource && !has:
			r.AddFinding(check.Finding{
				Severity: check.Info, Object: d.Ref, Field: field,
				Message: "version " + v.Name + " has no status: an object does not show whether the operator accepted it or acted on it",
			})
		default:
			r.Pass(d.Ref)
		}
	}
}

// crdScaleSubresource checks that kinds with replicas have the scale subresource, as
// Deployments do.
func crdScaleSubresource(d *check.Definition, r *check.Result) {
	for _, v := range d.Served() {
		root := schemaOf(v)
		if root == nil {
			continue
		}
		replicas, has := root.props.Properties["spec"].Properties["replicas"]
		if v.Subresources == nil || v.Subresources.Scale == nil {
			if has && replicas.Type == "integer" {
				r.AddFinding(check.Finding{
					Object: d.Ref, Field: "spec.versions[" + v.Name + "].subresources.scale",
					Message: "version " + v.Name + " has spec.replicas but no scale subresource: kubectl scale and autoscalers cannot set it",
				})
			}
			continue
		}
		crdScalePaths(d, v, root, r)
	}
}

func crdScalePaths(d *check.Definition, v *apiextensionsv1.CustomResourceDefinitionVersion, root *schemaNode, r *check.Result) {
	scale := v.Subresources.Scale
	at := "spec.versions[" + v.Name + "].subresources.scale."
	wrong := false
	paths := []struct{ field, path, then string }{
		{"specReplicasPath", scale.SpecReplicasPath, "it cannot be scaled"},
		{"statusReplicasPath", scale.StatusReplicasPath, "autoscalers always see 0 replicas"},
	}
	if scale.LabelSelectorPath != nil {
		paths = append(paths, struct{ field, path, then string }{"labelSelectorPath", *scale.LabelSelectorPath, "a HorizontalPodAutoscaler finds no selector, and refuses it"})
	}
	for _, p := range paths {
		if missing := schemaPathLost(root.props, p.path); missing != "" {
			wrong = true
			r.AddFinding(check.Finding{
				Severity: check.Warning, Object: d.Ref, Field: at + p.field, Value: p.path,
				Message: "the schema of version " + v.Name + " has no " + missing + ": " + p.then,
			})
		}
	}
	if scale.LabelSelectorPath == nil || *scale.LabelSelectorPath == "" {
		wrong = true
		r.AddFinding(check.Finding{
			Object: d.Ref, Field: at + "labelSelectorPath",
			Message: "the scale subresource of version " + v.Name + " names no selector: a HorizontalPodAutoscaler refuses it",
		})
	}
	if !wrong {
		r.Pass(d.Ref)
	}
}
