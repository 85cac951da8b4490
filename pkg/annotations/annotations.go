// Package annotations reads the relationships that a CustomResourceDefinition declares in its
// annotations, and returns rules. It reads the five keys that KubePlus publishes, in the spellings
// of all its versions:
//
//	resource/usage                      <configmap>.<key> | <namespace>.<configmap>.<key>
//	resource/composition                Kind, Kind, ...
//	resource/annotation-relationship    on:Kind[;Kind...], key:<annotation>, value:<expr>
//	resource/label-relationship         on:Kind[;Kind...], value:INSTANCE.spec.selector
//	                                    on:Kind[;Kind...], key:<label>, value:<expr>
//	resource/specproperty-relationship  on:INSTANCE.spec.<path>, value:Kind.spec.metadata.name
//
// and the one of this project, a YAML list in the grammar of catalog entries:
//
//	sysop.dev/relationships             - {to: Secret, relation: needs, field: spec.secretName}
//
// The terms of the package:
//
//   - Instance, a custom resource of the definition; INSTANCE in a value.
//   - Carrier, an object with the annotation or the label of a relationship, of one of the
//     kinds after "on:".
//   - Template, a value with INSTANCE.<path> in it. If that is the name of the instance, it is
//     inverted: the carrier's value gives the instance.
//   - Kind, written Kind or Kind.group. A bare kind of a built-in group is the built-in one,
//     even if a definition has the same name.
//
// An expression is evaluated and compared as a whole, without substring search, so moodle1 never
// matches moodle10. Parse does no I/O.
//
// An error is a finding of its annotation, with the nearest name for an unknown word; the rest of
// the annotation stays in effect. The rules go into a [relation.Set] together with the built-in
// ones.
package annotations

import (
	"fmt"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// Declaration is the content of the annotations of one CustomResourceDefinition.
type Declaration struct {
	// CRD is the name of the definition: moodles.moodlecontroller.kubeplus.
	CRD string
	// Kind is the kind of its instances, or empty if it is not served.
	Kind schema.GroupKind
	// Rules are the relationships, named crd:<CRD>:<annotation key>, with a number appended if one
	// annotation makes several rules.
	Rules []relation.Rule
	// Specs are the same relationships in the grammar of sysop.dev/relationships. Unsaid has the
	// annotations that this grammar cannot express, as they are written.
	Specs  []declare.Spec
	Unsaid map[string]string
	// Composition lists the kinds that the operator claims to create, or nil if it claims nothing.
	// No edge follows from it.
	Composition []schema.GroupKind
	// Usage locates the manual of the kind.
	Usage Usage
}

// Usage names the data key of a ConfigMap that contains a manual. All fields are empty if none is
// declared.
type Usage struct {
	// Namespace is empty if the annotation does not give one.
	Namespace string `json:"namespace,omitempty"`
	ConfigMap string `json:"configMap"`
	Key       string `json:"key"`
}

// Finding is an error in an annotation. The rest of the annotation and all others stay in effect.
type Finding struct {
	CRD string `json:"crd"`
	// Annotation is the key, or empty if the finding is about the definition.
	Annotation string `json:"annotation,omitempty"`
	// Line and Column are the position in the value of the annotation, in characters from 1. Both
	// are 0 without a position, and Line is 0 in a value of one line.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Message describes the error and what is valid.
	Message string `json:"message"`
}

// String formats the finding in one line.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CRD %s: ", f.CRD)
	if f.Annotation != "" {
		fmt.Fprintf(&b, "annotation %s: ", f.Annotation)
	}
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d, ", f.Line)
	}
	if f.Column > 0 {
		fmt.Fprintf(&b, "column %d: ", f.Column)
	}
	return b.String() + f.Message
}

// Parse reads the annotations of a CustomResourceDefinition; it needs only the metadata. kinds are
// those of the cluster. Findings are in the order in which the annotations are read: usage,
// composition, then the relationships by annotation, by label and by field, numbered ones in the
// order of their numbers; last, those of sysop.dev/relationships.
func Parse(crd metav1.Object, kinds *object.Kinds) (Declaration, []Finding) {
	d := Declaration{CRD: crd.GetName()}
	r := &reader{crd: d.CRD, kinds: kinds}
	plural, group, _ := strings.Cut(d.CRD, ".")
	instance, served := kinds.Resource(schema.GroupResource{Group: group, Resource: plural})
	if served {
		d.Kind = instance.GroupKind()
	}
	r.instance = instance

	entries, unknown := sortEntries(crd.GetAnnotations())
	for _, key := range unknown {
		r.key = key
		r.reportKey("unknown key: expected resource/annotation-relationship, resource/label-relationship or resource/specproperty-relationship, with a number behind where there are several")
	}
	r.key = ""
	if !served && hasRelationships(entries) {
		r.reportKey("%q is not a kind that the cluster serves, so its relationships are not read: expected an established CRD named <plural>.<group>", field.Shorten(d.CRD))
	}
	seen := map[string]bool{}
	for _, e := range entries {
		r.key, r.text = e.key, e.value
		switch e.family {
		case usage:
			if u := r.usage(); d.Usage == (Usage{}) {
				d.Usage = u
			}
		case composition:
			if c := r.composition(); d.Composition == nil {
				d.Composition = c
			}
		case relationships:
			if served {
				rules, specs := r.declared()
				d.Rules, d.Specs = append(d.Rules, rules...), append(d.Specs, specs...)
			}
		default:
			// The same value under an older key adds nothing.
			if same := fmt.Sprint(e.family, strings.TrimSpace(e.value)); served && !seen[same] {
				seen[same] = true
				rules, specs := r.relationship(e.family)
				if len(rules) > 0 && len(specs) == 0 {
					d.unsaid(e)
				}
				d.Rules, d.Specs = append(d.Rules, rules...), append(d.Specs, specs...)
			}
		}
	}
	return d, r.findings
}

func (d *Declaration) unsaid(e entry) {
	if d.Unsaid == nil {
		d.Unsaid = map[string]string{}
	}
	d.Unsaid[e.key] = e.value
}

// declared returns the rules of sysop.dev/relationships.
func (r *reader) declared() ([]relation.Rule, []declare.Spec) {
	specs, problems := declare.ParseList([]byte(r.text), declare.Options{Self: r.instance.GroupKind().String(), Kinds: r.kinds})
	for _, p := range problems {
		r.findings = append(r.findings, Finding{CRD: r.crd, Annotation: r.key, Line: p.Line, Column: p.Column, Message: p.Message})
	}
	return declare.Rules(specs, "crd:"+r.crd, "CRD "+r.crd, r.kinds), specs
}

// reader reads the annotations of one definition, one at a time.
type reader struct {
	crd      string
	kinds    *object.Kinds
	instance object.Resource

	key, text string // the current annotation
	findings  []Finding
}

func (r *reader) report(p *problem) {
	column := utf8.RuneCountInString(r.text[:p.at]) + 1
	r.findings = append(r.findings, Finding{CRD: r.crd, Annotation: r.key, Column: column, Message: p.message})
}

// reportKey reports a finding without a position in the value.
func (r *reader) reportKey(format string, args ...any) {
	r.findings = append(r.findings, Finding{CRD: r.crd, Annotation: r.key, Message: fmt.Sprintf(format, args...)})
}

// body returns the value of the annotation without surrounding white space and quotes.
func (r *reader) body() (span, bool) {
	s, err := span{text: r.text}.trim().unquote()
	if err != nil {
		r.report(err)
		return span{}, false
	}
	return s, true
}

// relationship returns the rules that the annotation declares, and the same as specs.
func (r *reader) relationship(f family) ([]relation.Rule, []declare.Spec) {
	c, ok := r.clauses()
	if !ok {
		return nil, nil
	}
	var rules []relation.Rule
	var specs []declare.Spec
	switch f {
	case annotationRelationship:
		rules, specs = r.carried(c, relation.Annotation)
	case labelRelationship:
		rules, specs = r.carried(c, relation.Label)
	case propertyRelationship:
		rules, specs = r.property(c)
	}
	for i := range rules {
		rules[i].Origin = "CRD " + r.crd
		rules[i].Name = "crd:" + r.crd + ":" + r.key
		if i > 0 {
			rules[i].Name += fmt.Sprintf(":%d", i+1)
		}
	}
	return rules, specs
}
