package system

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Autoscaling are the defaults by which apps are scaled.
type Autoscaling struct {
	// Budget is what the apps may cost a month at their maxima, a decimal number in the currency of
	// the price book; empty for no bound.
	Budget string
	// CPU and Memory are the target utilization in percent of the requests; 0 for the default.
	CPU, Memory int
}

// AppAutoscaling says how one app is scaled.
type AppAutoscaling struct {
	// Off excludes the app, without any other field.
	Off bool
	// Min and Max are replicas; 0 where usage decides.
	Min, Max int
	// CPU and Memory are those of the app; 0 for the defaults.
	CPU, Memory int
	// Target is the object that is scaled; zero for each workload of the app.
	Target Root
}

// autoscaling reads the defaults.
func (r *reader) autoscaling(s scope, n *yaml.Node) {
	a := &r.sys.Autoscaling
	s.mapping(n,
		key{"budget", false, func(s scope, n *yaml.Node) {
			if a.Budget = n.Value; n.Kind != yaml.ScalarNode || !amounts.MatchString(n.Value) || strings.Trim(n.Value, "0.") == "" {
				s.report(n, "expected an amount of money a month: a decimal number above 0 such as 250 or 99.50")
			}
		}},
		key{"cpu", false, func(s scope, n *yaml.Node) { a.CPU = s.percent(n) }},
		key{"memory", false, func(s scope, n *yaml.Node) { a.Memory = s.percent(n) }},
	)
}

// appAutoscaling reads false, or how an app is scaled.
func (s scope) appAutoscaling(n *yaml.Node) *AppAutoscaling {
	a := &AppAutoscaling{}
	if n.Kind == yaml.ScalarNode {
		if a.Off = true; n.ShortTag() != "!!bool" || s.bool(n) {
			s.report(n, "expected false, or a mapping of min, max, cpu, memory and target")
		}
		return a
	}
	s.mapping(n,
		key{"min", false, func(s scope, n *yaml.Node) { a.Min = s.replicas(n) }},
		key{"max", false, func(s scope, n *yaml.Node) { a.Max = s.replicas(n) }},
		key{"cpu", false, func(s scope, n *yaml.Node) { a.CPU = s.percent(n) }},
		key{"memory", false, func(s scope, n *yaml.Node) { a.Memory = s.percent(n) }},
		key{"target", false, func(s scope, n *yaml.Node) { a.Target = s.root(n, false) }},
	)
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) == 0:
		s.report(n, "it is empty: omit it")
	case a.Max > 0 && a.Min > a.Max:
		s.report(n, "min %d is above max %d", a.Min, a.Max)
	}
	return a
}

// replicas reads a number of replicas: an HPA never scales to 0.
func (s scope) replicas(n *yaml.Node) int {
	i := s.count(n)
	if i == 0 && n.ShortTag() == "!!int" {
		s.report(n, "expected a whole number from 1")
	}
	return i
}

// percent reads a target utilization. It may be above 100: usage above the requests.
func (s scope) percent(n *yaml.Node) int {
	const most = 1000
	i := s.count(n)
	if n.ShortTag() == "!!int" && (i < 1 || i > most) {
		s.report(n, "expected a percentage of the requests from 1 to %d", most)
	}
	return i
}

func autoscalingNode(a Autoscaling) *yaml.Node {
	f := strict.Pairs{}
	if a.Budget != "" {
		f = f.Text("budget", a.Budget)
	}
	return numbers(f, "cpu", a.CPU, "memory", a.Memory).Node()
}

func appAutoscalingNode(a *AppAutoscaling) *yaml.Node {
	switch {
	case a == nil:
		return nil
	case a.Off:
		return strict.ValueNode(false)
	}
	return numbers(strict.Pairs{}, "min", a.Min, "max", a.Max, "cpu", a.CPU, "memory", a.Memory).Text("target", a.Target.String()).Node()
}

// numbers adds pairs of a key and a number above 0.
func numbers(f strict.Pairs, pairs ...any) strict.Pairs {
	for i := 0; i < len(pairs); i += 2 {
		if n, _ := pairs[i+1].(int); n > 0 {
			name, _ := pairs[i].(string)
			f = f.Put(name, strict.ValueNode(int64(n)))
		}
	}
	return f
}
