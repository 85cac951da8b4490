package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Stack is how a stack fares: the worst of its roots and of what they own and need, at
// any depth. What is optional, and what only serves it, is shown and does not count.
type Stack struct {
	// Status is empty where nothing that counts was judged.
	Status Status
	// Since is when the first of the worst causes began; zero where that is not known.
	Since time.Time
	// Causes are what makes it so, the deepest first; none where it is Healthy.
	Causes []Cause
	// Parts are the members of the stack, in order.
	Parts []Part
	// Counts is how many of the parts that count are in each status.
	Counts map[Status]int

	index map[graph.ID]int
}

// Part is how a member of a stack fares.
type Part struct {
	ID graph.ID
	// Own is what it says of itself, or what was derived; the Status is empty for what has
	// nothing to say.
	Own Health
	// Below is the worst of what it owns and needs in this stack; empty for nothing.
	Below Status
	// Required says that the stack is no better than this part.
	Required bool
	// Depth is how many steps it is from a root; -1 where it does not count.
	Depth int
}

// Status is the worst of the part itself and of what is below it.
func (p Part) Status() Status { return Worst(p.Own.Status, p.Below) }

// Cause is a part in trouble below which nothing else is in as much of it.
type Cause struct {
	ID     graph.ID
	Health Health
	// Depth is how many steps it is from a root.
	Depth int
	// Of is who leads to it, one step nearer to a root, and Edge the evidence, where the
	// cause is no root itself.
	Of   graph.ID
	Edge graph.Edge
	Root bool
}

// Part returns how a member fares.
func (s *Stack) Part(id graph.ID) (Part, bool) {
	i, ok := s.index[id]
	if !ok {
		return Part{}, false
	}
	return s.Parts[i], true
}

// Stack puts a stack together.
func (a *Assessment) Stack(st *graph.Stack) *Stack {
	w := &walk{a: a, st: st, index: map[graph.ID]int{}}
	w.s = &Stack{Counts: map[Status]int{}, index: w.index}
	for i, id := range st.Members() {
		w.index[id] = i
		w.s.Parts = append(w.s.Parts, Part{ID: id, Own: w.healthOf(id), Depth: -1})
	}
	w.led()
	w.count()
	w.settle()
	w.causes()
	return w.s
}

// walk is the making of a Stack.
type walk struct {
	a       *Assessment
	st      *graph.Stack
	s       *Stack
	index   map[graph.ID]int
	below   [][]int // of each part, those without which it does not do its work
	counted [][]int // of each part, those that count for it: scalers explain no trouble
	from    []int   // of each part that counts and is no root, who leads to it
}

// healthOf is what is said of a member by itself; of what is missing also who makes it.
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

// led finds what counts for what.
func (w *walk) led() {
	w.below, w.counted = make([][]int, len(w.s.Parts)), make([][]int, len(w.s.Parts))
	for i := range w.s.Parts {
		for p := range w.st.Parts(w.s.Parts[i].ID) {
			to, in := w.index[p.To]
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

// counts says whether a member is no better than a part. One that scales it counts where it
// cannot: suspended, on its way or unknown is its own affair.
func (a *Assessment) counts(p graph.Part) bool {
	return p.Required || p.Scales() && a.own[p.To].Status == Degraded
}

// weighs leaves out what has ended and was replaced, and what only guards others.
func (a *Assessment) weighs(id graph.ID) bool {
	return !a.outlived(id) && !guards(a.g.Ref(id))
}

// vouched leaves out what could not be read, where who needs it was judged by what it says
// of itself and would say if it lacked it: a pod that is ready has its node and its
// volumes. So a dump without nodes, or a user who may not read what is cluster-wide, does
// not make every stack Unknown. A custom resource nearby is a part like others: nobody
// vouches for that.
func (a *Assessment) vouched(by, id graph.ID) bool {
	if a.g.State(id) != graph.Unread {
		return false
	}
	if r := a.g.Ref(id); !Known(r.GroupKind()) && r.Namespace != "" {
		return false
	}
	h := a.own[by]
	return h.Status != "" && h.Status != Unknown && h.Reason != Exists && !h.Unreported
}

// guards tells what says how a part may be treated, and nothing of whether it works: a
// budget of one pod forbids to drain its node, and the pod runs.
func guards(r object.Ref) bool {
	return r.Group == "policy" && r.Kind == "PodDisruptionBudget"
}

// count marks what the roots lead to, the nearest first.
func (w *walk) count() {
	w.from = make([]int, len(w.s.Parts))
	var next []int
	for _, root := range w.st.Roots() {
		if i, in := w.index[root]; in {
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

// settle gives every part the worst of what is below it: the worst status is handed up
// first, and who has got one is passed by the milder ones. Parts may need each other in a
// ring.
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

// troubled says whether a part makes its stack what it is. Where something is known to be
// wrong, what is suspended or cannot be judged is no cause.
func (w *walk) troubled(h Health) bool {
	if w.s.Status.rank() >= Progressing.rank() {
		return h.Status.rank() >= Progressing.rank()
	}
	return h.Status == w.s.Status
}

// explained says whether something below a part is in as much trouble, or is missing: that
// is why who needs it does not work. In a ring of parts
// that are all in trouble the first one stands for them.
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

// Cause returns the one of the causes that says most of why the stack fares as it does: the
// deepest of those that are as bad as the stack, or else the deepest; false for none.
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
