package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/logs"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// logsIdleTimeout is how long a log may take to answer where it is not followed. An API
// server gives a node that is gone up after half a minute at most.
const logsIdleTimeout = 35 * time.Second

// logsRun is one run of the logs command.
type logsRun struct {
	o         *logsOptions
	q         *logsQuestion
	s         *app.Session
	cluster   *source.Cluster
	roots     []app.Root
	collector *logs.Collector
	home      string
	notices   *logNotices
}

// read shows what there is.
func (l *logsRun) read(ctx context.Context) error {
	g, pods, err := l.pods(ctx)
	if err != nil {
		return err
	}
	all, err := l.begin(g, pods)
	if err != nil {
		return err
	}
	ready, notes := l.ready(all)
	l.notices.print(notes)
	if len(all) > 0 && len(ready) == 0 {
		return l.nothing(len(all))
	}
	out := bufio.NewWriter(l.o.env.Out)
	lines := l.writer(out, all)
	reading := l.o.Clock.Stage("logs")
	reader := logs.Reader{Open: l.open, Max: l.o.maxStreams, IdleTimeout: logsIdleTimeout}
	notes, err = reader.Read(ctx, ready, l.q.options, func(line logs.Line) error {
		if !l.q.filter.takes(plain(line.Text)) {
			return nil
		}
		return lines.line(line)
	})
	reading()
	if err := errors.Join(err, out.Flush()); err != nil {
		return err
	}
	l.notices.print(notes)
	l.s.PrintTimings(g)
	if failed := count(notes, func(n logs.Notice) bool { return n.Event == logs.Failed }); failed > 0 && failed == len(ready) {
		return fmt.Errorf("no log could be read (of %d)", len(all))
	}
	return nil
}

// nothing is the error for containers of which none has a log.
func (l *logsRun) nothing(n int) error {
	if l.o.previous {
		return hint.With(fmt.Errorf("none of the %d containers was restarted: there is no earlier log", n), "leave out --previous to show the current log")
	}
	return fmt.Errorf("none of the %d containers has a log yet", n)
}

// ready are the containers of which there is a log, and what is to be told of them: which
// are on a node that may not answer, and which have not started. That some were never
// restarted, and so have no log from before, is no news.
func (l *logsRun) ready(all []logs.Container) (ready []logs.Container, notes []logs.Notice) {
	for _, c := range all {
		switch {
		case l.o.previous && c.Restarted, !l.o.previous && c.Instance != "":
			ready = append(ready, c)
			if c.Lost != "" {
				notes = append(notes, logs.Notice{Container: c, Event: logs.NodeNotReady, Reason: c.Lost})
			}
		case !l.o.previous:
			notes = append(notes, logs.Notice{Container: c, Event: logs.Waiting, Reason: c.Waiting})
		}
	}
	return ready, notes
}

// pods reads the stack, and returns its pods in order.
func (l *logsRun) pods(ctx context.Context) (*graph.Graph, []object.Ref, error) {
	var o graph.StackOptions
	o.NoInferred = l.o.NoInferred
	if l.o.owned {
		o.Relations = []relation.Relation{relation.Owns}
	}
	resolve := func(g *graph.Graph) []graph.ID { return l.s.Resolve(g, l.roots, l.q.selector) }
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

// begin says what could not be read of the stack, and returns the containers that are
// asked for.
func (l *logsRun) begin(g *graph.Graph, pods []object.Ref) ([]logs.Container, error) {
	if err := l.s.Missing(g, l.roots, l.q.selector); err != nil {
		return nil, err
	}
	l.s.ReportGaps(g)
	l.home = l.s.CommonNamespace(g, l.s.Resolve(g, l.roots, l.q.selector))
	l.notices = &logNotices{out: l.o.env.ErrOut, home: l.home, follow: l.o.follow, streams: l.o.maxStreams}
	if len(pods) == 0 {
		if err := l.unseen(g); err != nil {
			return nil, err
		}
		fmt.Fprintln(l.o.env.ErrOut, "no pods in the stack")
	}
	all := l.containers(pods)
	wanted := l.o.wanted(all)
	if len(all) > 0 && len(wanted) == 0 && len(l.o.containers) > 0 {
		var names []string
		for _, c := range all {
			names = append(names, c.Name)
		}
		slices.Sort(names)
		return nil, hint.With(fmt.Errorf("no pod of the stack has a container %s", strings.Join(l.o.containers, " or ")), "there are "+strings.Join(slices.Compact(names), ", "))
	}
	return wanted, nil
}

// unseen is the error if pods could not be listed: it is unknown whether there are any.
func (l *logsRun) unseen(g *graph.Graph) error {
	kind, _ := l.s.Kinds.Kind(app.PodKind)
	for _, r := range l.roots {
		in := l.s.NamespaceOf(r)
		if gap, ok := l.s.GapOf(g, kind, in); ok && !l.s.Inventory.Covered(app.PodKind, in) {
			return fmt.Errorf("read the pods of %s: %s", r.Text, gap.Message)
		}
	}
	return nil
}

func (l *logsRun) containers(pods []object.Ref) []logs.Container {
	var all []logs.Container
	for _, ref := range pods {
		all = append(all, l.collector.Of(ref)...)
	}
	return all
}

// open asks the cluster for a log.
func (l *logsRun) open(ctx context.Context, c logs.Container, o logs.Options) (io.ReadCloser, error) {
	return l.cluster.Logs(ctx, c.Namespace, c.Pod, source.LogOptions{
		Container: c.Name, Follow: o.Follow, Previous: o.Previous, Timestamps: true, Since: o.Since, SinceTime: o.SinceTime, Tail: o.Tail,
	})
}

// writer writes lines in the format that is asked for.
func (l *logsRun) writer(out io.Writer, all []logs.Container) lineWriter {
	if l.o.output == "json" {
		return jsonLines{out}
	}
	t := &textLines{
		out: out, home: l.home, columns: labelColumns(l.o.env.Width), prefix: !l.o.noPrefix, stamps: l.o.timestamps, marks: l.q.filter.only,
		color: l.o.color == "always" || l.o.color != "never" && l.o.env.Color,
	}
	t.know(all)
	return t
}

// labelColumns is how much of a terminal the labels of lines may take.
func labelColumns(width int) int {
	if width == 0 {
		return 0
	}
	return max(width*2/5, 16)
}
