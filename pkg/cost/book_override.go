package cost

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

func (r *bookReader) overrides(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		r.Report(n, "expected a list of overrides")
		return
	}
	taken := r.book.lineNames()
	for i, item := range n.Content {
		if i == maxOverrides {
			r.Report(item, "%d overrides: expected at most %d", len(n.Content), maxOverrides)
			return
		}
		o := r.override(item)
		o.name = nameOf(o.name, i)
		if taken[o.name] {
			r.Report(item, "%s is also the name of another override, of a storage class or of a model: choose a unique name", o.name)
		}
		taken[o.name] = true
		r.book.overrides = append(r.book.overrides, o)
	}
}

// lineNames are the names of classes and models, by which lines of a book are
// called.
func (b *Book) lineNames() map[string]bool {
	all := map[string]bool{}
	for name := range b.base.storage.classes {
		all[name] = true
	}
	for _, m := range b.base.models {
		for name := range m.prices {
			all[name] = true
		}
	}
	return all
}

// override reads one override.
func (r *bookReader) override(n *yaml.Node) override {
	var o override
	at := map[string]*yaml.Node{}
	fields := []strict.Field{
		{Name: "name", Set: func(n *yaml.Node) { o.name = r.overrideName(n) }},
		{Name: "nodes", Set: func(n *yaml.Node) { o.nodes = r.nodes(n) }},
		{Name: "namespaces", Set: func(n *yaml.Node) { o.namespaces = r.patterns(n, "a namespace") }},
		{Name: "node", Set: func(n *yaml.Node) { o.node = r.nodePrice(n) }},
		{Name: "storage", Set: func(n *yaml.Node) { r.storage(n, &o.prices, false) }},
	}
	fields = append(fields, r.priceFields(&o.prices, false)...)
	for i := range fields {
		set := fields[i].Set
		fields[i].Set = func(n *yaml.Node) { at[fields[i].Name] = n; set(n) }
	}
	r.mapping(n, fields...)
	switch {
	case n.Kind != yaml.MappingNode:
	case at["nodes"] == nil && at["namespaces"] == nil:
		r.Report(n, "an override applies to some nodes or namespaces: set nodes or namespaces, or set the price at the top of the book")
	case !slices.ContainsFunc([]string{"cpu", "memory", "extended", "gpu", "network", "loadBalancer", "discounts", "node", "storage"}, func(name string) bool { return at[name] != nil }):
		r.Report(n, "the override has no price and no discount")
	}
	r.checkNodePrice(&o, at)
	return o
}

// checkNodePrice refuses prices that no node has a part in for an override of nodes,
// and those that the price of a node holds already.
func (r *bookReader) checkNodePrice(o *override, at map[string]*yaml.Node) {
	if at["nodes"] != nil {
		for _, name := range []string{"storage", "network", "loadBalancer"} {
			if at[name] != nil {
				r.Report(at[name], "%s is not priced by node: write it in an override with namespaces alone", name)
			}
			if _, ok := o.discounts[name]; ok {
				r.Report(at["discounts"], "%s is not priced by node: write its discount in an override with namespaces alone", name)
			}
		}
	}
	if at["node"] == nil {
		return
	}
	if at["nodes"] == nil {
		r.Report(at["node"], "node is the price of a node: set nodes")
	}
	if o.node == nil {
		return
	}
	r.splits = append(r.splits, at["node"])
	twice := func(key string, resource metrics.Resource) {
		if o.node.covers(resource) {
			r.Report(at[key], "node is also the price of its %s: omit this, or set what it covers, as in node: {price: NUMBER, over: [cpu, memory]}", resource)
		}
	}
	if at["cpu"] != nil {
		twice("cpu", metrics.CPU)
	}
	if at["memory"] != nil {
		twice("memory", metrics.Memory)
	}
	for resource := range o.extended {
		twice("extended", resource)
	}
	for _, m := range o.models {
		twice("gpu", m.resource)
	}
}

// checkSplits refuses prices of nodes where the base prices give no ratio.
func (r *bookReader) checkSplits() {
	p := &r.book.base
	if p.cpu == nil || p.memory == nil || p.cpu.IsPositive() || p.memory.IsPositive() {
		return
	}
	for _, n := range r.splits {
		r.Report(n, "the price of a node is split in the ratio of the prices of cpu and memory, which are both 0 in this book")
	}
}

func (r *bookReader) overrideName(n *yaml.Node) string {
	name := r.Text(n)
	if name != "" && !isOverrideName(name) {
		r.Report(n, "%q is not an override name: expected letters, digits, dots, dashes and underscores, 63 at most", field.Shorten(name))
	}
	return name
}

func isOverrideName(name string) bool {
	ok, _ := regexp.MatchString(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`, name)
	return ok
}

// nodePrice reads the price of a node, or a mapping that also says what of the node
// it is the price of.
func (r *bookReader) nodePrice(n *yaml.Node) *nodePrice {
	var covered []metrics.Resource
	if n.Kind == yaml.MappingNode {
		plain := *n
		plain.Content = nil
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == "over" && covered == nil {
				covered = r.covered(n.Content[i+1])
				continue
			}
			plain.Content = append(plain.Content, n.Content[i], n.Content[i+1])
		}
		n = &plain
	}
	d := r.price(n, true)
	if d == nil {
		return nil
	}
	return &nodePrice{price: *d, over: covered}
}

func (r *bookReader) covered(n *yaml.Node) []metrics.Resource {
	resources := []metrics.Resource{}
	r.list(n, func(n *yaml.Node) {
		name := r.Text(n)
		switch {
		case name == "":
		case name != "cpu" && name != "memory" && notExtended(name) != "":
			r.Report(n, "%q is not a resource of a node: expected cpu, memory or an extended resource%s", field.Shorten(name), object.DidYouMean(object.Nearest(name, []string{"cpu", "memory"})))
		case slices.Contains(resources, metrics.Resource(name)):
			r.Report(n, "%s occurs twice", name)
		default:
			resources = append(resources, metrics.Resource(name))
		}
	})
	return resources
}

// nodes reads which nodes an override is for: the text of a selector, or a mapping.
func (r *bookReader) nodes(n *yaml.Node) *nodeSelector {
	s := &nodeSelector{}
	selector := labels.NewSelector()
	if n.Kind == yaml.ScalarNode {
		selector = r.selector(n, selector)
	} else {
		r.mapping(n,
			strict.Field{Name: "names", Set: func(n *yaml.Node) { s.names = r.patterns(n, "a node") }},
			strict.Field{Name: "providerIDs", Set: func(n *yaml.Node) { s.providerIDs = r.lines(n) }},
			strict.Field{Name: "instanceTypes", Set: func(n *yaml.Node) { s.instanceTypes = r.lines(n) }},
			strict.Field{Name: "regions", Set: func(n *yaml.Node) { s.regions = r.lines(n) }},
			strict.Field{Name: "spot", Set: func(n *yaml.Node) { spot := r.Bool(n); s.spot = &spot }},
			strict.Field{Name: "selector", Set: func(n *yaml.Node) { selector = r.selector(n, selector) }},
			strict.Field{Name: "matchLabels", Set: func(n *yaml.Node) { selector = r.matchLabels(n, selector) }},
			strict.Field{Name: "matchExpressions", Set: func(n *yaml.Node) { selector = r.matchExpressions(n, selector) }},
		)
		if len(n.Content) == 0 {
			r.Report(n, "this selects every node: omit nodes, or set the price at the top of the book")
		}
	}
	if !selector.Empty() {
		s.labels = selector
	}
	return s
}

func (r *bookReader) lines(n *yaml.Node) []string {
	var all []string
	r.list(n, func(n *yaml.Node) {
		if text := r.line(n); text != "" {
			all = append(all, text)
		}
	})
	return all
}

// patterns reads names with the wildcards * and ?.
func (r *bookReader) patterns(n *yaml.Node, kind string) []string {
	var all []string
	r.list(n, func(n *yaml.Node) {
		text := r.Text(n)
		if text == "" {
			return
		}
		if _, err := path.Match(text, ""); err != nil || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-.*?") != "" {
			r.Report(n, "%q is not a name of %s: expected lower case letters, digits, dashes and dots, and * or ? for any others", field.Shorten(text), kind)
			return
		}
		all = append(all, text)
	})
	return all
}

// selector reads a selector in the words of kubectl: a=b,c!=d,e in (f,g),h,!i.
func (r *bookReader) selector(n *yaml.Node, into labels.Selector) labels.Selector {
	text := r.Text(n)
	if text == "" {
		return into
	}
	s, err := labels.Parse(text)
	if err != nil {
		r.Report(n, "%q is not a label selector: %v", field.Shorten(text), err)
		return into
	}
	requirements, _ := s.Requirements()
	if len(requirements) == 0 {
		r.Report(n, "the selector selects every node: omit nodes, or set the price at the top of the book")
	}
	return into.Add(requirements...)
}

func (r *bookReader) matchLabels(n *yaml.Node, into labels.Selector) labels.Selector {
	m := strict.Mapping{}
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
	r.Problems = append(r.Problems, m.Problems...)
	return into
}

func (r *bookReader) matchExpressions(n *yaml.Node, into labels.Selector) labels.Selector {
	operators := map[string]selection.Operator{"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist}
	r.list(n, func(n *yaml.Node) {
		before := len(r.Problems)
		var key, operator string
		var values []string
		r.mapping(n,
			strict.Field{Name: "key", Required: true, Set: func(n *yaml.Node) { key = r.Text(n) }},
			strict.Field{Name: "operator", Required: true, Set: func(n *yaml.Node) {
				operator = r.Text(n)
				if _, ok := operators[operator]; !ok && operator != "" {
					r.Report(n, "unknown operator %q: expected In, NotIn, Exists or DoesNotExist", field.Shorten(operator))
				}
			}},
			strict.Field{Name: "values", Set: func(n *yaml.Node) { values = r.lines(n) }},
		)
		if len(r.Problems) > before {
			return
		}
		q, err := labels.NewRequirement(key, operators[operator], values)
		if err != nil {
			r.Report(n, "not a label selector: %v", err)
			return
		}
		into = into.Add(*q)
	})
	return into
}
