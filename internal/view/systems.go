package view

import (
	"strconv"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// SystemRow is a System that was adopted.
type SystemRow struct {
	Name, Namespace string
	// Apps and Rules are how many its manifest has; Wrong says why that is unknown, and then
	// they are nil.
	Apps, Rules *int
	Wrong       string
	// Members are the objects that carry its label.
	Members []object.Ref
	Created time.Time
}

// SystemsDocument is the Systems that were adopted (docs/schema/systems.json).
type SystemsDocument struct {
	Head    `json:",inline"`
	Systems []SystemDocument `json:"systems"`
}

// SystemDocument is a System that was adopted.
type SystemDocument struct {
	// Name is a ROOT that means it: system/NAMESPACE/NAME.
	Name      string `json:"name"`
	System    string `json:"system"`
	Namespace string `json:"namespace"`
	// Apps and Rules are how many its manifest has; Error says why it could not be read.
	Apps    *int     `json:"apps,omitempty"`
	Rules   *int     `json:"rules,omitempty"`
	Error   string   `json:"error,omitempty"`
	Members []string `json:"members"`
	Created string   `json:"created,omitempty"`
}

// Systems returns the answer of system list; now is the time from which ages are counted.
func Systems(rows []SystemRow, now time.Time) Output {
	doc := SystemsDocument{Head: headOf("Systems")}
	c := columns[SystemRow]{
		{Column: Column{Name: "NAMESPACE", Truncate: Middle, MinWidth: leastName}, cell: text(func(r SystemRow) string { return r.Namespace })},
		{Column: Column{Name: "NAME", Truncate: Middle, MinWidth: leastName}, cell: text(func(r SystemRow) string { return r.Name })},
		{Column: Column{Name: "APPS", Right: true, DropOrder: 3}, cell: func(r SystemRow) Cell { return mayCount(r.Apps) }},
		{Column: Column{Name: "MEMBERS", Right: true, DropOrder: 2}, cell: text(func(r SystemRow) string { return strconv.Itoa(len(r.Members)) })},
		{Column: Column{Name: "RULES", Right: true, DropOrder: 4}, cell: func(r SystemRow) Cell { return mayCount(r.Rules) }},
		{Column: Column{Name: "AGE", Right: true, DropOrder: 1}, cell: text(func(r SystemRow) string { return age(now, r.Created) })},
	}
	a := Output{Table: c.table(rows)}
	for i := range rows {
		r := &rows[i]
		name := object.Ref{Kind: "system", Namespace: r.Namespace, Name: r.Name}.String()
		doc.Systems = append(doc.Systems, SystemDocument{
			Name: name, System: r.Name, Namespace: r.Namespace, Apps: r.Apps, Rules: r.Rules, Error: r.Wrong, Members: refIDs(r.Members), Created: moment(r.Created),
		})
		a.Names = append(a.Names, name)
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
