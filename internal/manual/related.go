package manual

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// podNeeds summarizes the kinds that the pod rules refer to, for a template in a custom resource.
const podNeeds = "references of the pods"

// Related returns the rules that read the kind or refer to it, its own first. It omits rules that
// read every object, or that may refer to any kind. Those of a pod template in a custom resource
// are merged.
func Related(gk schema.GroupKind, rules []relation.Rule) []Relationship {
	out := []Relationship{}
	ofPods := map[string]string{} // the fields of the built-in rules, by name
	for i := range rules {
		if r := &rules[i]; r.Origin == "" {
			ofPods[r.Name] = r.Field
		}
	}
	for i := range rules {
		r := &rules[i]
		if r.Evidence {
			continue // makes no edges
		}
		one := Relationship{Relation: r.Relation.String(), Field: r.Field, Origin: cmp.Or(r.Origin, "built-in"), Rule: r.Name}
		if slices.Contains(r.From, gk) {
			reads := one
			reads.Kinds, reads.Reversed = splitKinds(r.To), r.Backward
			if at, ok := strings.CutSuffix(r.Field, "."+ofPods[r.Name]); ok && r.Origin != "" && ofPods[r.Name] != "" {
				reads.Relation, reads.Kinds, reads.Field, reads.Rule = relation.Needs.String(), []string{podNeeds}, at, "pod-template"
			}
			out = append(out, reads)
		}
		if len(r.From) > 0 && slices.Contains(r.ToKinds(), gk) {
			named := one
			named.Kinds, named.Reversed, named.OnOther = kindNames(r.From), !r.Backward, true
			out = append(out, named)
		}
	}
	slices.SortStableFunc(out, func(a, b Relationship) int {
		return cmp.Or(boolCompare(a.OnOther, b.OnOther), cmp.Compare(order(a.Relation), order(b.Relation)), boolCompare(a.Reversed, b.Reversed),
			cmp.Compare(strings.Join(a.Kinds, " "), strings.Join(b.Kinds, " ")), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Rule, b.Rule))
	})
	return slices.CompactFunc(out, func(a, b Relationship) bool {
		return a.Relation == b.Relation && a.Reversed == b.Reversed && a.OnOther == b.OnOther && slices.Equal(a.Kinds, b.Kinds) && a.Field == b.Field && a.Origin == b.Origin
	})
}

func order(name string) relation.Relation {
	r, _ := relation.ParseRelation(name)
	return r
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func kindNames(kinds []schema.GroupKind) []string {
	out := make([]string, len(kinds))
	for i, gk := range kinds {
		out[i] = gk.String()
	}
	return out
}

func splitKinds(text string) []string {
	if text == "" {
		text = "any kind"
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
	return strings.Split(text, ", ")
}
