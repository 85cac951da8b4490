package system

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Operator is an operator that a system needs, from a catalog.
type Operator struct {
	// Name is that of the entry of the catalog.
	Name string
	// Version is a range of semantic versions (">=1.14 <2"); empty for the newest.
	Version string
	// Namespace is where it is installed; empty for where the entry says.
	Namespace string
	// Values are given to its chart.
	Values map[string]any
	Line   int
}

// Input is what must be there before a system is installed, and that no manifest carries: a
// Secret or a ConfigMap, with the keys that are read of it.
type Input struct {
	// Secret and ConfigMap are names: exactly one is set.
	Secret, ConfigMap string
	// Namespace is where it must be; empty for that of the system.
	Namespace   string
	Keys        []string
	Description string
	Line        int
}

// UpgradePolicy is how a system is upgraded.
type UpgradePolicy struct {
	// Regulate says that apps which depend on an upgraded one are held meanwhile, as the rules
	// about upgrading say; without such rules all neighbours get Stop.
	Regulate bool
}

func (r *reader) operator(s scope, n *yaml.Node) {
	o := Operator{Line: n.Line}
	s.mapping(n,
		key{"name", true, func(s scope, n *yaml.Node) { o.Name = s.name(n) }},
		key{"version", false, func(s scope, n *yaml.Node) { o.Version = s.line(n) }},
		key{"namespace", false, func(s scope, n *yaml.Node) { o.Namespace = s.name(n) }},
		key{"values", false, func(s scope, n *yaml.Node) { o.Values = s.object(n) }},
	)
	if i := slices.IndexFunc(r.sys.Operators, func(p Operator) bool { return p.Name == o.Name }); i >= 0 && o.Name != "" {
		s.report(n, "a second operator %s: the first is on line %d", o.Name, r.sys.Operators[i].Line)
	}
	r.sys.Operators = append(r.sys.Operators, o)
}

func (r *reader) input(s scope, n *yaml.Node) {
	in := Input{Line: n.Line}
	s.mapping(n,
		key{"secret", false, func(s scope, n *yaml.Node) { in.Secret = s.objectName(n) }},
		key{"configMap", false, func(s scope, n *yaml.Node) { in.ConfigMap = s.objectName(n) }},
		key{"namespace", false, func(s scope, n *yaml.Node) { in.Namespace = s.name(n) }},
		key{"keys", false, func(s scope, n *yaml.Node) {
			s.list(n, func(s scope, n *yaml.Node) { in.Keys = append(in.Keys, s.line(n)) })
		}},
		key{"description", false, func(s scope, n *yaml.Node) { in.Description = s.text(n) }},
	)
	if n.Kind == yaml.MappingNode && has(n, "secret") == has(n, "configMap") {
		s.report(n, "expected either secret or configMap: the name of an object that must exist")
	}
	r.sys.Inputs = append(r.sys.Inputs, in)
}

// subdomain is what the names of Secrets and ConfigMaps are.
var subdomain = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// objectName reads the name of an object.
func (s scope) objectName(n *yaml.Node) string {
	name := s.text(n)
	if name != "" && (len(name) > 253 || !subdomain.MatchString(name)) {
		s.report(n, "%q is not an object name", name)
		return ""
	}
	return name
}

func (r *reader) upgrading(s scope, n *yaml.Node) {
	s.mapping(n, key{"regulate", false, func(s scope, n *yaml.Node) { r.sys.Upgrade.Regulate = s.yes(n) }})
}

func operatorNode(o *Operator) *yaml.Node {
	f := strict.Pairs{}.Text("name", o.Name).Text("version", o.Version).Text("namespace", o.Namespace)
	if o.Values != nil {
		f = f.Put("values", strict.ValueNode(o.Values))
	}
	return f.Node()
}

func inputNode(in *Input) *yaml.Node {
	return strict.Pairs{}.Text("secret", in.Secret).Text("configMap", in.ConfigMap).Text("namespace", in.Namespace).
		Put("keys", texts(in.Keys, same)).Text("description", in.Description).Node()
}

// Laid lays values over others, which stay as they are: mappings key by key, all else as a
// whole. It is nil where both are.
func Laid(base, override map[string]any) map[string]any {
	if base == nil && override == nil {
		return nil
	}
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range override {
		inner, isMap := v.(map[string]any)
		if was, both := out[k].(map[string]any); both && isMap {
			out[k] = Laid(was, inner)
			continue
		}
		out[k] = v
	}
	return out
}
