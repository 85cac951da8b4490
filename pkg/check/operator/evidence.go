package operator

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// sentences are the texts of signs. %[1]s is the kinds by their plural names, %[2]s the place
// of the sign.
var sentences = []struct {
	sign signSet
	text string
}{
	{signStatus, "may write the status of %[1]s (%[2]s)"},
	{signGroup, "may write everything of the group of %[1]s (%[2]s)"},
	{signFinalizers, "may write the finalizers of %[1]s (%[2]s)"},
	{signWrite, "may write %[1]s (%[2]s)"},
	{signConversion, "converts %[1]s between versions (%[2]s)"},
	{signOwner, "was created by the same object as the CRD of %[1]s (%[2]s)"},
	{signPackage, "belongs to the same package as the CRD of %[1]s (%[2]s)"},
	{signWebhook, "is called before %[1]s are written (%[2]s)"},
	{signLabels, "has the same labels or annotations as the CRD of %[1]s (%[2]s)"},
	{signName, "has the name of the operator of %[1]s (%[2]s)"},
	{signImage, "runs an image of that name (%[2]s)"},
	{signAny, "may write everything, %[1]s as well"},
	{signRead, "may read %[1]s (%[2]s)"},
}

// tellSigns returns the evidence for a workload, a sentence each without its subject.
// Permission to read is reported only where there is no other evidence.
func (s *search) tellSigns(defs []int, wl int) []string {
	var out []string
	for _, w := range sentences {
		if w.sign == signRead && len(out) > 0 {
			continue
		}
		var named []int
		place := ""
		for _, i := range defs {
			signs := s.signsOf(i, wl)
			if !signs.has(w.sign) || w.sign == signWrite && signs.has(signStatus|signGroup) || w.sign == signFinalizers && signs.has(signStatus|signGroup) {
				continue
			}
			if len(named) == 0 {
				place = s.signs[i][wl].where[w.sign]
			}
			named = append(named, i)
		}
		if len(named) == 0 {
			continue
		}
		if w.sign == signAny {
			out = append(out, fmt.Sprintf("may write everything, %s as well", s.tellDefs(named)))
			continue
		}
		out = append(out, fmt.Sprintf(w.text, s.tellDefs(named), place))
	}
	return out
}

// tellDefs names definitions: certificates, issuers and 4 more.
func (s *search) tellDefs(defs []int) string {
	var names []string
	for _, i := range defs {
		names = append(names, s.defs[i].plural)
	}
	slices.Sort(names)
	const maxShown = 3
	switch {
	case len(names) == 1:
		return names[0]
	case len(names) <= maxShown:
		return object.AndList(names)
	}
	return fmt.Sprintf("%s, %s and %d more", names[0], names[1], len(names)-2)
}
