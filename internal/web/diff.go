package web

import (
	"reflect"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// Diff returns the difference between two UIStates; nil if only the time differs. Names of stacks
// are unique in each. If there are fewer nodes, the list ends in nulls.
func Diff(old, now *uistate.State) *uistate.Delta {
	change := &uistate.Delta{
		Head:   headChange(old, now),
		Nodes:  nodeChanges(old.Nodes, now.Nodes),
		Stacks: stackChanges(old.Stacks, now.Stacks),
	}
	if names := namesOf(now.Stacks); !slices.Equal(namesOf(old.Stacks), names) {
		change.Order = names
	}
	if change.Head == nil && len(change.Nodes) == 0 && len(change.Stacks) == 0 && change.Order == nil {
		return nil
	}
	change.At = now.At
	return change
}

func headChange(old, now *uistate.State) *uistate.State {
	was, current := *old, *now
	was.Nodes, current.Nodes = nil, nil
	was.Stacks, current.Stacks = nil, nil
	was.At = current.At
	if reflect.DeepEqual(was, current) {
		return nil
	}
	return &current
}

func nodeChanges(old, now []*uistate.Node) map[int]*uistate.Node {
	changed := map[int]*uistate.Node{}
	for i := range max(len(old), len(now)) {
		if was, current := nodeAt(old, i), nodeAt(now, i); was != current && !reflect.DeepEqual(was, current) {
			changed[i] = current
		}
	}
	return changed
}

func nodeAt(nodes []*uistate.Node, i int) *uistate.Node {
	if i < len(nodes) {
		return nodes[i]
	}
	return nil
}

func stackChanges(old, now []uistate.Stack) map[string]*uistate.Stack {
	changed := map[string]*uistate.Stack{}
	was := map[string]*uistate.Stack{}
	for i := range old {
		was[old[i].Name] = &old[i]
	}
	for i := range now {
		current := &now[i]
		if before := was[current.Name]; before == nil || !reflect.DeepEqual(before, current) {
			changed[current.Name] = current
		}
		delete(was, current.Name)
	}
	for gone := range was {
		changed[gone] = nil
	}
	return changed
}

func namesOf(stacks []uistate.Stack) []string {
	var names []string
	for i := range stacks {
		names = append(names, stacks[i].Name)
	}
	return names
}
