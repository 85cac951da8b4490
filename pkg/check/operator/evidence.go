package operator

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// sentences are the words of signs. %[1]s is the kinds by their plural names,
// %[2]s where it was seen.
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

// tellSigns says what speaks for a workload, a sentence each without its subject. That it
// may read is reported only where it may do no more.
func (s *search) tellSigns(defs []int, wl int) []string {
	var out []string
	for _, w := range sentences {
		if w.sign == signRead && len(out) > 0 {
			continue
		}
		var of []int
		where := ""
		for _, i := range defs {
			signs := s.signsOf(i, wl)
			if !signs.has(w.sign) || w.sign == signWrite && signs.has(signStatus|signGroup) || w.sign == signFinalizers && signs.has(signStatus|signGroup) {
				continue
			}
			if len(of) == 0 {
				where = s.signs[i][wl].where[w.sign]
			}
			of = append(of, i)
		}
		if len(of) == 0 {
			continue
		}
		if w.sign == signAny {
			out = append(out, fmt.Sprintf("may write everything, %s as well", s.tellDefs(of)))
			continue
		}
		out = append(out, fmt.Sprintf(w.text, s.tellDefs(of), where))
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
	const few = 3
	switch {
	case len(names) == 1:
		return names[0]
	case len(names) <= few:
		return object.AndList(names)
	}
	return fmt.Sprintf("%s, %s and %d more", names[0], names[1], len(names)-2)
}
