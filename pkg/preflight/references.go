package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// references says what objects of the batch name and what is not there: in the cluster and
// the batch together.
func (f *foresight) references() {
	f.served()
	f.namespaces()
	if f.Graph == nil {
		return
	}
	edges := 0
	for _, it := range f.order {
		id, ok := f.Graph.Find(it.Ref)
		if !ok {
			continue
		}
		for e := range f.Graph.Out(id) {
			if e.Relation != relation.Needs || e.Inferred || e.Backward {
				continue
			}
			edges++
			f.reference(it, e)
		}
	}
	f.keys()
	f.looked[References] = fmt.Sprintf("%s of %s: all that must be there is there, or in the batch", many(edges, "reference"), many(len(f.order), "object"))
}

// reference judges one edge of an object of the batch.
func (f *foresight) reference(it *Item, e graph.Edge) {
	to, state := f.Graph.Ref(e.To), f.Graph.State(e.To)
	what, known := fates[e.Rule]
	if state == graph.Present || state == graph.Virtual || e.Optional || known && what.verdict == 0 || givenToAll(to) {
		return
	}
	if idle(f, it) && strings.HasPrefix(e.Rule, "pod-") {
		return
	}
	if !known {
		what = fate{undecided, "ReferenceMissing", f.follows(it, e)}
	}
	if what.message == "" {
		return
	}
	j := Judgement{
		Topic: References, Verdict: what.verdict, Object: it.Ref, Field: e.Field, Value: e.Value, Reason: what.reason,
		Message: fmt.Sprintf("needs %s, which does not exist: %s", near(to, it.Ref.Namespace), what.message),
		Remedy:  fmt.Sprintf("create %s, add it to the batch, or correct %s", near(to, it.Ref.Namespace), e.Field),
	}
	if state == graph.Unread && (!f.newNamespace(to.Namespace) || f.inBatch(to)) {
		j.Verdict, j.Reason = undecided, "Unread"
		j.Message = fmt.Sprintf("needs %s, of which it is not known whether it exists: it was not read", near(to, it.Ref.Namespace))
		j.Remedy = "ask somebody who may read it"
	} else if by := f.maker(it, to, e.To); by != "" {
		j.Verdict, j.Reason = undecided, "MadeLater"
		j.Message = fmt.Sprintf("needs %s, which does not exist yet: %s; until then: %s", near(to, it.Ref.Namespace), by, what.message)
		j.Remedy = ""
	}
	if j.Verdict == impossible {
		f.lose(it, what.refuses())
	}
	f.add(j)
}

// follows is what a diagnosis says of a reference that no rule of ours is about; nothing
// where it says nothing.
func (f *foresight) follows(it *Item, e graph.Edge) string {
	if f.Graph.State(e.To) == graph.Unread {
		return "it cannot work without"
	}
	id, _ := f.Graph.Find(it.Ref)
	to := f.Graph.Ref(e.To)
	if _, asked := f.says[it]; !asked {
		f.says[it] = f.Graph.Stack([]graph.ID{id}, graph.StackOptions{}).Diagnose()
	}
	for _, p := range f.says[it] {
		if p.Object != it.Ref || p.Related != to || p.Severity > graph.Warning {
			continue
		}
		_, after, found := strings.Cut(p.Message, ": ")
		if words, _, ok := strings.Cut(after, ";"); found && ok {
			return words
		}
		return "it cannot work without"
	}
	return ""
}

// idle says that an object runs no pods: what they would need does not matter now.
func idle(f *foresight, it *Item) bool {
	for _, c := range f.crews {
		if c.item == it {
			return c.wanted == 0 && !c.later
		}
	}
	return slices.Contains(f.resting, it)
}

// lose marks the pods of an object as judged: no room is looked for. Those that are refused
// are not even made.
func (f *foresight) lose(it *Item, refused bool) {
	for _, c := range f.crews {
		if c.item == it {
			c.lost, c.refused = true, c.refused || refused
		}
	}
}

func (f *foresight) refuse(it *Item) { f.lose(it, true) }

// givenToAll tells what the control plane makes in every namespace.
func givenToAll(r object.Ref) bool {
	return r.GroupKind() == accountKind && r.Name == "default" || r.GroupKind() == configMapKind && r.Name == "kube-root-ca.crt" ||
		r.GroupKind() == priorityKind && strings.HasPrefix(r.Name, "system-")
}
