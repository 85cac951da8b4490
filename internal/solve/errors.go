package solve

import (
	"fmt"
	"strings"
)

// ConflictError explains why a question has no solution. Without any one of the reasons there would
// be one, as far as maxSteps allow to find out.
type ConflictError struct {
	// Reasons are sentences without full stops, in the order in which one leads to the next.
	Reasons []Reason
	// Ends is the conclusion: "no version of cert-manager is in both (there are 1.10.1, 1.14.2)".
	// It is empty if the reasons are enough.
	Ends string
}

// Reason is one of the facts that together make a ConflictError.
type Reason struct {
	Kind ReasonKind
	// Package is the name of the package whose requirement, conflict or version it is; empty for a
	// want.
	Package string
	// Requirement is what is wanted or needed, or what a package conflicts with.
	Requirement Requirement
	// By is the source of a want.
	By string
	// Text is the reason in words.
	Text string
}

// ReasonKind is the kind of a reason.
type ReasonKind string

// The kinds of reasons.
const (
	Wanted     ReasonKind = "wanted"
	Needed     ReasonKind = "needed"
	Apart      ReasonKind = "conflict"
	Kubernetes ReasonKind = "kubernetes"
	Stays      ReasonKind = "stays" // an installed package that is fixed
	NotDown    ReasonKind = "not-down"
	unclear    ReasonKind = "unclear" // nothing decides which package provides an API; internal
)

func (e *ConflictError) Error() string {
	parts := make([]string, 0, len(e.Reasons)+1)
	for _, r := range e.Reasons {
		parts = append(parts, r.Text)
	}
	if e.Ends != "" {
		parts = append(parts, e.Ends)
	}
	return strings.Join(parts, "; ")
}

// AmbiguousError reports that several packages provide a needed API, and nothing decides between
// them.
type AmbiguousError struct {
	API API
	// Candidates are names of packages, sorted; one of them in Question.Prefer, or in a want,
	// decides.
	Candidates []string
	// By lists what needs it: "the command line", "shop 1.0.0".
	By []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("several packages bring %s, which %s needs: %s: choose one of them", e.API, strings.Join(e.By, " and "), strings.Join(e.Candidates, ", "))
}

// LoopError reports that packages need each other in a cycle, so that none can be first.
type LoopError struct {
	// Loop are "NAME VERSION", each of which needs the next, and the last the first.
	Loop []string
}

func (e *LoopError) Error() string {
	return fmt.Sprintf("packages need each other in a circle: %s -> %s: none of them can be first", strings.Join(e.Loop, " -> "), e.Loop[0])
}

// LimitError reports that maxSteps were not enough to find a solution or a conflict.
type LimitError struct {
	// Packages are names of some packages whose versions were tried last.
	Packages []string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("no set of compatible versions was found in %d steps, and it is not certain that none exists; the last tried were of %s: name the version of one of them, as NAME@VERSION", maxSteps, strings.Join(e.Packages, ", "))
}

// words describes a requirement.
func words(r Requirement) string {
	switch {
	case r.Package == "":
		return r.API.String()
	case r.Range == "":
		return short(r.Package)
	}
	return short(r.Package) + " " + r.Range
}

// short truncates a name that is too long for a message.
func short(name string) string {
	if len(name) > 100 {
		return name[:100] + "..."
	}
	return name
}
