// Package solve chooses packages and versions that satisfy wants, given what is installed: by
// package and version range, and by API (interface before implementation). It does no I/O.
package solve

import (
	"context"
	"fmt"
	"strings"
)

// API is a kind that a package provides or needs: Certificate.cert-manager.io.
type API struct {
	// Kind is written Kind.group, as in the catalog.
	Kind string `json:"kind" read:"groupKind,required,unique"`
	// Versions are the served ones, or those of which one is required: v1. Empty in a requirement
	// means any.
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
	// Package is the name of a package, Range a range of its semantic versions (">=1.14 <2"); an
	// empty one is any that is not a prerelease.
	Package string `json:"package,omitempty" read:",unique"`
	Range   string `json:"version,omitempty"`
	// Optional is set if the package works without it. An optional package is never added for its
	// own sake, but if it is chosen it must be in the range.
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
	// Conflicts are packages (by name and range) that exclude it.
	Conflicts []Requirement
}

// Installed is an installed package.
type Installed struct {
	Package
	// Fixed is set if it must not change: no upgrade was requested, or another tool installed it.
	Fixed bool
}

// Want is a request: a package in a range, or an API.
type Want struct {
	Requirement
	// By is its source, for people: "the command line", "system shop: app db".
	By string
}

// Question is the complete input of Solve.
type Question struct {
	// Available is every available version of every package.
	Available []Package
	Installed []Installed
	// Served are the APIs that the cluster serves and that no installed package provides.
	Served []API
	Wants  []Want
	// Kubernetes is the version of the cluster; if empty, ranges of it are not checked.
	Kubernetes string
	// Prefer orders the providers of an API; without a name here, two providers are an
	// AmbiguousError.
	Prefer []string
}

// Choice is a package of the answer.
type Choice struct {
	Package
	// Was is the installed version, or empty. If it equals Version, nothing changes.
	Was string
	// Why lists what needs it: "system shop: app db", "cloudnative-pg 1.27.0
	// (Certificate.cert-manager.io)".
	Why []string
	// Needs are the names of the chosen packages that it needs, required and optional ones. A
	// required one comes before it in the answer, an optional one if possible.
	Needs []string
}

// Solve returns the packages that satisfy a question, in the order of needs: a package comes after
// those that it needs, else by name. It includes an installed package if a want needs it, or if it
// changes.
//
// It chooses packages one after the other, each in the first version for which a solution still
// exists: the wanted packages in the order of wants, newest version first; then what is installed,
// by name, the installed version first and then the newest; then what these need by name, in the
// order of discovery, newest first; then the providers of the needed APIs that no chosen package
// provides. The answer depends only on the order of wants, requirements and Prefer.
//
// A cycle of needs in the answer is an error: it does not search for another answer without one.
//
// Without an answer the error is a *ConflictError, an *AmbiguousError, a *LoopError or a
// *LimitError; another one reports an invalid question, or is that of the context.
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
