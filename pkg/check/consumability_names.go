package check

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
)

// fieldNameForm is how Kubernetes writes the names of fields.
var fieldNameForm = lazyregexp.New(`^[a-z][a-zA-Z0-9]*$`)

// crdFieldNames wants the names of fields in the form of every other kind. Names that begin
// with a sign ($ref, x-kubernetes-..., _id) are words of another language, and stay.
func crdFieldNames(d *Definition, r *Result) {
	v := d.preferred()
	var odd []string
	any := false
	schemaOwn(v, func(n *schemaNode) {
		if !n.field() {
			return
		}
		any = true
		if first := n.name[0] | 0x20; first < 'a' || first > 'z' || len(n.name) > 1 && n.name[:2] == "x-" {
			return
		}
		if !fieldNameForm.MatchString(n.name) {
			odd = append(odd, n.path())
		}
	})
	switch {
	case len(odd) > 0:
		r.AddFinding(Finding{
			Object: d.Ref, Field: schemaField(v), Value: schemaFew(odd),
			Message: schemaCount(len(odd), "field is", "fields are") + " not named in lowerCamelCase as all of Kubernetes is: users guess wrong",
		})
	case any:
		r.Pass(d.Ref)
	}
}
