package view

import (
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// BuiltIn is the origin of the rules that have none.
const BuiltIn = "built-in"

// RuleListDocument is the relationship rules that are known (docs/schema/rules.json).
type RuleListDocument struct {
	Head  `json:",inline"`
	Rules []RuleDocument `json:"rules"`
	Gaps  []object.Gap   `json:"gaps"`
}

// RuleDocument is a relationship rule, with its kinds as text: relation.Rule has them by group and
// kind.
type RuleDocument struct {
	Name string `json:"name"`
	// Origin is built-in, catalogue NAME, CRD NAME, file NAME or inferred.
	Origin string `json:"origin"`
	// Source says where it is published what the rule says.
	Source string `json:"source,omitempty"`
	// From are the kinds that are read; without any, every kind is.
	From     []string `json:"from"`
	Relation string   `json:"relation"`
	To       string   `json:"to"`
	Via      string   `json:"via"`
	Field    string   `json:"field"`
	// Edges is how many the rule made of what was read.
	Edges          int  `json:"edges"`
	CrossNamespace bool `json:"crossNamespace,omitempty"`
	Terminal       bool `json:"terminal,omitempty"`
	Peer           bool `json:"peer,omitempty"`
	Manages        bool `json:"manages,omitempty"`
	Exposes        bool `json:"exposes,omitempty"`
}

// CountedRule is a rule with the number of edges that it made.
type CountedRule struct {
	relation.Rule
	Edges int
}

func ruleDocument(r CountedRule) RuleDocument {
	d := RuleDocument{
		Name: r.Name, Origin: originOf(r.Origin), Source: r.Source, Relation: r.Relation.String(), To: r.To, Via: r.Via.String(),
		Field: r.Field, Edges: r.Edges, CrossNamespace: r.CrossNamespace, Terminal: r.Terminal, Peer: r.Peer, Manages: r.Manages, Exposes: r.Exposes,
	}
	for _, gk := range r.From {
		d.From = append(d.From, gk.String())
	}
	return d
}

func originOf(origin string) string {
	if origin == "" {
		return BuiltIn
	}
	return origin
}

// Rules returns the answer of rules list.
func Rules(rules []CountedRule, gaps []object.Gap) Output {
	// A rule without edges is faint.
	toned := func(value func(CountedRule) string) func(CountedRule) Cell {
		return func(r CountedRule) Cell {
			if r.Edges == 0 {
				return Cell{value(r), Faint}
			}
			return Cell{Text: value(r)}
		}
	}
	c := ColumnsOf[CountedRule]{
		{Column: Column{Name: "RULE", Truncate: Middle, MinWidth: 20}, Value: toned(func(r CountedRule) string { return r.Name })},
		{Column: Column{Name: "FROM", DropOrder: 2, Truncate: End, MinWidth: 8}, Value: toned(readers)},
		{Column: Column{Name: "RELATION"}, Value: toned(func(r CountedRule) string { return r.Relation.String() })},
		{Column: Column{Name: "TO", Truncate: End, MinWidth: 10}, Value: toned(func(r CountedRule) string { return r.To })},
		{Column: Column{Name: "FIELD", DropOrder: 3, Truncate: Middle, MinWidth: 16}, Value: AsFaint(func(r CountedRule) string { return r.Field })},
		{Column: Column{Name: "VIA", DropOrder: 4}, Value: AsFaint(func(r CountedRule) string { return r.Via.String() })},
		{Column: Column{Name: "ORIGIN", DropOrder: 1, Truncate: Middle, MinWidth: 12}, Value: AsFaint(func(r CountedRule) string { return originOf(r.Origin) })},
		{Column: Column{Name: "EDGES", Right: true}, Value: toned(func(r CountedRule) string { return strconv.Itoa(r.Edges) })},
	}
	doc := RuleListDocument{Head: HeadOf("RuleList"), Gaps: gaps}
	a := Output{Table: c.Table(rules)}
	a.Wide = a.Table
	for _, r := range rules {
		doc.Rules = append(doc.Rules, ruleDocument(r))
		a.Names = append(a.Names, r.Name)
	}
	a.Document = doc
	return a
}

func readers(r CountedRule) string {
	if len(r.From) == 0 {
		return "any kind"
	}
	var all []string
	for _, gk := range r.From {
		all = append(all, gk.Kind)
	}
	return strings.Join(all, ", ")
}

// RuleExplanationDocument says why two objects are related, or which rules speak
// of a kind (docs/schema/rules-explain.json).
type RuleExplanationDocument struct {
	Head     `json:",inline"`
	Subject  string          `json:"subject"`
	Edges    []ExplainedEdge `json:"edges"`
	Outgoing []RuleDocument  `json:"outgoing"`
	Incoming []RuleDocument  `json:"incoming"`
	Gaps     []object.Gap    `json:"gaps"`
}

// ExplainedEdge is an edge, and what it means.
type ExplainedEdge struct {
	EdgeDocument `json:",inline"`
	Origin       string `json:"origin"`
	Source       string `json:"source,omitempty"`
	Meaning      string `json:"meaning"`
}

// Meaning says what a relation means, in a sentence.
func Meaning(r relation.Relation) string {
	return [...]string{
		relation.Owns:   "the first created the second, which is deleted with it",
		relation.Needs:  "the first does not work without the second",
		relation.Serves: "the first exists for the second, which works without it",
	}[r]
}

// ExplainEdges returns the answer of rules explain for two objects.
func ExplainEdges(g *graph.Graph, subject string, edges []graph.Edge, source func(graph.Edge) string) Output {
	doc := RuleExplanationDocument{Head: HeadOf("RuleExplanation"), Subject: subject, Gaps: g.Gaps()}
	tree := &Tree{Columns: []Column{{Name: "EDGE", Truncate: Middle, MinWidth: 20}, {Name: "MEANING", OwnLine: true, Truncate: End, MinWidth: 40}}}
	var names []string
	for _, e := range edges {
		d := ExplainedEdge{EdgeDocument: edgeDocument(g, e), Origin: originOf(e.Origin), Source: source(e), Meaning: Meaning(e.Relation)}
		doc.Edges = append(doc.Edges, d)
		names = append(names, d.From+" --"+d.Relation+"--> "+d.To)
		line := &TreeRow{Name: Cell{Text: d.From + " " + d.Relation + " " + d.To}, Cells: []Cell{{}}}
		say := func(label, text string) {
			if text != "" {
				line.Children = append(line.Children, &TreeRow{Name: Cell{Text: label, Tone: Faint}, Cells: []Cell{{Text: text}}})
			}
		}
		say("meaning", d.Meaning)
		say("evidence", d.Why+" on "+edgeText(e, d))
		say("rule", d.Rule+" ("+d.Origin+")")
		say("published", d.Source)
		if d.Inferred {
			say("note", "inferred: --no-inferred drops it")
		}
		if d.Optional {
			say("note", "the reference is optional")
		}
		tree.Roots = append(tree.Roots, line)
	}
	return Output{Tree: tree, Document: doc, Names: names}
}

// edgeText is the object that carries the evidence.
func edgeText(e graph.Edge, d ExplainedEdge) string {
	if e.Backward {
		return d.To
	}
	return d.From
}

// ExplainKind returns the answer of rules explain for a kind: the rules that read
// it, and those by which others point at it.
func ExplainKind(subject string, outgoing, incoming []CountedRule, gaps []object.Gap) Output {
	doc := RuleExplanationDocument{Head: HeadOf("RuleExplanation"), Subject: subject, Gaps: gaps}
	tree := &Tree{Columns: []Column{
		{Name: "RULE", Truncate: Middle, MinWidth: 24}, {Name: "FIELD", OwnLine: true, Truncate: Middle, MinWidth: 30}, {Name: "ORIGIN", DropOrder: 1}, {Name: "EDGES", Right: true},
	}}
	var names []string
	group := func(title string, rules []CountedRule, text func(CountedRule) string, into *[]RuleDocument) {
		if len(rules) == 0 {
			return
		}
		root := &TreeRow{Name: Cell{Text: title}, Cells: []Cell{{}, {}, {}}}
		for _, r := range rules {
			*into = append(*into, ruleDocument(r))
			names = append(names, r.Name)
			root.Children = append(root.Children, &TreeRow{Name: Cell{Text: text(r)}, Cells: []Cell{{r.Field, Faint}, {originOf(r.Origin), Faint}, {strconv.Itoa(r.Edges), Plain}}})
		}
		tree.Roots = append(tree.Roots, root)
	}
	group("relations of a "+subject, outgoing, func(r CountedRule) string { return r.Relation.String() + " " + r.To }, &doc.Outgoing)
	group("relations to a "+subject, incoming, func(r CountedRule) string { return readers(r) + " " + r.Relation.String() + " it" }, &doc.Incoming)
	return Output{Tree: tree, Document: doc, Names: names}
}

// LintDocument is what is wrong with rules (docs/schema/rules-lint.json).
type LintDocument struct {
	Head     `json:",inline"`
	Rules    int           `json:"rules"`
	Findings []LintFinding `json:"findings"`
	Gaps     []object.Gap  `json:"gaps"`
}

// LintFinding is something that is wrong with a rule, and where it is written.
type LintFinding struct {
	// Severity is error, warning or info.
	Severity string `json:"severity"`
	// Origin is the file, the CRD with the annotation, or the catalogue entry.
	Origin  string `json:"origin"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// Place writes where the finding is: file:3:5.
func (f LintFinding) Place() string {
	at := f.Origin
	if f.Line > 0 {
		at += ":" + strconv.Itoa(f.Line)
	}
	if f.Column > 0 {
		at += ":" + strconv.Itoa(f.Column)
	}
	return at
}

// Lint returns the answer of rules lint.
func Lint(rules int, findings []LintFinding, gaps []object.Gap) Output {
	c := ColumnsOf[LintFinding]{
		{Column: Column{Name: "SEVERITY", MinWidth: len("SEVERITY")}, Value: func(f LintFinding) Cell {
			return Cell{f.Severity, map[string]Tone{"error": Bad, "warning": Warn}[f.Severity]}
		}},
		{Column: Column{Name: "WHERE", Truncate: Middle, MinWidth: 16}, Value: AsText(LintFinding.Place)},
		{Column: Column{Name: "MESSAGE", OwnLine: true, Truncate: End, MinWidth: 30}, Value: AsText(func(f LintFinding) string { return f.Message })},
	}
	doc := LintDocument{Head: HeadOf("RuleLint"), Rules: rules, Findings: findings, Gaps: gaps}
	a := Output{Tree: c.tree(findings), Table: c.Table(findings), Document: doc}
	a.Wide = a.Table
	for _, f := range findings {
		a.Names = append(a.Names, f.Place())
	}
	return a
}
