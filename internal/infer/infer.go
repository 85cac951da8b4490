// Package infer infers the relationships of custom resources whose operators declare none. It reads
// the content of an object and, if known, the hints in the schema of its kind; it does no I/O.
//
// The terms of the package:
//
//   - Reference, a field with the form of one: secretName, issuerRef, the env of a container. A
//     field without that form is ignored, whatever its value.
//   - Stem, the part of a key that names the kind: secret in tlsSecretName, and issuer in
//     issuerRef.
//   - Digest, the hints of a schema: the target of a reference without a telling key.
//
// Every link is marked as inferred, and counts only if its target exists. A wrong edge is worse
// than a missing one, so ambiguous fields are ignored.
package infer

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Origin is the origin of all rules of the package.
const Origin = "inferred"

// Schemas returns the hints for a kind, nil if unknown.
type Schemas func(schema.GroupKind) *SchemaHints

// The indices of the rules; those of pods follow.
const (
	reference = iota
	target
	product
	host
	pods
)

// Rules returns the rules that infer links of objects of the kinds. kinds are those of the source,
// in which references are resolved. schemas may be nil; it is called during reads, from several
// goroutines.
//
//	field-reference  From needs the target of a reference
//	field-target     From serves the target of targetRef and scaleTargetRef
//	field-product    From owns the Secret that a field says it writes
//	field-host       From needs the Service whose host name is in a field
//	pod-*            the built-in rules, for pod templates and parts of them
func Rules(from []schema.GroupKind, kinds *object.Kinds, schemas Schemas) []relation.Rule {
	rules := []relation.Rule{
		reference: {Name: "field-reference", From: from, Relation: relation.Needs, Via: relation.Spec, Field: "*Name, *Ref", Origin: Origin},
		target:    {Name: "field-target", From: from, Relation: relation.Serves, Via: relation.Spec, Field: "*.targetRef", Origin: Origin},
		product:   {Name: "field-product", From: from, Relation: relation.Owns, Via: relation.Spec, To: "Secret", Field: "write*SecretToRef", Origin: Origin},
		host:      {Name: "field-host", From: from, Relation: relation.Needs, Via: relation.Spec, To: "Service", Field: "*host, *url, *endpoint", Origin: Origin},
	}
	rules = append(rules, relation.PodRules(from, "*", Origin)...)
	t := newTable(kinds)
	return relation.Together(rules, func(o object.Object, emit func(int, relation.Link)) {
		fields := o.Fields()
		if fields == nil {
			return
		}
		var d *SchemaHints
		if schemas != nil {
			d = schemas(o.GroupKind())
		}
		w := walker{table: t, self: o.Ref, emit: emit}
		w.root(fields, d)
	})
}
