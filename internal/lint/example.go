package lint

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

func groupKind(kind string) schema.GroupKind { return declare.GroupKind(kind) }

// example checks the fields of an example of a custom resource, in its version.
func (l *linter) example(text string, pos anchor, about string) {
	o := map[string]any{}
	if yaml.Unmarshal([]byte(text), &o) != nil {
		return // Who parses the entry says so.
	}
	gv, err := schema.ParseGroupVersion(textAt(o, "apiVersion"))
	if err != nil {
		return
	}
	gk := schema.GroupKind{Group: gv.Group, Kind: textAt(o, "kind")}
	k, ok := l.defs.Kind(gk)
	if !ok || k.builtIn || len(k.versions[gv.Version]) == 0 {
		return
	}
	l.hold(use{kind: gk.String(), where: pos, about: about, versions: []string{gv.Version}, check: func(shape field.Shape) *fault {
		wrong := content(shape, "", o)
		if wrong != nil {
			wrong.below = nil // The example is a text.
		}
		return wrong
	}})
}
