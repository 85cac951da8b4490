package definition

import (
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var validatingWebhookKind = schema.GroupKind{Group: admissionregistrationv1.GroupName, Kind: "ValidatingWebhookConfiguration"}

// validatedBy returns the webhooks that admit creates and updates of the kind. known is false
// where they were not read.
func validatedBy(d *check.Definition) (names []string, known bool) {
	for _, h := range d.World.Webhooks() {
		if h.Config.Kind == validatingWebhookKind.Kind && slices.ContainsFunc(h.Rules, func(r admissionregistrationv1.RuleWithOperations) bool { return ruledBy(d, r) }) {
			names = append(names, h.Name)
		}
	}
	return names, len(names) > 0 || d.World.Read(validatingWebhookKind, "")
}

// ruledBy reports whether a webhook's rule names the kind. A rule that matches every group is
// that of a policy engine, which does not validate this kind.
func ruledBy(d *check.Definition, rule admissionregistrationv1.RuleWithOperations) bool {
	changes := slices.ContainsFunc(rule.Operations, func(op admissionregistrationv1.OperationType) bool {
		return op == admissionregistrationv1.Create || op == admissionregistrationv1.Update || op == admissionregistrationv1.OperationAll
	})
	resource := slices.ContainsFunc(rule.Resources, func(name string) bool {
		return name == d.CRD.Spec.Names.Plural || name == "*" || name == "*/*"
	})
	return changes && resource && slices.Contains(rule.APIGroups, d.CRD.Spec.Group)
}

// schemaChecked reports whether a schema checks more than a type.
func schemaChecked(p *apiextensionsv1.JSONSchemaProps) bool {
	return len(p.Required) > 0 || schemaValueChecked(p) ||
		p.MinItems != nil || p.MaxItems != nil || p.UniqueItems || p.MinProperties != nil || p.MaxProperties != nil ||
		len(p.OneOf) > 0 || len(p.AnyOf) > 0 && !p.XIntOrString || len(p.AllOf) > 0 || p.Not != nil
}

// schemaValueChecked reports whether the values of a field are limited. A format that gives
// the width of a number is no practical limit.
func schemaValueChecked(p *apiextensionsv1.JSONSchemaProps) bool {
	switch p.Format {
	case "", "int32", "int64", "float", "double":
	default:
		return true
	}
	return len(p.Enum) > 0 || p.Pattern != "" || p.MinLength != nil || p.MaxLength != nil ||
		p.Minimum != nil || p.Maximum != nil || p.MultipleOf != nil || len(p.XValidations) > 0
}

// schemaPlain reports whether the type of a field allows a limit and has none by itself: a
// text, a number, a list or map, an object with fields some of which may be required.
func schemaPlain(p *apiextensionsv1.JSONSchemaProps) bool {
	switch p.Type {
	case "boolean":
		return false
	case "object":
		return len(p.Properties) > 0
	}
	return true
}

// schemaWorth is the number of checkable fields from which a schema without any check is a
// finding.
const schemaWorth = 3

// crdSchemaValidated checks that a schema refuses something. The right number of checks is
// unknown from outside: only a schema without any is a finding.
func crdSchemaValidated(d *check.Definition, r *check.Result) {
	v := preferred(d)
	var plain, checked int
	schemaOwn(v, func(n *schemaNode) {
		if schemaChecked(n.props) {
			checked++
		}
		if n.field() && n.depth() > 1 && schemaPlain(n.props) && !schemaOpen(n.props) {
			plain++
		}
	})
	root := schemaOf(v)
	if root == nil || plain == 0 && checked == 0 {
		return
	}
	if checked > 0 || schemaChecked(root.props) {
		r.Pass(d.Ref)
		return
	}
	webhooks, known := validatedBy(d)
	switch {
	case len(webhooks) > 0:
		r.Pass(d.Ref)
	case !known:
		r.AddUnknown(d.Ref, "its schema checks types only, and the webhooks that may check the rest could not be read")
	default:
		f := check.Finding{
			Object: d.Ref, Field: schemaField(v),
			Message: "none of its " + object.Count(plain, "field") + " has a check beyond its type, and no webhook validates the kind: wrong values show only in the operator's log",
		}
		if plain < schemaWorth {
			f.Severity = check.Info
		}
		r.AddFinding(f)
	}
}

// crdSchemaEnumerations finds texts whose values the description lists and the schema does
// not.
func crdSchemaEnumerations(d *check.Definition, r *check.Result) {
	v := preferred(d)
	var free []string
	listed := 0
	schemaOwn(v, func(n *schemaNode) {
		if n.props.Type != "string" || !n.field() {
			return
		}
		if len(n.props.Enum) > 0 {
			listed++
			return
		}
		if schemaChecked(n.props) || schemaRuledAbove(n) {
			return
		}
		if values := enumerationOf(n.props.Description); values != nil && !enumerationOfFields(n, values) {
			free = append(free, n.path()+" ("+strings.Join(values, ", ")+")")
		}
	})
	if len(free) == 0 {
		if listed > 0 {
			r.Pass(d.Ref)
		}
		return
	}
	webhooks, known := validatedBy(d)
	if !known || len(webhooks) > 0 {
		r.AddUnknown(d.Ref, object.Count(len(free), "field")+" with a list of values in the description ("+object.FirstWords(free, 4)+") may be checked by a webhook")
		return
	}
	r.AddFinding(check.Finding{
		Object: d.Ref, Field: schemaField(v), Value: object.FirstWords(free, 4),
		Message: "only the description lists the values of " + object.Count(len(free), "field") + ": the server accepts any other text as well",
	})
}

// enumerationOfFields reports whether a list names fields one of which is to be set.
func enumerationOfFields(n *schemaNode, values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool {
		_, sibling := n.up.props.Properties[v]
		return sibling || v == n.name
	})
}

// schemaRuledAbove reports whether a CEL rule of a field above mentions it.
func schemaRuledAbove(n *schemaNode) bool {
	for at := n.up; at != nil; at = at.up {
		for _, rule := range at.props.XValidations {
			if strings.Contains(rule.Rule, "."+n.name) {
				return true
			}
		}
	}
	return false
}
