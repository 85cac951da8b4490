package graph

// group joins tops that declare to belong together. The stacks are in the order of their first
// tops.
func (f *finder) group(apexes []ID) []FoundStack {
	var out []FoundStack
	at := map[Group]int{}
	for _, top := range apexes {
		p, ok := f.groupOf(top)
		if !ok {
			out = append(out, FoundStack{TopObjects: []ID{top}, Roots: []ID{top}})
			continue
		}
		if i, known := at[p]; known {
			out[i].TopObjects = append(out[i].TopObjects, top)
			continue
		}
		at[p] = len(out)
		out = append(out, FoundStack{Group: p, TopObjects: []ID{top}})
	}
	f.roots(out, at)
	return out
}

// groupOf returns the group that a top declares to be in.
func (f *finder) groupOf(top ID) (Group, bool) {
	if p, ok := f.g.parentGroup(top, f.opts); ok {
		return p, true
	}
	if p, ok := f.g.groupOf(top, ByHelm); ok && p.Namespace != "" {
		return p, true
	}
	// A cluster-scoped top would match instances of all namespaces.
	p, ok := f.g.groupOf(top, ByApp)
	return p, ok && p.Namespace != ""
}

// roots finds the objects that the names of groups refer to.
func (f *finder) roots(stacks []FoundStack, at map[Group]int) {
	if len(at) == 0 {
		return
	}
	for id := range ID(f.g.Len()) {
		if !f.g.WasRead(id) {
			continue
		}
		for _, mark := range [...]string{ByHelm, ByApp} {
			if p, ok := f.g.groupOf(id, mark); ok {
				if i, found := at[p]; found {
					stacks[i].Roots = append(stacks[i].Roots, id)
				}
			}
		}
	}
	for p, i := range at {
		if p.By != BySet {
			stacks[i].Roots = f.g.unowned(stacks[i].Roots)
		} else if id, ok := f.g.Find(p.Parent); ok {
			stacks[i].Roots = []ID{id}
		}
	}
}
