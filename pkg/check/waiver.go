package check

import "github.com/kubectl-sysop/kubectl-sysop/pkg/object"

// WaiveAnnotation is where an object says which findings about it, and about what it owns,
// are meant so: id=reason, several by lines or semicolons.
const WaiveAnnotation = "sysop.dev/waive"

// Waiver says that what a rule finds is meant so.
type Waiver struct {
	// Rule is the ID.
	Rule string
	// Object is the one that carries the annotation, or that the file names; the zero Ref
	// means every object.
	Object object.Ref
	// Reason is why, never empty.
	Reason string
	// Origin is where it was written: waivers.yaml:4, or annotation of Deployment/shop/web.
	Origin string
}
