package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// ImpactOf is what is shown of a deletion.
type ImpactOf struct {
	Graph   *graph.Graph
	Impact  graph.Impact
	Stacks  []graph.StackImpact
	Cascade graph.Cascade
}

// Impact returns the answer of the impact command: what happens to stacks, and to which of
// their objects; what is deleted along; what was not read.
func Impact(in ImpactOf) Output {
	v := newImpactView(in)
	doc := v.document()
	table := v.table()
	return Output{Tree: v.tree(), Table: table, Wide: table, Document: doc, Names: v.allNames()}
}

type impactView struct {
	ImpactOf
	names
	all      []graph.Dependent
	unlooked []string // kinds
}

func newImpactView(in ImpactOf) *impactView {
	im := &in.Impact
	v := &impactView{ImpactOf: in, all: im.Dependents()}
	for _, gk := range in.Graph.Unlooked(im.Object) {
		v.unlooked = append(v.unlooked, gk.String())
	}
	ids := im.Gone()
	for i := range v.all {
		ids = append(ids, v.all[i].ID)
	}
	v.names = newNames(in.Graph, in.Graph.Ref(im.Object).Namespace, ids)
	return v
}

// allNames are those of what is deleted, and of what is affected.
func (v *impactView) allNames() []string {
	var ids []graph.ID
	for i := range v.Impact.Deleted {
		ids = append(ids, v.Impact.Deleted[i].ID)
	}
	for i := range v.all {
		ids = append(append(ids, v.all[i].ID), v.all[i].Below...)
	}
	slices.Sort(ids)
	return refs(v.Graph, slices.Compact(ids))
}

// effectWord is an effect as people read it; of a guess it says so.
func effectWord(e graph.Effect, inferred bool) string {
	word := e.String()
	if inferred && e.Broken() {
		word = map[graph.Effect]string{graph.Breaks: "may break", graph.BreaksOnRestart: "may break on restart"}[e]
	}
	if inferred {
		word += " (inferred)"
	}
	return word
}

func effectTone(e graph.Effect, inferred bool) Tone {
	switch {
	case e.Broken() && !inferred:
		return Bad
	case e == graph.OnlyNew, e == graph.DoesWithout:
		return Plain
	}
	return Warn
}

// glyph stands before a word that tells of trouble.
func glyph(t Tone) string { return map[Tone]string{Bad: "✖ ", Warn: "! "}[t] }

// Summary is the impact in one line: 2 stacks break, 1 loses a replica.
func (v *impactView) summary() string {
	type group struct {
		one, more string
		n         int
	}
	var groups []group
	count := func(one, more string) {
		for i := range groups {
			if groups[i].one == one {
				groups[i].n++
				return
			}
		}
		groups = append(groups, group{one, more, 1})
	}
	for i := range v.Stacks {
		count(stackWords(&v.Stacks[i]))
	}
	if len(groups) == 0 {
		return v.summaryOfObjects()
	}
	var parts []string
	for i, g := range groups {
		n, verb := fmt.Sprint(g.n), g.more
		if g.n == 1 {
			verb = g.one
		}
		if i == 0 {
			n = counted(g.n, "stack")
		}
		parts = append(parts, n+" "+verb)
	}
	return strings.Join(parts, ", ")
}

func counted(n int, word string) string { return fmt.Sprintf("%d %s", n, noun(n, word)) }

// noun is the singular or plural of a word.
func noun(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// stackWords says what happens to a stack, and to several.
func stackWords(s *graph.StackImpact) (one, more string) {
	switch {
	case s.Gone:
		return "is deleted", "are deleted"
	case s.Inferred && s.Effect.Broken():
		return "may break", "may break"
	}
	switch s.Effect {
	case graph.Breaks:
		return "breaks", "break"
	case graph.BreaksOnRestart:
		return "breaks on restart", "break on restart"
	case graph.LosesReplica:
		return "loses a replica", "lose a replica"
	case graph.Degrades:
		return "degrades", "degrade"
	case graph.OnlyNew:
		return "stays available, but cannot create new ones", "stay available, but cannot create new ones"
	case graph.DoesWithout:
		return "does without", "do without"
	}
	return "loses a part", "lose a part"
}

func (v *impactView) summaryOfObjects() string {
	broken := 0
	for i := range v.all {
		if d := &v.all[i]; d.Effect.Broken() && !d.Inferred {
			broken++
		}
	}
	deleted := len(v.Impact.Deleted)
	switch {
	case broken > 0 && deleted > 0:
		return fmt.Sprintf("no stack is affected; %s deleted with it, %d broken", isAre(deleted, "object"), broken)
	case broken > 0:
		return "no stack is affected; " + isAre(broken, "object") + " broken"
	case deleted > 0:
		return "no other stack is affected; " + isAre(deleted, "object") + " deleted with it"
	case len(v.all) > 0:
		return "nothing breaks"
	}
	return "no object that was read needs it"
}

func isAre(n int, word string) string {
	if n == 1 {
		return "1 " + word + " is"
	}
	return counted(n, word) + " are"
}

// describe is what happens to a dependent, and why.
func (v *impactView) describe(d *graph.Dependent) string {
	text := effectWord(d.Effect, d.Inferred)
	if d.Effect == graph.LosesReplica {
		text += fmt.Sprintf(": %d of %d left", d.Left, d.Of)
	}
	if n := len(d.Below); n > 0 {
		text += ", with " + counted(n, "object") + " below it"
	}
	if d.Follows != "" {
		text += ": " + d.Follows
	}
	return text
}

// because is the cause of an effect, and the evidence.
func (v *impactView) because(d *graph.Dependent) string {
	if d.Cause == v.Impact.Object {
		return d.Edge.Why()
	}
	return v.text(d.Cause) + ", " + d.Edge.Why()
}

func (v *impactView) table() *Table {
	t := &Table{Columns: []Column{
		{Name: "EFFECT"},
		{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName},
		{Name: "CAUSE", DropOrder: 1, Truncate: Middle, MinWidth: LeastName},
		{Name: "WHY", DropOrder: 2, Truncate: Middle, MinWidth: LeastWhy},
	}}
	row := func(effect string, tone Tone, object, cause, evidence string) {
		t.Rows = append(t.Rows, []Cell{{effect, tone}, {object, Plain}, {cause, Faint}, {evidence, Faint}})
	}
	for i := range v.Stacks {
		s := &v.Stacks[i]
		word, _ := stackWords(s)
		cause := ""
		if !s.Gone {
			cause = v.text(s.Because)
		}
		row("stack "+word, stackTone(s), v.stackName(s), cause, "")
	}
	for i := range v.Impact.Deleted {
		d := &v.Impact.Deleted[i]
		row("deleted", Bad, v.text(d.ID), v.text(d.By), removalWhy(d))
	}
	for i := range v.Impact.MayGo {
		d := &v.Impact.MayGo[i]
		row("may be deleted", Warn, v.text(d.ID), v.text(d.By), d.Edge.Why())
	}
	for _, k := range v.Impact.Kept {
		row("stays", Plain, v.text(k.ID), v.text(k.By), keptWhy(k.Reason))
	}
	for i := range v.all {
		d := &v.all[i]
		word := effectWord(d.Effect, d.Inferred)
		if i >= len(v.Impact.Direct) && d.Effect == graph.Breaks && !d.Inferred {
			word = "suffers"
		}
		row(word, effectTone(d.Effect, d.Inferred), v.text(d.ID), v.text(d.Cause), d.Edge.Why())
	}
	return t
}

func (v *impactView) stackName(s *graph.StackImpact) string {
	return Written(s.Stack.Ref(v.Graph), v.home, v.twice)
}

func stackTone(s *graph.StackImpact) Tone {
	if s.Gone {
		return Bad
	}
	return effectTone(s.Effect, s.Inferred)
}

func removalWhy(d *graph.Deletion) string {
	switch d.Removal {
	case graph.InNamespace:
		return "it is in the namespace"
	case graph.OfDefinition:
		return "the CRD of its kind is deleted"
	case graph.Reclaimed:
		return "its reclaim policy is Delete: the data is deleted"
	case graph.ByController:
		return "its controller deletes it: " + d.Edge.Why()
	}
	return "all its owners are deleted"
}

func keptWhy(r graph.Reason) string {
	switch r {
	case graph.AnotherOwner:
		return "another owner remains"
	case graph.Orphaned:
		return "it is orphaned, by --cascade"
	case graph.Retained:
		return "its reclaim policy keeps it: it is Released, with its data"
	}
	return "its controller does not delete it"
}

func refs(g *graph.Graph, ids []graph.ID) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, g.Ref(id).String())
	}
	return out
}
