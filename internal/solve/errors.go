package solve

import (
	"fmt"
	"strings"
)

// ConflictError says why nothing satisfies a question. Leaving any of its reasons out would
// make it one that has an answer, as far as that could be found out in maxSteps.
type ConflictError struct {
	// Reasons are sentences without full stops, in the order in which one leads to the next.
	Reasons []Reason
	// Ends says what the reasons come to: "no version of cert-manager is in both (there are
	// 1.10.1, 1.14.2)". Empty where the reasons say all.
	Ends string
}

// Reason is one thing that cannot be together with the other ones of a ConflictError.
type Reason struct {
	Kind ReasonKind
	// Package is the name of the package whose requirement, conflict or version it is; empty
	// for a want.
	Package string
	// Requirement is what is wanted or needed, or what a package conflicts with.
	Requirement Requirement
	// By is who wants it, for a want.
	By string
	// Text is the reason in words.
	Text string
}

// ReasonKind is what a reason is of.
type ReasonKind string

// The kinds of reasons.
const (
	Wanted     ReasonKind = "wanted"
	Needed     ReasonKind = "needed"
	Apart      ReasonKind = "conflict"
	Kubernetes ReasonKind = "kubernetes"
	Stays      ReasonKind = "stays" // an installed package that is fixed
	NotDown    ReasonKind = "not-down"
	unclear    ReasonKind = "unclear" // nothing says who brings an API; only inside
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

// AmbiguousError says that several packages bring an API that is needed, and nothing says
// which of them it is to be.
type AmbiguousError struct {
	API API
	// Candidates are names of packages, sorted; one of them in Question.Prefer, or in a want, decides.
	Candidates []string
	// By is who needs it: "the command line", "shop 1.0.0".
	By []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("several packages bring %s, which %s needs: %s: choose one of them", e.API, strings.Join(e.By, " and "), strings.Join(e.Candidates, ", "))
}

// LoopError says that packages need each other in a circle, so that none can be first.
type LoopError struct {
	// Loop are "NAME VERSION", each of which needs the next, and the last the first.
	Loop []string
}

func (e *LoopError) Error() string {
	return fmt.Sprintf("packages need each other in a circle: %s -> %s: none of them can be first", strings.Join(e.Loop, " -> "), e.Loop[0])
}

// LimitError says that neither an answer nor a conflict was found in maxSteps.
type LimitError struct {
	// Packages are names of some packages whose versions were tried last.
	Packages []string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("no set of compatible versions was found in %d steps, and it is not certain that none exists; the last tried were of %s: name the version of one of them, as NAME@VERSION", maxSteps, strings.Join(e.Packages, ", "))
}

// words says what is needed.
func words(r Requirement) string {
	switch {
	case r.Package == "":
		return r.API.String()
	case r.Range == "":
		return short(r.Package)
	}
	return short(r.Package) + " " + r.Range
}

// short keeps a name that is no name at all from filling the screen.
func short(name string) string {
	if len(name) > 100 {
		return name[:100] + "..."
	}
	return name
}
