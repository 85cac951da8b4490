package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// references reports what objects of the batch name and what is missing from the cluster and the
// batch.
func (f *evaluation) references() {
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
		f.checkProduced(it, id)
	}
	f.keys()
	f.checked[References] = fmt.Sprintf("%s of %s: all required references exist, or are in the batch", object.Count(edges, "reference"), object.Count(len(f.order), "object"))
}

// checkProduced checks the references of what a custom resource of the batch has created
// already. Its operator may still create what that needs. What built-in kinds create follows
// from their templates, which are checked themselves.
func (f *evaluation) checkProduced(it *Item, root graph.ID) {
	if !it.Exists || !f.custom(it) || idle(f, it) {
		return
	}
	seen, reported := map[graph.ID]bool{root: true}, map[graph.ID]bool{}
	for queue := []graph.ID{root}; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for e := range f.Graph.Out(from) {
			switch {
			case e.Relation == relation.Owns && !e.Inferred:
				if !seen[e.To] && f.Graph.State(e.To) == graph.Present && !f.inBatch(f.Graph.Ref(e.To)) && f.customKind(f.Graph.Ref(from).GroupKind()) {
					seen[e.To] = true
					queue = append(queue, e.To)
				}
			case from != root && e.Relation == relation.Needs && !e.Inferred && !e.Backward:
				if f.addMissing(e) && !reported[e.To] {
					reported[e.To] = true
					f.add(f.missingFinding(it, from, e))
				}
			}
		}
	}
}

// addMissing reports that the object that an edge needs is missing, and that nothing follows from
// it.
func (f *evaluation) addMissing(e graph.Edge) bool {
	to, result := f.Graph.Ref(e.To), outcomes[e.Rule]
	return f.Graph.State(e.To) == graph.Missing && result.message != "" && result.verdict != 0 && !e.Optional && !isInEveryNamespace(to) && !f.inBatch(to)
}

// missingFinding is about an object that an object of the batch has created.
func (f *evaluation) missingFinding(item *Item, from graph.ID, e graph.Edge) Finding {
	self, result := f.Graph.Ref(from), outcomes[e.Rule]
	return Finding{
		Topic: References, Verdict: verdictUnknown, Object: self, Field: e.Field, Value: e.Value, Reason: result.reason,
		Message: fmt.Sprintf("%s created it, and it needs %s, which does not exist: %s", near(item.Ref, self.Namespace), near(f.Graph.Ref(e.To), self.Namespace), result.message),
		Remedy:  fmt.Sprintf("create %s, unless the creator of this object also creates it", near(f.Graph.Ref(e.To), self.Namespace)),
	}
}

// reference checks one edge of an object of the batch.
func (f *evaluation) reference(it *Item, e graph.Edge) {
	to, state := f.Graph.Ref(e.To), f.Graph.State(e.To)
	result, known := outcomes[e.Rule]
	if state == graph.Present || state == graph.Virtual || e.Optional || known && result.verdict == 0 || isInEveryNamespace(to) {
		return
	}
	if idle(f, it) && strings.HasPrefix(e.Rule, "pod-") {
		return
	}
	if !known {
		result = outcome{verdictUnknown, "ReferenceMissing", f.follows(it, e)}
	}
	if result.message == "" {
		return
	}
	j := Finding{
		Topic: References, Verdict: result.verdict, Object: it.Ref, Field: e.Field, Value: e.Value, Reason: result.reason,
		Message: fmt.Sprintf("needs %s, which does not exist: %s", near(to, it.Ref.Namespace), result.message),
		Remedy:  fmt.Sprintf("create %s, add it to the batch, or correct %s", near(to, it.Ref.Namespace), e.Field),
	}
	if state == graph.Unread && (!f.newNamespace(to.Namespace) || f.inBatch(to)) {
		j.Verdict, j.Reason = verdictUnknown, "Unread"
		j.Message = fmt.Sprintf("needs %s, which could not be read: existence unknown", near(to, it.Ref.Namespace))
		j.Remedy = "run the check as a user with permission to read it"
	} else if creator := f.creator(it, to, e.To); creator != "" {
		j.Verdict, j.Reason = verdictUnknown, "MadeLater"
		j.Message = fmt.Sprintf("needs %s, which does not exist yet: %s; until then: %s", near(to, it.Ref.Namespace), creator, result.message)
		j.Remedy = ""
	}
	if j.Verdict == impossible {
		f.lose(it, result.refuses())
	}
	f.add(j)
}

// follows returns the diagnosis of a reference that no built-in rule covers; empty for none.
func (f *evaluation) follows(it *Item, e graph.Edge) string {
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
func idle(f *evaluation, it *Item) bool {
	for _, c := range f.podSets {
		if c.item == it {
			return c.wanted == 0 && !c.later
		}
	}
	return slices.Contains(f.resting, it)
}

// lose marks the pods of an object as not starting: no node is searched for them. Refused
// ones are not even created.
func (f *evaluation) lose(it *Item, refused bool) {
	for _, c := range f.podSets {
		if c.item == it {
			c.lost, c.refused = true, c.refused || refused
		}
	}
}

func (f *evaluation) refuse(it *Item) { f.lose(it, true) }

// isInEveryNamespace says that the control plane creates an object in every namespace.
func isInEveryNamespace(r object.Ref) bool {
	return r.GroupKind() == accountKind && r.Name == "default" || r.GroupKind() == configMapKind && r.Name == "kube-root-ca.crt" ||
		r.GroupKind() == priorityKind && strings.HasPrefix(r.Name, "system-")
}
