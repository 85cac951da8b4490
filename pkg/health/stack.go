package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Stack is the health of a stack: the worst of its roots and of what they own and need, at any
// depth. What is optional, and what only serves it, is shown and does not count.
type Stack struct {
	// Status is empty if nothing that counts was evaluated.
	Status Status
	// Since is when the first of the worst causes began; zero if unknown.
	Since time.Time
	// Causes are the reasons, deepest first; none for a Healthy stack.
	Causes []Cause
	// Parts are the members of the stack, in order.
	Parts []Part
	// Counts is the number of required parts by status.
	Counts map[Status]int
}

// Part is the health of a member of a stack.
type Part struct {
	ID graph.ID
	// Own is its own or derived health; the Status is empty if it has none.
	Own Health
	// Below is the worst of what it owns and needs in this stack; empty for nothing.
	Below Status
	// Required is set if the stack is no better than this part.
	Required bool
	// Depth is the number of steps from a root; -1 if it does not count.
	Depth int
}

// Status returns the worst of the part itself and of what is below it.
func (p Part) Status() Status { return Worst(p.Own.Status, p.Below) }

// Cause is a part in trouble without a part below it in equal trouble.
type Cause struct {
	ID     graph.ID
	Health Health
	// Depth is the number of steps from a root.
	Depth int
	// Of is the part that leads to it, one step nearer to a root, and Edge the evidence, unless the
	// cause is a root.
	Of   graph.ID
	Edge graph.Edge
	Root bool
}

// Part returns the health of a member.
func (s *Stack) Part(id graph.ID) (Part, bool) {
	i, ok := s.index(id)
	if !ok {
		return Part{}, false
	}
	return s.Parts[i], true
}

// index finds a part.
func (s *Stack) index(id graph.ID) (int, bool) {
	return slices.BinarySearchFunc(s.Parts, id, func(p Part, id graph.ID) int { return cmp.Compare(p.ID, id) })
}

// Stack returns the health of a stack.
func (a *Assessment) Stack(st *graph.Stack) *Stack {
	members := st.Members()
	w := &walk{a: a, st: st, s: &Stack{Counts: map[Status]int{}, Parts: make([]Part, 0, len(members))}}
	for _, id := range members {
		w.s.Parts = append(w.s.Parts, Part{ID: id, Own: w.healthOf(id), Depth: -1})
	}
	w.led()
	w.count()
	w.settle()
	w.causes()
	return w.s
}

// walk is the state of Assessment.Stack.
type walk struct {
	a       *Assessment
	st      *graph.Stack
	s       *Stack
	below   [][]int // by part, those without which it does not work
	counted [][]int // by part, those that count for it: scalers explain no trouble
	from    []int   // by required part that is no root, the part that leads to it
}

// healthOf returns the health of a member by itself; for a missing one it names the maker.
func (w *walk) healthOf(id graph.ID) Health {
	h := w.a.own[id]
	if h.Status != Missing || h.Reason != ReasonNotFound {
		return h
	}
	var makers []string
	for p := range w.st.Parts(id) {
		if name := w.a.g.Ref(p.To).String(); p.Maker() && !slices.Contains(makers, name) {
			makers = append(makers, name)
		}
	}
	if len(makers) > 0 {
		h.Message += ": " + strings.Join(makers, " or ") + " creates it"
	}
	return h
}

// led finds which parts count for which.
func (w *walk) led() {
	w.below, w.counted = make([][]int, len(w.s.Parts)), make([][]int, len(w.s.Parts))
	for i := range w.s.Parts {
		for p := range w.st.Parts(w.s.Parts[i].ID) {
			to, in := w.s.index(p.To)
			if !in || to == i || !w.a.counts(p) || !w.a.weighs(p.To) || w.a.vouched(w.s.Parts[i].ID, p.To) {
				continue
			}
			w.counted[i] = append(w.counted[i], to)
			if p.Required {
				w.below[i] = append(w.below[i], to)
			}
		}
	}
}

// counts reports whether a member is no better than a part. A scaler counts only if it cannot
// scale: whether it is suspended, progressing or unknown does not concern what it scales.
func (a *Assessment) counts(p graph.Part) bool {
	return p.Required || p.Scales() && a.own[p.To].Status == Degraded
}

// weighs reports whether a part counts at all: not if it has ended and was replaced, and not if it
// only guards others.
func (a *Assessment) weighs(id graph.ID) bool {
	return !a.outlived(id) && !guards(a.g.Ref(id))
}

// vouched reports whether an unread part is not needed to evaluate what needs it, because that
// would report its absence: a ready pod has its node and its volumes. So a dump without nodes, or a
// user who may not read cluster-scoped objects, does not make every stack Unknown. A custom
// resource in the same namespace is a part like others: no other object shows its state.
func (a *Assessment) vouched(dependent, id graph.ID) bool {
	if a.g.State(id) != graph.Unread {
		return false
	}
	if r := a.g.Ref(id); !Known(r.GroupKind()) && r.Namespace != "" {
		return false
	}
	h := a.own[dependent]
	return h.Status != "" && h.Status != Unknown && h.Reason != Exists && !h.Unreported
}

// guards reports kinds that restrict how a part may be treated, and do not affect whether it works:
// a budget of one pod forbids to drain its node, and the pod runs.
func guards(r object.Ref) bool {
	return r.Group == "policy" && r.Kind == "PodDisruptionBudget"
}

// count marks the required parts, nearest first.
func (w *walk) count() {
	w.from = make([]int, len(w.s.Parts))
	var next []int
	for _, root := range w.st.Roots() {
		if i, in := w.s.index(root); in {
			w.s.Parts[i].Depth, w.s.Parts[i].Required = 0, true
			next = append(next, i)
		}
	}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for _, to := range w.counted[at] {
			if p := &w.s.Parts[to]; !p.Required {
				p.Required, p.Depth = true, w.s.Parts[at].Depth+1
				w.from[to] = at
				next = append(next, to)
			}
		}
	}
}

// settle sets Below of every part. The worst status is propagated first, and milder ones skip parts
// that have one. Parts may need each other in a cycle.
func (w *walk) settle() {
	above := make([][]int, len(w.s.Parts))
	for i, counted := range w.counted {
		for _, c := range counted {
			above[c] = append(above[c], i)
		}
	}
	statuses := Statuses()
	slices.Reverse(statuses)
	for _, status := range statuses {
		var next []int
		for i := range w.s.Parts {
			if w.s.Parts[i].Own.Status == status {
				next = append(next, i)
			}
		}
		for len(next) > 0 {
			at := next[len(next)-1]
			next = next[:len(next)-1]
			for _, up := range above[at] {
				if p := &w.s.Parts[up]; p.Below == "" {
					p.Below = status
					next = append(next, up)
				}
			}
		}
	}
	for i := range w.s.Parts {
		if p := &w.s.Parts[i]; p.Required {
			w.s.Counts[p.Own.Status]++
			w.s.Status = Worst(w.s.Status, p.Own.Status)
		}
	}
	delete(w.s.Counts, "")
}

// causes finds the parts in trouble that none below explains.
func (w *walk) causes() {
	s := w.s
	if s.Status == Healthy || s.Status == "" {
		return
	}
	for i := range s.Parts {
		p := &s.Parts[i]
		if !p.Required || !w.troubled(p.Own) || w.explained(i) {
			continue
		}
		c := Cause{ID: p.ID, Health: p.Own, Depth: p.Depth, Root: p.Depth == 0}
		if !c.Root {
			c.Of = s.Parts[w.from[i]].ID
			for part := range w.st.Parts(c.Of) {
				if part.To == c.ID && w.a.counts(part) {
					c.Edge, _ = part.Edge()
					break
				}
			}
		}
		s.Causes = append(s.Causes, c)
	}
	slices.SortStableFunc(s.Causes, func(x, y Cause) int {
		return cmp.Or(cmp.Compare(y.Depth, x.Depth), cmp.Compare(y.Health.Status.rank(), x.Health.Status.rank()))
	})
	for _, c := range s.Causes {
		if at := c.Health.Since; c.Health.Status == s.Status && !at.IsZero() && (s.Since.IsZero() || at.Before(s.Since)) {
			s.Since = at
		}
	}
}

// troubled reports whether a part determines the status of its stack. If something is certainly
// wrong, Suspended and Unknown parts are no causes.
func (w *walk) troubled(h Health) bool {
	if w.s.Status.rank() >= Progressing.rank() {
		return h.Status.rank() >= Progressing.rank()
	}
	return h.Status == w.s.Status
}

// explained reports whether something below a part is in equal trouble, or is missing, which is
// then the reason. In a cycle of parts in trouble the first one represents them.
func (w *walk) explained(i int) bool {
	own := w.s.Parts[i].Own
	if own.Stage == derivedStage {
		return true
	}
	seen := map[int]bool{i: true}
	for next := slices.Clone(w.below[i]); len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		if h := w.s.Parts[at].Own; h.Stage != derivedStage && (h.Status == Missing || !own.Status.Worse(h.Status)) && w.troubled(h) && (at < i || !w.reaches(at, i)) {
			return true
		}
		next = append(next, w.below[at]...)
	}
	return false
}

func (w *walk) reaches(from, to int) bool {
	seen := map[int]bool{}
	for next := []int{from}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if at == to {
			return true
		}
		if !seen[at] {
			seen[at] = true
			next = append(next, w.below[at]...)
		}
	}
	return false
}

// Cause returns the most significant cause: the deepest of those that are as bad as the stack, or
// else the deepest; false for none.
func (s *Stack) Cause() (Cause, bool) {
	for _, c := range s.Causes {
		if c.Health.Status == s.Status {
			return c, true
		}
	}
	if len(s.Causes) == 0 {
		return Cause{}, false
	}
	return s.Causes[0], true
}
