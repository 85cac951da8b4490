// Package infer guesses the relationships of custom resources whose operators
// declare none. It reads the content of an object and, where it is known, what the
// schema of its kind adds to that; nothing is fetched.
//
// The words of the package:
//
//   - Reference, a field that has the shape of one: secretName, issuerRef, the
//     env of a container. A field without that shape says nothing, whatever stands
//     in it.
//   - Stem, the part of a key that says the kind: secret in tlsSecretName, and
//     issuer in issuerRef.
//   - Digest, what a schema adds: what a reference without a telling key means.
//
// Every link is a guess: it is marked as inferred, and counts only where the
// object that it names is there. A wrong edge is worse than a missing one, so
// what can be read in two ways is not read.
package infer

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Origin is that of all rules of the package.
const Origin = "inferred"

// Schemas returns what the schema of a kind adds, nil where it is not known.
type Schemas func(schema.GroupKind) *SchemaHints

// The places of the rules; behind them come those of pods.
const (
	reference = iota
	target
	product
	host
	pods
)

// Rules returns the rules that guess for objects of the kinds. kinds are those of
// the source, among which a reference finds its own. schemas may be nil; it is
// asked while objects are read, from several goroutines.
//
//	field-reference  From needs what a field refers to
//	field-target     From serves what targetRef and scaleTargetRef refer to
//	field-product    From owns the Secret into which a field says that it writes
//	field-host       From needs the Service whose host name a field holds
//	pod-*            the built-in rules, for pod templates and pieces of them
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
