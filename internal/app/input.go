// Package app is the application: a Session reads a cluster or a snapshot into a graph, and one
// function for each question answers from it: Stacks, Health, Measure, Check, a preflight, a
// manual, the page. A request goes in and a result comes out; neither knows flags, output formats
// or HTTP.
package app

import (
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Input says what a session reads: a cluster or a snapshot, its namespace, and how much of which
// kinds. The first fields are what the user asks for, the others what the question needs.
type Input struct {
	Config        *genericclioptions.ConfigFlags
	From          string // a snapshot: FILE, DIR, "-" or "demo"; empty for the cluster
	RulesFiles    []string
	AllNamespaces bool
	NoInferred    bool
	ShowTimings   bool
	// Named says that a root may also be missing, if another object names it.
	Named bool

	Version string // of this program
	Stdin   io.Reader
	Demo    fs.FS // the snapshot that "demo" names
	Now     func() time.Time
	Clock   *stopwatch
	Report  reporter
	// Completing says that a shell asks: no credential plugin may ask back on the terminal.
	Completing bool

	// rules are the rules of the session. A session that follows a cluster replaces them while
	// others read them.
	rules   *atomic.Pointer[relation.Set]
	Include []schema.GroupKind // kinds that are read although they are left out by default
	// Definitions says that the question is about CRDs, so that they are read whole.
	Definitions bool
	// MoreRoots returns, after a first read, further roots whose stacks are read, and the kinds of
	// which every object is read; nil for none.
	MoreRoots func(g *graph.Graph, roots []graph.ID) ([]graph.ID, []schema.GroupKind)
	// over overlays the source; nil for nothing.
	over func(base source.Source, namespace string) source.Source
	// wholly are kinds that are read whole, as the Go types of these versions; with them, every
	// custom resource is read whole.
	wholly []schema.GroupVersionKind
	// Collect takes every object that is read, for usage and cost, and notes are the
	// annotations that it needs.
	Collect func(object.Object)
	Notes   []string
	// Extract makes extractors that the question needs, and evaluatesHealth says that it needs the
	// status of every kind that has one.
	Extract         []func(*Session) inventory.Extractor
	evaluatesHealth bool
	// healthRules go before the catalog's, where health is evaluated; nil for none.
	healthRules *healthRules
}

// reporter prints messages that are not part of the answer.
type reporter interface {
	Gaps(gaps []object.Gap)
	Warn(text string)
	Note(text string)
	Progress(text string)
	Timings(text string)
}

// StackOptions returns the options of the stacks of apps.
func (c *Input) StackOptions() graph.StackOptions {
	return graph.StackOptions{NoInferred: c.NoInferred}
}

// Given says that a flag has a value.
func Given(s *string) bool { return s != nil && *s != "" }
