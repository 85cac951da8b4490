package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// How long an object may report no health before the gate takes its kind to have none. With a
// status in its definition it gets longer, because its operator may be slow.
const (
	silent       = 30 * time.Second
	silentAnyway = 3 * time.Second
)

// healthGate waits until objects are Healthy, by watches.
type healthGate struct {
	*common
	session  *app.Session
	verdicts *app.HealthCollector
	graph    *graph.Graph
	verdict  *health.Assessment
	refs     []object.Ref
	timeout  time.Duration
	// quiet is since when an object is there and says nothing.
	quiet map[object.Ref]time.Time
	// reporting says of which kinds the definition has a status.
	reporting map[schema.GroupKind]bool
	// reported is what was said last of what is waited for.
	reported string
	say      func(string)
}

// waitHealthy waits until all objects are Healthy (or Suspended, or of a kind that has no health).
// It calls say with the pending objects each time they change. The error names the unhealthy
// objects and the reasons.
func (c *common) waitHealthy(ctx context.Context, refs []object.Ref, timeout time.Duration, say func(string)) error {
	if len(refs) == 0 {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop() // which ends the watches
	c.forgetKinds()
	fresh := newCommon(c.env)
	fresh.Config, fresh.Clock = c.Config, c.Clock
	g := &healthGate{common: fresh, verdicts: fresh.CollectHealth(nil), refs: refs, timeout: timeout, quiet: map[object.Ref]time.Time{}, reporting: map[schema.GroupKind]bool{}, say: say}
	patience, end := context.WithTimeoutCause(ctx, timeout, errTooLong)
	defer end()
	var err error
	if g.session, err = fresh.Open(patience); err == nil {
		live := g.session.Live(ctx)
		f := &app.HealthWatch{HealthResult: &app.HealthResult{Input: &fresh.Input, Session: g.session}, Live: live}
		err = g.wait(patience, f)
	}
	if err != nil && errors.Is(context.Cause(patience), errTooLong) {
		return fmt.Errorf("not Healthy after %s: %s", timeout, cmp.Or(strings.Join(g.unhealthy(), "; "), err.Error()))
	}
	return err
}

// wait looks again each time that something has changed.
func (g *healthGate) wait(ctx context.Context, f *app.HealthWatch) error {
	for {
		err := g.look(ctx)
		if errors.Is(err, errNotServed) {
			if err = g.restart(ctx, f, err); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		g.learn(ctx)
		failing := g.unhealthy()
		if len(failing) == 0 {
			return nil
		}
		if text := strings.Join(failing, "; "); text != g.reported {
			g.reported = text
			g.say(text)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.Live.Changed():
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(app.Gathering):
			}
		case <-time.After(min(gateRipening, g.timeout/8)):
		}
		g.session = g.session.Reopen()
	}
}

// errNotServed may pass: a definition that was just made is not served everywhere at once.
var errNotServed = errors.New("the cluster does not serve")

// restart asks again, after a while, what the cluster serves.
func (g *healthGate) restart(ctx context.Context, f *app.HealthWatch, reason error) error {
	if text := reason.Error(); text != g.reported {
		g.reported = text
		g.say(text)
	}
	select {
	case <-ctx.Done():
		return reason
	case <-time.After(resolving):
	}
	var err error
	if g.session, err = g.Open(ctx); err != nil {
		return err
	}
	f.Live = g.session.Live(ctx)
	return nil
}

// gateRipening is how often a gate looks again although nothing has changed.
const gateRipening = 5 * time.Second

// look reads the objects with all that is below them, and evaluates their health.
func (g *healthGate) look(ctx context.Context) error {
	roots := make([]app.Root, 0, len(g.refs))
	for _, ref := range g.refs {
		kind, ok := g.session.Kinds.Kind(ref.GroupKind())
		if !ok {
			return fmt.Errorf("%s: %w %s", ref, errNotServed, ref.GroupKind())
		}
		roots = append(roots, app.Root{Text: ref.String(), Kind: kind, Name: ref.Name, Namespace: ref.Namespace})
	}
	s := g.session
	var err error
	g.graph, err = s.Read(ctx, s.Query(roots), func(name *graph.Graph) []graph.ID { return s.Resolve(name, roots, nil) }, g.StackOptions())
	if err != nil {
		return err
	}
	g.verdict = g.verdicts.Assess(g.graph)
	return nil
}

// unhealthy says of each object that is not as it should be what it is.
func (g *healthGate) unhealthy() []string {
	if g.graph == nil {
		return nil
	}
	var out []string
	now := g.env.Now()
	for _, ref := range g.refs {
		id, ok := g.graph.Find(ref)
		if !ok || g.graph.State(id) == graph.Missing {
			out = append(out, ref.String()+" does not exist")
			continue
		}
		h := g.verdict.OwnHealth(id)
		switch {
		case h.Status == health.Healthy, h.Status == health.Suspended, h.Reason == health.Exists:
			delete(g.quiet, ref)
		case h.Status == "", h.Status == health.Unknown, h.Unreported:
			since, seen := g.quiet[ref]
			if !seen {
				g.quiet[ref], since = now, now
			}
			if now.Sub(since) < g.statusTimeout(ref) {
				out = append(out, ref.String()+" reports nothing yet")
			}
		default:
			delete(g.quiet, ref)
			out = append(out, fmt.Sprintf("%s is %s%s", ref, h.Status, g.explanation(id, h)))
		}
	}
	slices.Sort(out)
	return out
}

// statusTimeout is how long is waited for an object that says nothing.
func (g *healthGate) statusTimeout(ref object.Ref) time.Duration {
	if kind, ok := g.session.Kinds.Kind(ref.GroupKind()); ok {
		if _, known, found := catalog.KindOf(kind); found && len(known.Health) > 0 {
			return time.Hour // It is known how this kind tells: it has to.
		}
	}
	tells, known := g.reporting[ref.GroupKind()]
	return statusTimeout(known && !tells, g.timeout)
}

// statusTimeout is how long an object may say nothing before it is taken for one that never does:
// always less than all of it may take, so that its silence alone fails nothing.
func statusTimeout(withoutStatus bool, timeout time.Duration) time.Duration {
	most := silent
	if withoutStatus {
		most = silentAnyway
	}
	return min(most, timeout/2)
}

// learn finds out of which of the kinds the definition has no status. Where that may not be
// read, it is taken to have one.
func (g *healthGate) learn(ctx context.Context) {
	cluster, ok := app.ClusterOf(g.session.Source)
	for _, ref := range g.refs {
		kind, served := g.session.Kinds.Kind(ref.GroupKind())
		if _, known := g.reporting[ref.GroupKind()]; known || !ok || !served || !kind.Custom {
			continue
		}
		tells := true
		if crd, err := cluster.Definition(ctx, kind.Plural+"."+kind.Group); err == nil {
			tells = hasStatus(crd, kind.Version)
		}
		g.reporting[ref.GroupKind()] = tells
	}
}

// hasStatus says whether a definition has a status in a version.
func hasStatus(crd map[string]any, version string) bool {
	versions, _, _ := unstructured.NestedSlice(crd, "spec", "versions")
	for _, v := range versions {
		m, _ := v.(map[string]any)
		if m["name"] != version {
			continue
		}
		_, sub, _ := unstructured.NestedFieldNoCopy(m, "subresources", "status")
		_, field, _ := unstructured.NestedFieldNoCopy(m, "schema", "openAPIV3Schema", "properties", "status")
		return sub || field
	}
	return true
}

// explanation is the message of an object, or of the deepest thing below it that explains it.
func (g *healthGate) explanation(id graph.ID, h health.Health) string {
	stack := g.graph.Stack([]graph.ID{id}, g.StackOptions())
	if c, ok := g.verdict.Stack(stack).Cause(); ok && c.ID != id {
		return fmt.Sprintf(" (%s: %s)", g.graph.Ref(c.ID), cmp.Or(c.Health.Message, c.Health.Reason))
	}
	if text := cmp.Or(h.Message, h.Reason); text != "" {
		return " (" + text + ")"
	}
	return ""
}
