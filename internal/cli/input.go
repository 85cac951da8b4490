package cli

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

// input says what a session reads: a cluster or a snapshot, its namespace, and how much of which
// kinds. The first fields are what the user asks for, the others what the question needs.
type input struct {
	config        *genericclioptions.ConfigFlags
	from          string // a snapshot: FILE, DIR, "-" or "demo"; empty for the cluster
	rulesFiles    []string
	allNamespaces bool
	noInferred    bool
	timings       bool
	// named says that a root may also be missing, if another object names it.
	named bool

	version string // of this program
	stdin   io.Reader
	demo    fs.FS // the snapshot that "demo" stands for
	now     func() time.Time
	clock   *stopwatch
	report  reporter

	// rules are those of the session, which a session that follows a cluster replaces while
	// others read them.
	rules   *atomic.Pointer[relation.Set]
	include []schema.GroupKind // kinds that are read although they are left out by default
	// definitions says that the question is about CRDs, so that they are read whole.
	definitions bool
	// moreRoots returns, once something was read, whose stacks are read beside those of the
	// roots, and of which kinds every object; nil for none.
	moreRoots func(g *graph.Graph, roots []graph.ID) ([]graph.ID, []schema.GroupKind)
	// over lays something over what is read; nil for nothing.
	over func(base source.Source, namespace string) source.Source
	// wholly are kinds that are read whole, as the Go types of these versions; and with them
	// every custom resource is.
	wholly []schema.GroupVersionKind
	// collect takes every object that is read, for usage and cost, and notes are the
	// annotations that it needs.
	collect func(object.Object)
	notes   []string
	// extract makes extractors that the question needs, and judges says that it needs the
	// status of every kind that has one.
	extract []func(*session) inventory.Extractor
	judges  bool
	// healthRules go before the catalog's, where health is evaluated; nil for none.
	healthRules *healthRules
}

// reporter tells the user what is not part of the answer.
type reporter interface {
	Gaps(gaps []object.Gap)
	Warn(text string)
	Note(text string)
	Progress(text string)
	Timings(text string)
}

// stackOptions are those by which the stacks of apps are followed.
func (c *input) stackOptions() graph.StackOptions {
	return graph.StackOptions{NoInferred: c.noInferred}
}

func given(s *string) bool { return s != nil && *s != "" }
