package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/drain"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// Drain returns the answer of the impact command about a node: what a drain of it would hit.
func Drain(d *drain.Outcome, gaps []object.Gap) Output {
	v := &drainView{d: d}
	a := Output{Document: DrainDocument{HeadOf("Drain"), *d, gaps}, Tree: v.tree()}
	for i := range d.Stacks {
		a.Names = append(a.Names, d.Stacks[i].Ref.String())
	}
	return a
}

type drainView struct{ d *drain.Outcome }

func (v *drainView) tree() *Tree {
	d := v.d
	root := drainLine(d.Node.String(), strconv.Itoa(len(d.Evicted)), "", Cell{Text: v.head()})
	for i := range d.Stacks {
		root.Children = append(root.Children, v.stack(&d.Stacks[i]))
	}
	root.Children = append(root.Children, v.list("in no stack", d.NoStack)...)
	for i := range d.Budgets {
		if b := &d.Budgets[i]; b.Blocks || int(b.Allowed) < b.Pods {
			root.Children = append(root.Children, drainLine(name(b.Ref), strconv.Itoa(b.Pods), "", drainWord(b.Blocks, "blocks", "delays", b.Message)))
		}
	}
	root.Children = append(root.Children, v.elsewhere()...)
	root.Children = append(root.Children, drainUnknowns(d.Open)...)
	return &Tree{
		Columns: []Column{
			{Name: "OBJECT", Truncate: Middle, MinWidth: LeastName},
			{Name: "PODS", Right: true},
			{Name: "REMAINING", Right: true},
			{Name: "EFFECT", OwnLine: true, Wrap: true},
		},
		Roots: []*TreeRow{root},
	}
}

func drainLine(called, pods, remaining string, effect Cell) *TreeRow {
	return &TreeRow{Name: Cell{Text: called}, Cells: []Cell{{Text: pods}, {Text: remaining}, effect}}
}

func drainUnknowns(texts []string) []*TreeRow {
	var out []*TreeRow
	for _, text := range texts {
		out = append(out, &TreeRow{Name: Cell{"? unknown", Faint}, Cells: []Cell{{}, {}, {text, Faint}}})
	}
	return out
}

// head sums up what goes and what stays.
func (v *drainView) head() string {
	d := v.d
	var parts []string
	if d.Zone != "" {
		parts = append(parts, "zone "+d.Zone)
	}
	if d.Cordoned {
		parts = append(parts, "already cordoned")
	}
	breaks, blocked := 0, 0
	for i := range d.Stacks {
		if d.Stacks[i].Breaks {
			breaks++
		}
		if d.Stacks[i].Blocked {
			blocked++
		}
	}
	parts = append(parts, drainStacks(len(d.Stacks), breaks, blocked))
	switch n := len(d.LeftAlone); n {
	case 0:
	case 1:
		parts = append(parts, "1 pod is ignored (DaemonSets, static)")
	default:
		parts = append(parts, fmt.Sprintf("%d pods are ignored (DaemonSets, static)", n))
	}
	if len(d.Flags) > 0 {
		parts = append(parts, "kubectl drain requires "+strings.Join(d.Flags, " "))
	}
	return strings.Join(parts, "; ")
}

// drainStacks says how many stacks have pods on the node, and what becomes of them.
func drainStacks(n, breaks, blocked int) string {
	text := fmt.Sprintf("%d stacks have pods there", n)
	switch n {
	case 0:
		return "no stack has pods there"
	case 1:
		text = "1 stack has pods there"
	}
	var bad []string
	if breaks > 0 {
		bad = append(bad, drainVerb(breaks, "breaks", "break"))
	}
	if blocked > 0 {
		bad = append(bad, drainVerb(blocked, "cannot be drained", "cannot be drained"))
	}
	switch {
	case len(bad) > 0:
		return text + ": " + strings.Join(bad, ", ")
	case n == 1:
		return text + "; it stays available"
	}
	return text + "; all stay available"
}

func drainVerb(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

func (v *drainView) stack(s *drain.Stack) *TreeRow {
	word := Cell{"stays available", Good}
	switch {
	case s.Blocked && s.Breaks:
		word = Cell{"✖ blocked, and breaks once unblocked", Bad}
	case s.Blocked:
		word = Cell{"✖ blocked", Bad}
	case s.Breaks:
		word = Cell{"✖ breaks", Bad}
	}
	line := drainLine("stack "+name(s.Ref), "", "", word)
	for i := range s.Workloads {
		w := &s.Workloads[i]
		effect := drainWord(w.Breaks, "no ready pod remains until one starts elsewhere", "", "")
		if !w.Breaks {
			effect = Cell{drainGoOn(w), Plain}
		}
		child := drainLine(name(w.Ref), strconv.Itoa(len(w.Here)), strconv.Itoa(w.Left), effect)
		child.Children = v.troubled(w.Here)
		line.Children = append(line.Children, child)
	}
	return line
}

// drainGoOn says how many pods of a workload remain. A workload that runs to completion needs
// none.
func drainGoOn(w *drain.Workload) string {
	if w.Left == 0 {
		if slices.ContainsFunc(w.Here, func(p drain.Pod) bool { return p.Lost }) {
			return ""
		}
		return "ends before it completes; its owner may restart it"
	}
	text := fmt.Sprintf("%d of %d replicas remain", w.Left, max(int(w.Replicas), w.Left))
	if w.Waiting > 0 {
		text += ", " + drainVerb(w.Waiting, "is not ready", "are not ready")
	}
	return text
}

// drainWord is a word by its weight, and what it says.
func drainWord(bad bool, worse, milder, text string) Cell {
	cell := Cell{"! " + milder, Warn}
	if bad {
		cell = Cell{"✖ " + worse, Bad}
	}
	if text != "" {
		cell.Text += ": " + text
	}
	return cell
}

// troubled are the pods of which there is more to say than that they go.
func (v *drainView) troubled(pods []drain.Pod) []*TreeRow {
	var out []*TreeRow
	for i := range pods {
		if text := drainPodText(&pods[i]); text != "" {
			tone := Warn
			if p := &pods[i]; p.Refused != "" || p.Lost || len(p.Pinned) > 0 {
				tone = Bad
			}
			out = append(out, drainLine(name(pods[i].Pod), "", "", Cell{text, tone}))
		}
	}
	return out
}

func drainPodText(p *drain.Pod) string {
	var parts []string
	if p.Refused != "" {
		parts = append(parts, "cannot be evicted: "+p.Refused)
	}
	if p.Lost {
		parts = append(parts, "is lost: nothing recreates it")
	}
	if len(p.Pinned) > 0 {
		parts = append(parts, "waits until the node is back: only this one can mount "+strings.Join(RefTexts(p.Pinned), ", "))
	}
	if p.Waits {
		parts = append(parts, "is evicted after its replacement is ready")
	}
	if len(p.Volatile) > 0 {
		parts = append(parts, "loses its data in "+strings.Join(p.Volatile, ", "))
	}
	return strings.Join(parts, "; ")
}

// list tells of pods under a line of their own.
func (v *drainView) list(title string, pods []drain.Pod) []*TreeRow {
	if len(pods) == 0 {
		return nil
	}
	line := drainLine(title, strconv.Itoa(len(pods)), "", Cell{})
	for i := range pods {
		text := drainPodText(&pods[i])
		line.Children = append(line.Children, drainLine(name(pods[i].Pod), "", "", Cell{text, Warn}))
	}
	return []*TreeRow{line}
}

// elsewhere says whether the pods would find other nodes.
func (v *drainView) elsewhere() []*TreeRow {
	a := v.d.Elsewhere
	if a == nil {
		return nil
	}
	word := Cell{"? unknown", Warn}
	switch a.Verdict {
	case schedule.Fits:
		word = Cell{"✔ fits: every evicted pod finds another node, as the cluster is now", Good}
	case schedule.DoesNotFit:
		word = Cell{"✖ impossible: not all evicted pods find another node", Bad}
	}
	line := drainLine("rescheduling", "", "", word)
	for i := range a.Proofs {
		p := &a.Proofs[i]
		line.Children = append(line.Children, drainLine(firstFew(p.Pods), "", "", Cell{p.Message, Bad}))
	}
	line.Children = append(line.Children, drainUnknowns(a.Unknown)...)
	return []*TreeRow{line}
}

// name writes an object of the whole cluster for people: with its namespace, without its group.
func name(r object.Ref) string { return Written(r, "", nil) }

func RefTexts(refs []object.Ref) []string {
	out := make([]string, 0, len(refs))
	for _, r := range refs {
		out = append(out, name(r))
	}
	return out
}
