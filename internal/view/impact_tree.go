package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// maxImpacts is how many lines of a kind are shown; -o table has all of them.
const maxImpacts = 20

func (v *impactView) tree() *Tree {
	root := impactLine(Cell{Text: v.text(v.Impact.Object)}, Cell{v.summary(), v.worst()})
	root.Children = append(root.Children, v.notes()...)
	shown := map[int]bool{}
	for i := range v.Stacks {
		line := v.stackLine(&v.Stacks[i], shown)
		if i < maxImpacts {
			root.Children = append(root.Children, line)
		}
	}
	if more := len(v.Stacks) - maxImpacts; more > 0 {
		root.Children = append(root.Children, impactLine(Cell{fmt.Sprintf("… %d more stacks", more), Faint}, Cell{}))
	}
	var rest []int
	for i := range v.all {
		if !shown[i] {
			rest = append(rest, i)
		}
	}
	if len(rest) > 0 {
		line := impactLine(Cell{Text: "in no stack"}, Cell{})
		line.Children, line.Hidden = v.dependents(rest)
		root.Children = append(root.Children, line)
	}
	root.Children = append(root.Children, v.deletedLines()...)
	root.Children = append(root.Children, v.unlookedLines()...)
	return &Tree{
		Columns: []Column{{Name: "IF THIS IS DELETED", Truncate: Middle, MinWidth: LeastName}, {Name: "EFFECT", OwnLine: true, Wrap: true}},
		Roots:   []*TreeRow{root},
	}
}

func impactLine(name, effect Cell) *TreeRow { return &TreeRow{Name: name, Cells: []Cell{effect}} }

func (v *impactView) worst() Tone {
	worst := Plain
	for i := range v.Stacks {
		worst = max(worst, stackTone(&v.Stacks[i]))
	}
	return worst
}

// notes are what is to be said of the object itself.
func (v *impactView) notes() []*TreeRow {
	g, im := v.Graph, &v.Impact
	var out []*TreeRow
	note := func(name, text string) {
		out = append(out, impactLine(Cell{name, Faint}, Cell{text, Faint}))
	}
	if text := g.Acts(im.Object); text != "" {
		note("only new ones", text)
	}
	if f := g.Finalizers(im.Object); len(f) > 0 {
		note("finalizers", "it stays Terminating until these are removed: "+strings.Join(f, ", "))
	}
	if blocks := v.blocking(); v.Cascade == graph.Foreground && blocks > 0 {
		note("foreground", "it waits for its blocking dependents: "+counted(blocks, "object"))
	}
	switch {
	case im.Remaker < 0:
	case im.RemakerKnown:
		note("recreated", v.text(im.Remaker)+" recreates it at once")
	default:
		note("recreated?", v.text(im.Remaker)+" created it, and may recreate it")
	}
	return out
}

func (v *impactView) blocking() int {
	n := 0
	for i := range v.Impact.Deleted {
		if d := &v.Impact.Deleted[i]; d.Blocks && d.By == v.Impact.Object {
			n++
		}
	}
	return n
}

// stackLine is a stack, and below it what happens to objects of it that no stack above has.
func (v *impactView) stackLine(s *graph.StackImpact, shown map[int]bool) *TreeRow {
	word, _ := stackWords(s)
	tone := stackTone(s)
	text := glyph(tone) + word
	if !s.Gone {
		text += ": " + v.text(s.Because)
	}
	if n := s.Deleted; n > 0 {
		text += "; " + counted(n, "object") + " of it also deleted"
	}
	line := impactLine(Cell{Text: "stack " + v.stackName(s)}, Cell{text, tone})
	var news []int
	for _, place := range s.Members {
		if !shown[place] {
			shown[place] = true
			news = append(news, place)
		}
	}
	line.Children, line.Hidden = v.dependents(news)
	return line
}

// dependents are lines of dependents, by their places, and how many are left out.
func (v *impactView) dependents(places []int) (lines []*TreeRow, hidden int) {
	for i, place := range places {
		if i == maxImpacts {
			return lines, len(places) - i
		}
		d := &v.all[place]
		tone := effectTone(d.Effect, d.Inferred)
		lines = append(lines, impactLine(Cell{Text: v.text(d.ID)}, Cell{glyph(tone) + v.describe(d) + " (" + v.because(d) + ")", tone}))
	}
	return lines, 0
}

// deletedLines are what is deleted along, what may be, and what stays.
func (v *impactView) deletedLines() []*TreeRow {
	im := &v.Impact
	var out []*TreeRow
	if n := len(im.Deleted); n > 0 {
		line := impactLine(Cell{Text: "deleted with it"}, Cell{"✖ " + counted(n, "object") + v.waiting(), Bad})
		line.Children, line.Hidden = v.deleted()
		out = append(out, line)
	}
	if n := len(im.MayGo); n > 0 {
		line := impactLine(Cell{Text: "may be deleted with it"}, Cell{"! " + counted(n, "object") + ": a controller decides", Warn})
		for i := range im.MayGo[:min(n, maxImpacts)] {
			d := &im.MayGo[i]
			line.Children = append(line.Children, impactLine(Cell{Text: v.text(d.ID)}, Cell{"by " + v.text(d.By) + " (" + d.Edge.Why() + ")", Warn}))
		}
		line.Hidden = max(n-maxImpacts, 0)
		out = append(out, line)
	}
	if n := len(im.Kept); n > 0 {
		line := impactLine(Cell{Text: "stays"}, Cell{Text: counted(n, "object")})
		for _, k := range im.Kept[:min(n, maxImpacts)] {
			line.Children = append(line.Children, impactLine(Cell{Text: v.text(k.ID)}, Cell{Text: keptWhy(k.Reason)}))
		}
		line.Hidden = max(n-maxImpacts, 0)
		out = append(out, line)
	}
	return out
}

// waiting says that what is deleted has finalizers.
func (v *impactView) waiting() string {
	n := 0
	for i := range v.Impact.Deleted {
		if len(v.Graph.Finalizers(v.Impact.Deleted[i].ID)) > 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	if n == len(v.Impact.Deleted) {
		return ", once their finalizers are removed"
	}
	return fmt.Sprintf(", %d of them once their finalizers are removed", n)
}

// deleted lists what is deleted along: data first, then what the object takes by itself, of
// which the rest hangs; of very many, by kind.
func (v *impactView) deleted() (lines []*TreeRow, hidden int) {
	all := v.Impact.Deleted
	isData := func(d *graph.Deletion) bool {
		kind := v.Graph.Ref(d.ID).Kind
		return d.Removal == graph.Reclaimed || kind == "PersistentVolumeClaim"
	}
	var data, rest []*graph.Deletion
	for i := range all {
		if d := &all[i]; isData(d) {
			data = append(data, d)
		} else {
			rest = append(rest, d)
		}
	}
	for i, d := range data {
		if i == maxImpacts {
			hidden = len(data) - i
			break
		}
		lines = append(lines, impactLine(Cell{Text: v.text(d.ID)}, Cell{"✖ " + removalWhy(d), Bad}))
	}
	if len(rest) > maxImpacts {
		return append(lines, v.byKind(rest)...), hidden
	}
	for _, d := range rest {
		lines = append(lines, impactLine(Cell{Text: v.text(d.ID)}, Cell{removalWhy(d), Bad}))
	}
	return lines, hidden
}

// byKind counts deletions.
func (v *impactView) byKind(all []*graph.Deletion) []*TreeRow {
	n := map[string]int{}
	for _, d := range all {
		n[v.Graph.Ref(d.ID).Kind]++
	}
	var kinds []string
	for kind := range n {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(n[b]-n[a], strings.Compare(a, b)) })
	lines := make([]*TreeRow, 0, len(kinds))
	for _, kind := range kinds {
		lines = append(lines, impactLine(Cell{Text: kind}, Cell{fmt.Sprint(n[kind]), Bad}))
	}
	return lines
}

// unlookedLines name the kinds that may need the object and were not all read.
func (v *impactView) unlookedLines() []*TreeRow {
	if len(v.unlooked) == 0 {
		return nil
	}
	const maxShown = 6
	kinds := slices.Clone(v.unlooked[:min(len(v.unlooked), maxShown)])
	if more := len(v.unlooked) - maxShown; more > 0 {
		kinds = append(kinds, fmt.Sprintf("and %d more kinds", more))
	}
	return []*TreeRow{impactLine(Cell{"? unread", Faint}, Cell{"not all of these were read, and they may need it: " + strings.Join(kinds, ", "), Faint})}
}
