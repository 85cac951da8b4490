package system

import (
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Member is an object that is to be a member of a set, or says that it is, as it was read.
type Member struct {
	Ref    object.Ref
	Labels map[string]string
	// UID and ResourceVersion are those that it had: a change is refused when it has others.
	UID, ResourceVersion string
	// Controlled says that a controller made it, and may have copied its labels from what
	// it made it for.
	Controlled bool
}

// MemberAction is what becomes of an object.
type MemberAction string

// The changes.
const (
	Create      MemberAction = "create"
	Update      MemberAction = "update"
	Delete      MemberAction = "delete"
	AddLabel    MemberAction = "label"   // it becomes a member
	RemoveLabel MemberAction = "unlabel" // it is a member no more
	Nothing     MemberAction = "none"    // the object needs no change
	NotAMember  MemberAction = "left"    // it carries the label and is no member: it is let alone
)

// Step is a change of one object.
type Step struct {
	Object Member
	Change MemberAction
	// Why is for people; empty where there is nothing to say.
	Why string
}

// Adoption is what makes objects the members of a System. The parent comes first, with the
// kinds and namespaces of before and after (Wide); then the members; then the parent as it
// stays (Set). Who is interrupted leaves a parent that names all that carries its label.
type Adoption struct {
	Set, Wide Set
	Parent    MemberAction
	Members   []Step // those of the set in the order of the manifest, then those that leave it
}

// Adopt plans it: roots are the objects of the manifest, carriers those that carry the
// label of the set now, before is the set as it is; nil for none. A root in another set is an
// error.
func Adopt(want Set, before *Set, roots, carriers []Member) (Adoption, []error) {
	a := Adoption{Set: want, Wide: want, Parent: Create}
	if before != nil {
		a.Wide, a.Parent = want.With(*before), Update
	}
	var errs []error
	id, in := want.ID(), map[object.Ref]bool{}
	for _, r := range roots {
		if in[r.Ref] {
			continue
		}
		in[r.Ref] = true
		switch owner := r.Labels[MemberLabel]; owner {
		case id:
			a.Members = append(a.Members, Step{Object: r, Change: Nothing})
		case "":
			a.Members = append(a.Members, Step{Object: r, Change: AddLabel})
		default:
			errs = append(errs, fmt.Errorf("%s is in another ApplySet (label %s=%s): an object can be in one", r.Ref, MemberLabel, owner))
		}
	}
	for _, c := range inOrder(carriers) {
		switch {
		case in[c.Ref]:
		case c.Controlled:
			a.Members = append(a.Members, Step{Object: c, Change: NotAMember, Why: "its controller created it with the label of its owner"})
		default:
			a.Members = append(a.Members, Step{Object: c, Change: RemoveLabel, Why: "the manifest no longer names it"})
		}
	}
	return a, errs
}

// Release plans the way back: every member loses the label, and then the parent goes.
func Release(carriers []Member) []Step {
	var out []Step
	for _, c := range inOrder(carriers) {
		if c.Controlled {
			out = append(out, Step{Object: c, Change: NotAMember, Why: "its controller created it with the label of its owner"})
			continue
		}
		out = append(out, Step{Object: c, Change: RemoveLabel})
	}
	return out
}

func inOrder(found []Member) []Member {
	found = slices.SortedFunc(slices.Values(found), func(a, b Member) int { return object.Compare(a.Ref, b.Ref) })
	return slices.CompactFunc(found, func(a, b Member) bool { return a.Ref == b.Ref })
}
