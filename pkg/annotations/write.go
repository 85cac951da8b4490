package annotations

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Write returns a relation as an annotation of a CustomResourceDefinition, in KubePlus's grammar.
// It returns false if Parse does not read the same relation back. The grammar has no words for
// optional, inferred and ifPresent, so Write drops them.
func Write(s declare.Spec, instance object.Resource, kinds *object.Kinds) (key, value string, ok bool) {
	family, value, ok := write(s, declare.Spell(instance.GroupKind()))
	if !ok {
		return "", "", false
	}
	key = "resource/" + family + "-relationship"
	d, findings := Parse(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: instance.String(), Annotations: map[string]string{key: value}}}, kinds)
	return key, value, len(findings) == 0 && len(d.Specs) == 1 && core(d.Specs[0]).Equal(core(s))
}

// core returns a relation without its flags. A carrier whose value is the name of an instance can
// be written from either end; core writes it from the instance's.
func core(s declare.Spec) declare.Spec {
	s.Rule, s.Source, s.Optional, s.Inferred, s.IfPresent = "", "", false, false, false
	if s.Label+s.Annotation != "" && s.Value == "" && !s.List {
		s.Value = "{metadata.name}"
		s.Read = map[string]string{"": "to", "from": "to"}[s.Read]
	}
	if s.Read == "from" {
		s.Read = ""
	}
	return s
}

// write is Write without the check that Parse reads the same back.
func write(s declare.Spec, self string) (family, value string, ok bool) {
	kinds := s.To
	if !slices.Equal(s.From, []string{self}) {
		kinds = s.From
	}
	on := "on:" + strings.Join(kinds, ";")
	family = "annotation"
	if s.Label != "" {
		family = "label"
	}
	switch {
	case s.Field != "" && len(kinds) == 1:
		return "specproperty", "on:INSTANCE." + s.Field + ", value:" + kinds[0] + ".metadata.name", true
	case s.Selector != "":
		return "label", on + ", value:INSTANCE." + s.Selector, true
	case s.Label+s.Annotation == "":
		return "", "", false
	case s.Value != "":
		value = strings.NewReplacer("{", "INSTANCE.", "}", "").Replace(s.Value)
	case s.List:
		value = "contains(" + nameExpr + ")"
	default:
		value = nameExpr
	}
	return family, on + ", key:" + s.Label + s.Annotation + ", value:" + value, true
}
