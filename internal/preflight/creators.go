package preflight

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// creator says what may create something that does not exist: a custom resource of the batch
// or of the namespace that declares or names it, or whose name is part of its name, or a Job
// of the batch that is given its name. It is empty where nothing is known to.
func (f *evaluation) creator(item *Item, missing object.Ref, id graph.ID) string {
	for e := range f.Graph.In(id) {
		from := f.Graph.Ref(e.From)
		if e.Relation == relation.Owns && from != item.Ref && f.Graph.State(e.From) == graph.Present {
			return fmt.Sprintf("%s creates it", plain(from))
		}
	}
	for _, it := range f.order {
		if it == item || it.Ref.Namespace != missing.Namespace && it.Ref.Namespace != "" {
			continue
		}
		switch {
		case f.custom(it) && names(it.Object.Object["spec"], missing.Name):
			return fmt.Sprintf("%s names it, and may create it", plain(it.Ref))
		case f.custom(it) && isWordOf(it.Ref.Name, missing.Name):
			return fmt.Sprintf("%s may create it, by its name", plain(it.Ref))
		case it.Ref.Group == "batch" && it.Ref.Kind == "Job" && mentions(it.Object.Object["spec"], missing.Name):
			return fmt.Sprintf("%s receives its name, and may create it", plain(it.Ref))
		case asks(it, missing.Name):
			return fmt.Sprintf("an annotation of %s requests it, and may have it created", plain(it.Ref))
		}
	}
	if similar := f.similarlyNamed(missing); similar != "" {
		return similar
	}
	if permitted := f.permittedCreator(item, missing); permitted != "" {
		return permitted
	}
	return f.spread(missing)
}

// spread says that something puts an object of the name into namespaces: at least two have
// one, and a new namespace may get one too (the root certificate of a mesh).
func (f *evaluation) spread(missing object.Ref) string {
	if !f.newNamespace(missing.Namespace) {
		return ""
	}
	n := 0
	for _, ref := range f.World.Instances(missing.GroupKind()) {
		if ref.Name == missing.Name {
			n++
		}
	}
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("%d other namespaces have one of its name, so a controller may copy it into each", n)
}

// similarlyNamed finds a custom resource of the cluster whose name is part of a missing one's.
func (f *evaluation) similarlyNamed(missing object.Ref) string {
	for _, r := range f.World.Kinds.All() {
		if !r.Custom || !r.Namespaced || missing.Namespace == "" {
			continue
		}
		for _, ref := range f.World.Instances(r.GroupKind()) {
			if ref.Namespace == missing.Namespace && isWordOf(ref.Name, missing.Name) {
				return fmt.Sprintf("%s may create it, by its name", plain(ref))
			}
		}
	}
	return ""
}

// isWordOf says whether a name is a whole part of another: main of main-app and
// credentials.main, but not of domain. One that is shorter than three letters is part of
// too much: it counts where the other begins with it (db of db-app).
func isWordOf(name, whole string) bool {
	if len(name) < 3 {
		rest, begins := strings.CutPrefix(whole, name)
		return begins && (rest == "" || name != "" && !alphanumeric(rest[0]))
	}
	for at := 0; ; {
		i := strings.Index(whole[at:], name)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(name)
		if (i == 0 || !alphanumeric(whole[i-1])) && (end == len(whole) || !alphanumeric(whole[end])) {
			return true
		}
		at = i + 1
	}
}

func alphanumeric(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// names says whether a field somewhere below v is exactly the name.
func names(v any, name string) bool {
	return anyText(v, func(s string) bool { return s == name })
}

// mentions says whether the name is a whole word of a field below v.
func mentions(v any, name string) bool {
	return anyText(v, func(s string) bool { return isWordOf(name, s) })
}

func anyText(v any, match func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return match(v)
	case map[string]any:
		for _, in := range v {
			if anyText(in, match) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(in any) bool { return anyText(in, match) })
	}
	return false
}

// custom says whether an object of the batch is one that an operator acts on.
func (f *evaluation) custom(it *Item) bool { return f.customKind(it.Ref.GroupKind()) }

func (f *evaluation) customKind(gk schema.GroupKind) bool {
	r, served := f.World.Kinds.Kind(gk)
	return served && r.Custom || f.definitions()[gk] != nil
}

func (f *evaluation) isServed(gk schema.GroupKind) bool {
	_, ok := f.World.Kinds.Kind(gk)
	return ok
}
