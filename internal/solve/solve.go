// Package solve says which packages in which versions satisfy what is wanted, given what is
// there already: by package and version range, and by API (interface before implementation).
// It reads and writes nothing.
package solve

import (
	"context"
	"fmt"
	"strings"
)

// API is a kind that a package brings or needs: Certificate.cert-manager.io.
type API struct {
	// Kind is written Kind.group, as everywhere in the catalogue.
	Kind string `json:"kind" read:"groupKind,required,unique"`
	// Versions are those that are served, or of which one must be: v1. Empty in a requirement for any.
	Versions []string `json:"versions,omitempty" read:"apiVersion,required,max=500" want:"a list of versions: [v1]"`
}

func (a API) String() string {
	if len(a.Versions) == 0 {
		return a.Kind
	}
	return fmt.Sprintf("%s (%s)", a.Kind, strings.Join(a.Versions, ", "))
}

// Requirement is what a package needs: exactly one of API and Package is set.
type Requirement struct {
	API API `json:"api,omitzero" read:",unique"`
	// Package is the name of a package, Range a range of semantic versions of it
	// (">=1.14 <2"); an empty one is any that is not a prerelease.
	Package string `json:"package,omitempty" read:",unique"`
	Range   string `json:"version,omitempty"`
	// Optional says that it does without. What is optional is never brought along for its
	// own sake, but where the package is there all the same it must be in the range.
	Optional bool `json:"optional,omitempty"`
}

// Package is one version of a package.
type Package struct {
	Name    string
	Version string // semantic, without a v
	// Kubernetes is the range of versions that it runs on; empty for any.
	Kubernetes string
	Provides   []API
	Requires   []Requirement
	// Conflicts are packages (by name and range) that it cannot be together with.
	Conflicts []Requirement
}

// Installed is a package that is there.
type Installed struct {
	Package
	// Fixed says that it must stay as it is: what is not asked to be upgraded, or is not ours.
	Fixed bool
}

// Want is what is asked for: a package in a range, or an API.
type Want struct {
	Requirement
	// By says who asks, for people: "the command line", "system shop: app db".
	By string
}

// Question is all that an answer depends on.
type Question struct {
	// Available is every version of every package that could be had.
	Available []Package
	Installed []Installed
	// Served are the APIs that the cluster serves and that no installed package of ours
	// provides: they are there, whoever brought them.
	Served []API
	Wants  []Want
	// Kubernetes is the version of the cluster; empty where it is not known, and then no
	// range of it is held against it.
	Kubernetes string
	// Prefer orders the providers of an API of which several could be had; without a name
	// here, two providers are a conflict that asks for a choice.
	Prefer []string
}

// Choice is a package of the answer.
type Choice struct {
	Package
	// Was is the version that is there, empty where none is. Where Was is Version, nothing
	// is to be done.
	Was string
	// Why says who needs it: "system shop: app db", "cloudnative-pg 1.27.0 (Certificate.cert-manager.io)".
	Why []string
	// Needs are the names of the chosen packages that it needs, required and optional ones alike.
	// A required one comes before it in the answer, an optional one where it can.
	Needs []string
}

// Solve returns the packages that satisfy a question, in the order of needs: what is needed
// goes before who needs it, else by name. What is installed is in the answer where a want
// needs it, or where it is changed.
//
// Packages are chosen one after the other, and each in the first version with which an answer
// can still be had: the wanted packages in the order of wants, the newest version first; then
// what is installed, by name, the installed version first and then the newest; then what these
// need by name, in the order in which it is found from them, the newest first; then who brings
// the APIs that are needed and that nobody chosen brings. The answer does not depend on the
// order of anything but wants, requirements and Prefer.
//
// Where packages of the answer need each other in a circle, that is an error: no other answer
// is looked for that has none.
//
// Without an answer the error is a *ConflictError, an *AmbiguousError, a *LoopError or a
// *LimitError; another one says what is wrong with the question itself, or is that of the context.
func Solve(ctx context.Context, q Question) ([]Choice, error) {
	u, err := newUniverse(&q)
	if err != nil {
		return nil, err
	}
	s := &search{universe: u, left: maxSteps}
	ok, err := s.run(ctx)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, s.explain(ctx)
	}
	return s.answer()
}
