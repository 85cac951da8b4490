package view

import (
	"strconv"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// SystemsDocument is the Systems that were adopted (docs/schema/systems.json).
type SystemsDocument struct {
	Head    `json:",inline"`
	Systems []SystemDocument `json:"systems"`
}

// SystemDocument is a row with its ROOT.
type SystemDocument struct {
	// Root is one that means it: system/NAMESPACE/NAME.
	Root                   object.Ref `json:"name"`
	document.AdoptedSystem `json:",inline"`
}

// Systems returns the answer of system list; now is the time from which ages are counted.
func Systems(rows []document.AdoptedSystem, now time.Time) Output {
	doc := SystemsDocument{Head: HeadOf("Systems")}
	c := ColumnsOf[document.AdoptedSystem]{
		{Column: Column{Name: "NAMESPACE", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r document.AdoptedSystem) string { return r.Namespace })},
		{Column: Column{Name: "NAME", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(r document.AdoptedSystem) string { return r.Name })},
		{Column: Column{Name: "APPS", Right: true, DropOrder: 3}, Value: func(r document.AdoptedSystem) Cell { return mayCount(r.Apps) }},
		{Column: Column{Name: "MEMBERS", Right: true, DropOrder: 2}, Value: AsText(func(r document.AdoptedSystem) string { return strconv.Itoa(len(r.Members)) })},
		{Column: Column{Name: "RULES", Right: true, DropOrder: 4}, Value: func(r document.AdoptedSystem) Cell { return mayCount(r.Rules) }},
		{Column: Column{Name: "AGE", Right: true, DropOrder: 1}, Value: AsText(func(r document.AdoptedSystem) string { return Age(now, r.Created) })},
	}
	a := Output{Table: c.Table(rows)}
	for i := range rows {
		r := &rows[i]
		root := object.Ref{Kind: "system", Namespace: r.Namespace, Name: r.Name}
		doc.Systems = append(doc.Systems, SystemDocument{root, *r})
		a.Names = append(a.Names, root.String())
	}
	a.Document = doc
	return a
}

// mayCount is a number that may be unknown.
func mayCount(n *int) Cell {
	if n == nil {
		return Cell{"-", Faint}
	}
	return Cell{strconv.Itoa(*n), Plain}
}
