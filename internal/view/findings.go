package view

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Findings are what was checked, and what was found, for tools that collect such lists
// from any checker (SARIF, JUnit). All commands that find things share this shape.
type Findings struct {
	// Name is what was run: check, preflight. Version is that of the program; it may be
	// empty.
	Name, Version string
	// Rules are all those that a case names, each ID once.
	Rules []FindingRule
	// Suites are what was checked.
	Suites []Suite
	// Gaps are what could not be read, Notes what else is to be told about the run as a
	// whole, each a sentence.
	Gaps  []object.Gap
	Notes []string
}

// FindingRule is what was asked.
type FindingRule struct {
	ID string
	// Title says what holds where the rule is kept, Why and Fix are sentences; of these two
	// there may be none.
	Title, Why, Fix string
	// Severity is that of what the rule mostly finds.
	Severity check.Severity
	// Tags are words by which tools group rules: security, "Operator Maturity Model".
	Tags []string
	// Sources are where the rule comes from, in words.
	Sources []string
	// URI leads to a page about it; it may be empty.
	URI string
}

// Suite is one thing that was checked: an operator, a stack, a batch.
type Suite struct {
	// Name is unique in a run and stays the same from run to run.
	Name string
	// Properties are figures about the whole of it, in the order in which they are shown.
	Properties []Property
	Cases      []Case
}

// Property is a figure with its name.
type Property struct{ Name, Value string }

// Case is what one rule says of a suite. Where there are errors or warnings that are not
// waived it has failed; where there are none and something is open it is unknown; else
// it has passed.
type Case struct {
	// Rule is an ID of Findings.Rules, Class the group that it is shown in: security.
	Rule, Class string
	// Right counts the objects that are as they should be.
	Right int
	// Findings are what is wrong, Open what could not be decided.
	Findings []CaseFinding
	Open     []CaseUnknown
}

// CaseFinding is one thing that is wrong.
type CaseFinding struct {
	Severity check.Severity
	Object   object.Ref
	// Origin is the place in a file where the object was written (shop.yaml:14); empty where
	// it is unknown.
	Origin string
	// Field and Value are the evidence, Message one sentence without a full stop. Reason is
	// one word; it may be empty.
	Field, Value, Reason, Message string
	// Remedy says what to do, Patch is the same as YAML of a merge patch; either may be
	// empty.
	Remedy, Patch string
	Related       []object.Ref
	// Waived is set where the finding is accepted.
	Waived *CaseWaiver
}

// CaseWaiver is why a finding is accepted, and where that is written.
type CaseWaiver struct {
	Reason, Origin string
	// InSource says that it stands at the object itself, and not in a file beside.
	InSource bool
}

// CaseUnknown is something that could not be decided, and why.
type CaseUnknown struct {
	Object object.Ref
	Origin string
	Why    string
}

// Failed says that there is a finding that is not waived, and that it is more than a
// habit (check.Info).
func (c *Case) Failed() bool {
	return slices.ContainsFunc(c.Findings, func(f CaseFinding) bool { return f.Waived == nil && f.Severity <= check.Warning })
}
