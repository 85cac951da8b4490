package logs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// idleTimeout is how long a log may take to answer where it is not followed. An API server gives up
// a node that is gone after half a minute at most.
const idleTimeout = 35 * time.Second

// Request says of which pods the logs are read, and which lines.
type Request struct {
	Roots         []string
	Selector      labels.Selector
	Owned         bool     // only pods that the roots own
	Containers    []string // of these names; empty for any
	AllContainers bool     // init and ephemeral containers, too
	Options       Options
	Filter        Filter
	MaxStreams    int // open at once
}

// wanted are the containers that the request chooses.
func (q *Request) wanted(all []Container) []Container {
	return slices.DeleteFunc(slices.Clone(all), func(c Container) bool {
		if len(q.Containers) > 0 {
			return !slices.Contains(q.Containers, c.Name)
		}
		return !q.AllContainers && c.Role != Main
	})
}

// stack reads the logs of a stack.
type stack struct {
	*Request
	in        *app.Input
	s         *app.Session
	roots     []app.Root
	collector *Collector
	printer   *Printer
	notices   *notices
}

// Print prints the logs of the pods of stacks.
func Print(ctx context.Context, in *app.Input, q *Request, to *Printer) error {
	// Pods are read whole where something is taken out of objects.
	collector := &Collector{}
	in.Collect = collector.Add
	s, err := in.Open(ctx)
	if err != nil {
		if strings.Contains(hint.For(err), "--from demo") { // which is no way out here
			err = hint.With(err, "check --kubeconfig and --context: logs can only be read from a cluster")
		}
		return err
	}
	roots, err := app.SelectedRoots(q.Roots, q.Selector, s.Kinds)
	if err != nil {
		return err
	}
	l := &stack{Request: q, in: in, s: s, roots: roots, collector: collector, printer: to}
	if q.Options.Follow {
		return l.follow(ctx)
	}
	return l.read(ctx)
}

// read prints the existing lines.
func (l *stack) read(ctx context.Context) error {
	g, pods, err := l.pods(ctx)
	if err != nil {
		return err
	}
	all, err := l.begin(g, pods)
	if err != nil {
		return err
	}
	ready, notes := l.ready(all)
	l.notices.report(notes)
	if len(all) > 0 && len(ready) == 0 {
		return l.nothing(len(all))
	}
	out := bufio.NewWriter(l.printer.Out)
	l.printer.Out = out
	reading := l.in.Clock.Stage("logs")
	reader := Reader{Open: clusterLogs(l.s.Cluster()), Max: l.MaxStreams, IdleTimeout: idleTimeout}
	notes, err = reader.Read(ctx, ready, l.Options, l.printer.line)
	reading()
	if err := errors.Join(err, out.Flush()); err != nil {
		return err
	}
	l.notices.report(notes)
	l.s.PrintTimings(g)
	failed := slices.DeleteFunc(notes, func(n Notice) bool { return n.Event != Failed })
	if len(failed) > 0 && len(failed) == len(ready) {
		return fmt.Errorf("no log could be read (of %d)", len(all))
	}
	return nil
}

// nothing is the error for containers of which none has a log.
func (l *stack) nothing(n int) error {
	if l.Options.Previous {
		return hint.With(fmt.Errorf("none of the %d containers was restarted: there is no earlier log", n), "leave out --previous to show the current log")
	}
	return fmt.Errorf("none of the %d containers has a log yet", n)
}

// ready are the containers that have a log, and what to report of the others: which are on a node
// that may not answer, and which have not started. That some were never restarted, and so have no
// previous log, is not reported.
func (q *Request) ready(all []Container) (ready []Container, notes []Notice) {
	for _, c := range all {
		switch {
		case q.Options.Previous && c.Restarted, !q.Options.Previous && c.Instance != "":
			ready = append(ready, c)
			if c.Lost != "" {
				notes = append(notes, Notice{Container: c, Event: NodeNotReady, Reason: c.Lost})
			}
		case !q.Options.Previous:
			notes = append(notes, Notice{Container: c, Event: Waiting, Reason: c.Waiting})
		}
	}
	return ready, notes
}

// pods reads the stack, and returns its pods in order.
func (l *stack) pods(ctx context.Context) (*graph.Graph, []object.Ref, error) {
	o := l.in.StackOptions()
	if l.Owned {
		o.Relations = []relation.Relation{relation.Owns}
	}
	resolve := func(g *graph.Graph) []graph.ID { return l.s.Resolve(g, l.roots, l.Selector) }
	g, err := l.s.Read(ctx, l.s.Query(l.roots), resolve, o)
	if err != nil {
		return nil, nil, err
	}
	var pods []object.Ref
	for _, id := range g.Union(resolve(g), o) {
		if ref := g.Ref(id); ref.GroupKind() == app.PodKind && g.State(id) == graph.Present {
			pods = append(pods, ref)
		}
	}
	slices.SortFunc(pods, object.Compare)
	return g, pods, nil
}

// begin reports what could not be read of the stack, and returns the requested containers.
func (l *stack) begin(g *graph.Graph, pods []object.Ref) ([]Container, error) {
	if err := l.s.Missing(g, l.roots, l.Selector); err != nil {
		return nil, err
	}
	l.s.ReportGaps(g)
	home := l.s.CommonNamespace(g, l.s.Resolve(g, l.roots, l.Selector))
	l.notices = &notices{Request: l.Request, to: l.in.Report, home: home}
	if len(pods) == 0 {
		if err := l.unlisted(g); err != nil {
			return nil, err
		}
		l.in.Report.Note("no pods in the stack")
	}
	all := l.containers(pods)
	wanted := l.wanted(all)
	if len(all) > 0 && len(wanted) == 0 && len(l.Containers) > 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.Name)
		}
		slices.Sort(names)
		return nil, hint.With(fmt.Errorf("no pod of the stack has a container %s", strings.Join(l.Containers, " or ")), "there are "+strings.Join(slices.Compact(names), ", "))
	}
	l.printer.begin(l.Filter, home, wanted)
	return wanted, nil
}

// unlisted is the error if pods could not be listed: it is unknown whether there are any.
func (l *stack) unlisted(g *graph.Graph) error {
	kind, _ := l.s.Kinds.Kind(app.PodKind)
	for _, r := range l.roots {
		in := l.s.NamespaceOf(r)
		if gap, ok := l.s.GapOf(g, kind, in); ok && !l.s.Inventory.Covered(app.PodKind, in) {
			return fmt.Errorf("read the pods of %s: %s", r.Text, gap.Message)
		}
	}
	return nil
}

func (l *stack) containers(pods []object.Ref) []Container {
	var all []Container
	for _, ref := range pods {
		all = append(all, l.collector.Of(ref)...)
	}
	return all
}

// clusterLogs requests logs from a cluster.
func clusterLogs(cluster *source.Cluster) OpenFunc {
	return func(ctx context.Context, c Container, o Options) (io.ReadCloser, error) {
		return cluster.Logs(ctx, c.Namespace, c.Pod, source.LogOptions{
			Container: c.Name, Follow: o.Follow, Previous: o.Previous, Timestamps: true, Since: o.Since, SinceTime: o.SinceTime, Tail: o.Tail,
		})
	}
}
