package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// NeighboursDocument is who is signalled when apps are in trouble, for machines
// (docs/schema/regulate-neighbours.json).
type NeighboursDocument struct {
	Head      `json:",inline"`
	System    string                 `json:"system"`
	Namespace string                 `json:"namespace"`
	Apps      []NeighboursOfDocument `json:"apps"`
	Gaps      []object.Gap           `json:"gaps"`
}

// NeighboursOfDocument is an app and who is signalled when it is in trouble.
type NeighboursOfDocument struct {
	App        string              `json:"app"`
	Neighbours []NeighbourDocument `json:"neighbours"`
	// StopOrder and RecoverOrder are those that a rule signals, or all of them where there
	// are no rules, in waves.
	StopOrder    [][]string `json:"stopOrder"`
	RecoverOrder [][]string `json:"recoverOrder"`
}

// NeighbourDocument is one that is signalled.
type NeighbourDocument struct {
	App string `json:"app"`
	// Path leads from it to the app in trouble; empty where only a rule names it.
	Path    []NeedDocument            `json:"path"`
	Signals []NeighbourSignalDocument `json:"signals"`
}

// NeighbourSignalDocument is a signal, and the rule that sends it.
type NeighbourSignalDocument struct {
	Signal string `json:"signal"`
	Rule   string `json:"rule"`
}

// NeedDocument is that one app needs another, and how that is known.
type NeedDocument struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Declared bool   `json:"declared"`
	Reason   string `json:"reason,omitempty"`
	Inferred bool   `json:"inferred"`
	// Objects are the way from an object of the one app to one of the other, and Why the
	// evidence of its first step; absent where only the manifest says so.
	Objects []string `json:"objects,omitempty"`
	Rule    string   `json:"rule,omitempty"`
	Why     string   `json:"why,omitempty"`
}

func (v *neighbourView) document() NeighboursDocument {
	doc := NeighboursDocument{Head: headOf("Neighbours"), System: v.o.System, Namespace: v.o.Namespace, Gaps: v.o.Gaps}
	for i := range v.apps {
		app := &v.apps[i]
		stop, recoverOrder := v.orders(app)
		one := NeighboursOfDocument{App: app.app, StopOrder: stop, RecoverOrder: recoverOrder}
		for _, s := range app.neighbours {
			n := NeighbourDocument{App: s.app}
			from := s.app
			for j := range s.way {
				n.Path = append(n.Path, needDocument(from, &s.way[j]))
				from = s.way[j].App
			}
			for _, r := range s.by {
				n.Signals = append(n.Signals, NeighbourSignalDocument{r.Signal, r.Name})
			}
			one.Neighbours = append(one.Neighbours, n)
		}
		doc.Apps = append(doc.Apps, one)
	}
	return doc
}

func needDocument(from string, n *regulate.Need) NeedDocument {
	d := NeedDocument{From: from, To: n.App, Declared: n.Declared, Reason: n.Reason, Inferred: !n.Declared && n.Edge.Inferred}
	if n.From == (object.Ref{}) {
		return d
	}
	d.Rule, d.Why = n.Edge.Rule, n.Edge.Why()
	path := n.Path
	if len(path) == 0 {
		path = []object.Ref{n.From, n.To}
	}
	for _, r := range path {
		d.Objects = append(d.Objects, r.String())
	}
	return d
}
