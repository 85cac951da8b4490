package cost

import (
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

func readOverrides(m *strict.Mapping, n *yaml.Node) []OverrideDocument {
	if n.Kind != yaml.SequenceNode {
		m.Report(n, "expected a list of overrides")
		return nil
	}
	var all []OverrideDocument
	for i, item := range n.Content {
		if i == maxOverrides {
			m.Report(item, "%d overrides: expected at most %d", len(n.Content), maxOverrides)
			break
		}
		all = append(all, readOverride(m, item))
	}
	return all
}

// readOverride reads one override.
func readOverride(m *strict.Mapping, n *yaml.Node) OverrideDocument {
	var d OverrideDocument
	at := m.Struct(n, &d, bookFormats()).Nodes
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return at[name] != nil })
	}
	switch {
	case n.Kind != yaml.MappingNode:
	case !has("nodes", "namespaces", "clusters"):
		m.Report(n, "an override applies to some nodes or namespaces: set nodes, namespaces or clusters, or set the price at the top of the book")
	case !has("cpu", "memory", "extended", "gpu", "network", "loadBalancer", "snapshot", "discounts", "node", "storage"):
		m.Report(n, "the override has no price and no discount")
	}
	if has("nodes") {
		for _, name := range []string{"storage", "network", "loadBalancer", "snapshot"} {
			if has(name) {
				m.Report(at[name], "%s is not priced by node: write it in an override with namespaces alone", name)
			}
			if _, ok := d.Discounts[name]; ok {
				m.Report(at["discounts"], "%s is not priced by node: write its discount in an override with namespaces alone", name)
			}
		}
	} else if has("node") {
		m.Report(at["node"], "node is the price of a node: set nodes")
	}
	if d.Node != nil {
		checkTwice(m, &d, at)
	}
	return d
}

// checkTwice refuses the prices that the price of a node holds already.
func checkTwice(m *strict.Mapping, d *OverrideDocument, at map[string]*yaml.Node) {
	twice := func(key string, resource metrics.Resource) {
		if at[key] != nil && d.Node.covers(resource) {
			m.Report(at[key], "node is also the price of its %s: omit this, or set what it covers, as in node: {price: NUMBER, over: [cpu, memory]}", resource)
		}
	}
	twice("cpu", metrics.CPU)
	twice("memory", metrics.Memory)
	for resource := range d.Extended {
		twice("extended", resource)
	}
	for _, model := range d.GPU {
		twice("gpu", model.Resource)
	}
}

func readOverrideName(m *strict.Mapping, n *yaml.Node) string {
	name := m.Text(n)
	if name != "" && !isOverrideName(name) {
		m.Report(n, "%q is not an override name: expected letters, digits, dots, dashes and underscores, 63 at most", field.Shorten(name))
	}
	return name
}

func isOverrideName(name string) bool {
	ok, _ := regexp.MatchString(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`, name)
	return ok
}

// readNodePrice reads the price of a node, or a mapping that also says what of the node
// it is the price of.
func readNodePrice(m *strict.Mapping, n *yaml.Node) *NodePriceDocument {
	var d NodePriceDocument
	if n.Kind == yaml.MappingNode {
		plain := *n
		plain.Content = nil
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == "over" && d.Over == nil {
				d.Over = readCovered(m, n.Content[i+1])
				continue
			}
			plain.Content = append(plain.Content, n.Content[i], n.Content[i+1])
		}
		n = &plain
	}
	price := readPrice(m, n, true)
	if price == nil {
		return nil
	}
	d.Price = *price
	return &d
}

func readCovered(m *strict.Mapping, n *yaml.Node) []metrics.Resource {
	resources := []metrics.Resource{}
	readList(m, n, func(n *yaml.Node) {
		name := m.Text(n)
		switch {
		case name == "":
		case name != "cpu" && name != "memory" && notExtended(name) != "":
			m.Report(n, "%q is not a resource of a node: expected cpu, memory or an extended resource%s", field.Shorten(name), object.DidYouMean(object.Nearest(name, []string{"cpu", "memory"})))
		case slices.Contains(resources, metrics.Resource(name)):
			m.Report(n, "%s occurs twice", name)
		default:
			resources = append(resources, metrics.Resource(name))
		}
	})
	return resources
}

// readNodes reads which nodes an override is for: the text of a selector, or a mapping.
func readNodes(m *strict.Mapping, n *yaml.Node) NodesDocument {
	var d NodesDocument
	all := labels.NewSelector()
	if n.Kind == yaml.ScalarNode {
		all = readSelector(m, n, all)
	} else {
		m.Struct(n, &d, bookFormats(),
			strict.Field{Name: "selector", Set: func(n *yaml.Node) { all = readSelector(m, n, all) }},
			strict.Field{Name: "matchLabels", Set: func(n *yaml.Node) { all = readMatchLabels(m, n, all) }},
			strict.Field{Name: "matchExpressions", Set: func(n *yaml.Node) { all = readMatchExpressions(m, n, all) }},
		)
		if len(n.Content) == 0 {
			m.Report(n, "this selects every node: omit nodes, or set the price at the top of the book")
		}
	}
	d.Selector = all.String()
	return d
}

// readSelector reads a selector in the words of kubectl: a=b,c!=d,e in (f,g),h,!i.
func readSelector(m *strict.Mapping, n *yaml.Node, into labels.Selector) labels.Selector {
	text := m.Text(n)
	if text == "" {
		return into
	}
	s, err := labels.Parse(text)
	if err != nil {
		m.Report(n, "%q is not a label selector: %v", field.Shorten(text), err)
		return into
	}
	requirements, _ := s.Requirements()
	if len(requirements) == 0 {
		m.Report(n, "the selector selects every node: omit nodes, or set the price at the top of the book")
	}
	return into.Add(requirements...)
}

func readMatchLabels(m *strict.Mapping, n *yaml.Node, into labels.Selector) labels.Selector {
	m.Entries(n, func(key string, value *yaml.Node) {
		if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
			m.Report(value, "expected the value of a label")
			return
		}
		q, err := labels.NewRequirement(key, selection.Equals, []string{value.Value})
		if err != nil {
			m.Report(value, "no node has this label: %v", err)
			return
		}
		into = into.Add(*q)
	})
	return into
}

func readMatchExpressions(m *strict.Mapping, n *yaml.Node, into labels.Selector) labels.Selector {
	operators := map[string]selection.Operator{"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist}
	readList(m, n, func(n *yaml.Node) {
		before := len(m.Problems)
		var e struct {
			Key      string   `json:"key" read:",required"`
			Operator string   `json:"operator" read:"operator,required"`
			Values   []string `json:"values" read:"lines"`
		}
		m.Struct(n, &e, strict.Formats{"lines": readLines, "operator": func(text string) string {
			if _, ok := operators[text]; !ok {
				return fmt.Sprintf("unknown operator %q: expected In, NotIn, Exists or DoesNotExist", field.Shorten(text))
			}
			return ""
		}})
		if len(m.Problems) > before {
			return
		}
		q, err := labels.NewRequirement(e.Key, operators[e.Operator], e.Values)
		if err != nil {
			m.Report(n, "not a label selector: %v", err)
			return
		}
		into = into.Add(*q)
	})
	return into
}
