package definition

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// fieldNameForm is how Kubernetes writes the names of fields.
var fieldNameForm = pattern(`^[a-z][a-zA-Z0-9]*$`)

// crdFieldNames checks that the names of fields have the usual form. Names that begin with a
// sign ($ref, x-kubernetes-..., _id) belong to another language, and are allowed.
func crdFieldNames(d *check.Definition, r *check.Result) {
	v := preferred(d)
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
		if !fieldNameForm().MatchString(n.name) {
			odd = append(odd, n.path())
		}
	})
	switch {
	case len(odd) > 0:
		r.AddFinding(check.Finding{
			Object: d.Ref, Field: schemaField(v), Value: object.FirstWords(odd, 4),
			Message: object.CountAre(len(odd), "field") + " not named in lowerCamelCase as all of Kubernetes is: users guess wrong",
		})
	case any:
		r.Pass(d.Ref)
	}
}
