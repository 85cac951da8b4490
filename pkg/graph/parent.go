package graph

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Parents returns the custom resources that instances of applications come from, in order, one list
// for each group; other groups have none. A parent is the parent of the ApplySet of an object of
// the instance, the topmost owner of one, or a custom resource with the name of the instance, in
// its namespace, without an owner, whose kind makes such objects by makes. A resource that declares
// another group is no parent, and an instance that Helm installed comes from its release.
func (g *Graph) Parents(groups []Group, makes func(parent, part schema.GroupKind) bool, o StackOptions) [][]ID {
	p := parents{g: g, opts: o, makes: makes, at: map[Group]*instance{}}
	for _, group := range groups {
		if group.By == ByApp {
			p.at[group] = &instance{group: group, kinds: map[schema.GroupKind]bool{}}
		}
	}
	if len(p.at) > 0 {
		p.members()
		p.namesakes()
	}
	out := make([][]ID, len(groups))
	for i, group := range groups {
		if in := p.at[group]; in != nil {
			slices.Sort(in.parents)
			out[i] = slices.Compact(in.parents)
		}
	}
	return out
}

// parents finds the custom resources that instances come from.
type parents struct {
	g     *Graph
	opts  StackOptions
	makes func(parent, part schema.GroupKind) bool
	at    map[Group]*instance
}

// instance is one instance of an application.
type instance struct {
	group   Group
	parents []ID
	kinds   map[schema.GroupKind]bool // of its objects
	helm    bool
}

// members finds the objects of the instances and their owners.
func (p *parents) members() {
	for id := range ID(p.g.Len()) {
		group, ok := p.g.groupOf(id, ByApp)
		in := p.at[group]
		if !ok || in == nil || !p.g.WasRead(id) {
			continue
		}
		in.kinds[p.g.Ref(id).GroupKind()] = true
		if _, helm := p.g.groupOf(id, ByHelm); helm {
			in.helm = true
		}
		if set, grouped := p.g.parentGroup(id, p.opts); grouped {
			if keeper, known := p.g.Find(set.Parent); known {
				p.add(in, keeper)
			}
		}
		if path := p.g.OwnerPath(id, p.opts); len(path) > 0 {
			p.add(in, path[0])
		}
	}
}

// namesakes finds the resources with the name of an instance.
func (p *parents) namesakes() {
	for id := range ID(p.g.Len()) {
		r := p.g.Ref(id)
		in := p.at[Group{By: ByApp, Namespace: r.Namespace, Name: r.Name}]
		if in == nil || in.helm || len(p.g.ownersOf(id, p.opts)) > 0 {
			continue
		}
		for kind := range in.kinds {
			if p.makes(r.GroupKind(), kind) {
				p.add(in, id)
				break
			}
		}
	}
}

// add adds a custom resource that exists and declares no other group.
func (p *parents) add(in *instance, id ID) {
	g := p.g
	group, labelled := g.groupOf(id, ByApp)
	_, grouped := g.parentGroup(id, p.opts)
	_, released := g.groupOf(id, ByHelm)
	if isCustom(g, id) && g.WasRead(id) && !grouped && !released && (!labelled || group == in.group) {
		in.parents = append(in.parents, id)
	}
}
