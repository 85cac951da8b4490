package catalog

import (
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// YAML writes the entry as Parse reads it: the same entry but for the lines of its relations.
// The error is that of the encoder.
func (e Entry) YAML() ([]byte, error) {
	// Kinds and relations are required, though empty, of an entry that cannot be installed.
	if e.Kinds == nil && len(e.Versions) == 0 {
		e.Kinds = []Kind{}
	}
	if e.Relations == nil && len(e.Versions) == 0 {
		e.Relations = []declare.Spec{}
	}
	f := strict.Pairs{}.Text("apiVersion", declare.APIVersion).Text("kind", documentKind)
	return strict.Encode(append(f, strict.StructNode(e, writers()).Content...).Node())
}

// writers write what is not written as it is in an entry.
func writers() strict.Formats {
	return strict.Formats{
		"relations": declare.Spec.Node, "health": healthNode, "requires": requirementNode, "conflicts": requirementNode,
		"signals":  func(all []signals.Signal) *yaml.Node { return signalPairs(all).Node() },
		"patterns": patternsNode,
		"image": func(i Image) *yaml.Node {
			if len(i.Platforms) == 0 {
				return strict.TextNode(i.Image)
			}
			return strict.StructNode(i, nil)
		},
	}
}

// healthNode writes one rule as it is, several as a list.
func healthNode(rules []health.Rule) *yaml.Node {
	if len(rules) == 1 {
		return strict.StructNode(rules[0], nil)
	}
	return strict.ListNode(len(rules), func(i int) *yaml.Node { return strict.StructNode(rules[i], nil) })
}

func requirementNode(r solve.Requirement) *yaml.Node {
	return strict.Flow(strict.StructNode(requirement{r.API.Kind, r.API.Versions, r.Package, r.Range, r.Optional}, nil))
}

// signalPairs are the presets, and the alternatives to them.
func signalPairs(signals []signals.Signal) strict.Pairs {
	var f strict.Pairs
	var more []*yaml.Node
	for i := range signals {
		s := &signals[i]
		if s.Other {
			more = append(more, signalNode(s))
		} else {
			f = f.Put(s.Preset, signalNode(s))
		}
	}
	return f.List("also", len(more), func(i int) *yaml.Node { return more[i] })
}

func signalNode(s *signals.Signal) *yaml.Node {
	var f strict.Pairs
	if s.Other {
		f = f.Text("preset", s.Preset)
	}
	f = f.Text("mode", string(s.Mode)).Texts("versions", s.Versions)
	if s.Scale {
		f = f.True("scale", true)
	} else {
		f = f.Put("patch", strict.ValueNode(s.Patch)).Put("resume", strict.ValueNode(s.Resume))
	}
	f = f.Text("each", s.Each).True("presence", s.Presence).
		List("same", len(s.Same), func(i int) *yaml.Node { return strict.ValueNode(s.Same[i]) })
	if s.Or != nil {
		f = f.Put("or", strict.Pairs{}.Text("when", s.Or.When).Put("patch", strict.ValueNode(s.Or.Patch)).Put("resume", strict.ValueNode(s.Or.Resume)).Node())
	}
	return f.Text("requires", s.Requires).True("stateful", s.Stateful).True("caution", s.Caution).
		Text("effect", s.Effect).Text("caveat", s.Caveat).Text("source", s.Source).Text("since", s.Since).Text("reacted", s.Reacted).Node()
}

// patterns groups signals of patterns, so that each group is one item.
func patterns(list []signals.Signal) [][]signals.Signal {
	var all [][]signals.Signal
	for i, s := range list {
		if i > 0 && fitsItem(all[len(all)-1], s) {
			all[len(all)-1] = append(all[len(all)-1], s)
			continue
		}
		all = append(all, []signals.Signal{s})
	}
	return all
}

// fitsItem says whether a signal can be in the item of others of the same pattern, which has
// a preset once.
func fitsItem(item []signals.Signal, s signals.Signal) bool {
	for _, o := range item {
		if o.Kind != s.Kind || !reflect.DeepEqual(o.Except, s.Except) || !reflect.DeepEqual(o.Categories, s.Categories) || o.Preset == s.Preset && !o.Other && !s.Other {
			return false
		}
	}
	return s.Other || !item[len(item)-1].Other
}

// patternsNode writes the signals of patterns.
func patternsNode(signals []signals.Signal) *yaml.Node {
	items := patterns(signals)
	return strict.ListNode(len(items), func(i int) *yaml.Node {
		s := items[i][0]
		f := strict.Pairs{}.Text("kind", s.Kind).Texts("except", s.Except).Texts("categories", s.Categories)
		return append(f, signalPairs(items[i])...).Node()
	})
}
