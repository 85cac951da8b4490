package graph

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// area is where a selector of an object matches and not everything was read: a namespace, or all if
// namespace is empty.
type area struct {
	kind      schema.GroupKind
	namespace string
	rule      uint16
	inferred  bool
}

// elsewhere records that a selector matches in an unread area. ReferenceGrants are handled by
// ungranted.
func (r *resolver) elsewhere(from inventory.ID, l *link, t relation.Target) {
	if rule := &r.rules.Rules()[l.rule]; rule.Peer || l.flags&backward != 0 || t.Kind == relation.ReferenceGrant || r.kinds.NotServed(t.Kind) {
		return
	}
	namespace := t.Namespace
	if t.AllNamespaces || t.Namespaces != nil {
		namespace = ""
	}
	if r.inv.Covered(t.Kind, namespace) {
		return
	}
	r.areas[from] = append(r.areas[from], area{t.Kind, namespace, l.rule, l.flags&inferred != 0})
}

// everywhere reports whether a kind must be read in all namespaces: a shared reader collects few
// objects of many namespaces.
func (s *Stack) everywhere(a area) bool { return a.namespace == "" || s.g.rules[a.rule].Terminal }

// unreadAreas returns the areas of members' selectors whose matches would belong to the stack. All
// Pods of a cluster, or all objects of another built-in kind, are read only for the selector of a
// root.
func (s *Stack) unreadAreas() []area {
	var out []area
	if len(s.g.areas) == 0 {
		return nil
	}
	for _, id := range s.members {
		for _, a := range s.g.areas[id] {
			kind, _ := s.g.kinds.Kind(a.kind)
			if s.selectsMembers(id, a) && (kind.Custom || s.isRoot(id) || !s.everywhere(a)) {
				out = append(out, a)
			}
		}
	}
	return out
}

// selectsMembers reports whether what a member selects belongs to the stack.
func (s *Stack) selectsMembers(id ID, a area) bool {
	rule := &s.g.rules[a.rule]
	switch {
	case s.opts.NoInferred && a.inferred, len(s.opts.Relations) > 0 && !slices.Contains(s.opts.Relations, rule.Relation), s.Boundary(id):
		return false
	case s.opts.Connected:
		return true
	case s.opts.Up:
		return rule.Relation == relation.Serves
	case s.marked(id, markLeaf):
		return false
	case s.marked(id, markProvenance):
		return rule.Relation == relation.Needs && !rule.Terminal
	case rule.Manages:
		return s.marked(id, markManaging)
	case rule.Relation == relation.Serves:
		return s.marked(id, markStands)
	}
	return true
}
