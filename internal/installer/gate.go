package installer

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
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// How long an object may report no health before its kind is taken to have none. With a status in
// its CRD it gets longer, because its operator may be slow.
const (
	silentWithStatus    = 30 * time.Second
	silentWithoutStatus = 3 * time.Second
)

// healthGate waits by watches until objects are Healthy.
type healthGate struct {
	input    *app.Input
	session  *app.Session
	follow   func(*app.Session) *source.Live
	verdicts *app.HealthCollector
	graph    *graph.Graph
	verdict  *health.Assessment
	refs     []object.Ref
	timeout  time.Duration
	silent   map[object.Ref]time.Time  // since when an object exists and reports no health
	status   map[schema.GroupKind]bool // whether the CRD of a kind has a status
	said     string
	say      func(string)
}

// waitHealthy waits until all objects are Healthy (or Suspended, or of a kind that has no health).
// It calls say with the pending objects each time they change. The error names the unhealthy
// objects and the reasons.
func (i *Installer) waitHealthy(ctx context.Context, refs []object.Ref, timeout time.Duration, say func(string)) error {
	if len(refs) == 0 {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop() // which ends the watches
	i.forgetKinds()
	in := i.session()
	follow := func(s *app.Session) *source.Live { return s.Live(ctx) } // The watches outlive the timeout.
	g := &healthGate{follow: follow, input: in, verdicts: in.CollectHealth(nil), refs: refs, timeout: timeout, silent: map[object.Ref]time.Time{}, status: map[schema.GroupKind]bool{}, say: say}
	limited, end := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer end()
	var err error
	if g.session, err = in.Open(limited); err == nil {
		err = g.wait(limited)
	}
	if err != nil && errors.Is(context.Cause(limited), errTimeout) {
		return fmt.Errorf("not Healthy after %s: %s", timeout, cmp.Or(strings.Join(g.unhealthy(), "; "), err.Error()))
	}
	return err
}

// wait evaluates the objects again each time that something changes.
func (g *healthGate) wait(ctx context.Context) error {
	live := g.follow(g.session)
	for {
		err := g.evaluate(ctx)
		if errors.Is(err, errNotServed) {
			if live, err = g.restart(ctx, err); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		g.readStatus(ctx)
		failing := g.unhealthy()
		if len(failing) == 0 {
			return nil
		}
		g.tell(strings.Join(failing, "; "))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-live.Changed():
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(app.Gathering):
			}
		case <-time.After(min(gateInterval, g.timeout/8)):
		}
		g.session = g.session.Reopen()
	}
}

// tell says what is waited for, once.
func (g *healthGate) tell(text string) {
	if text != g.said {
		g.said = text
		g.say(text)
	}
}

// errNotServed may pass: a CRD that was just created is not served by every API server at once.
var errNotServed = errors.New("the cluster does not serve")

// restart reads again, after a while, what the cluster serves.
func (g *healthGate) restart(ctx context.Context, reason error) (*source.Live, error) {
	g.tell(reason.Error())
	select {
	case <-ctx.Done():
		return nil, reason
	case <-time.After(valueInterval):
	}
	var err error
	if g.session, err = g.input.Open(ctx); err != nil {
		return nil, err
	}
	return g.follow(g.session), nil
}

// gateInterval is how often a gate evaluates although nothing has changed, and settleInterval how
// long it collects changes.
const (
	gateInterval   = 5 * time.Second
	settleInterval = 300 * time.Millisecond
)

// evaluate reads the objects with all that is below them, and evaluates their health.
func (g *healthGate) evaluate(ctx context.Context) error {
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
	g.graph, err = s.Read(ctx, s.Query(roots), func(read *graph.Graph) []graph.ID { return s.Resolve(read, roots, nil) }, g.input.StackOptions())
	if err != nil {
		return err
	}
	g.verdict = g.verdicts.Assess(g.graph)
	return nil
}

// unhealthy describes each object that is not healthy.
func (g *healthGate) unhealthy() []string {
	if g.graph == nil {
		return nil
	}
	var out []string
	now := g.input.Now()
	for _, ref := range g.refs {
		id, ok := g.graph.Find(ref)
		if !ok || g.graph.State(id) == graph.Missing {
			out = append(out, ref.String()+" does not exist")
			continue
		}
		h := g.verdict.OwnHealth(id)
		switch {
		case h.Status == health.Healthy, h.Status == health.Suspended, h.Reason == health.Exists:
			delete(g.silent, ref)
		case h.Status == "", h.Status == health.Unknown, h.Unreported:
			since, seen := g.silent[ref]
			if !seen {
				g.silent[ref], since = now, now
			}
			if now.Sub(since) < g.statusTimeout(ref) {
				out = append(out, ref.String()+" reports nothing yet")
			}
		default:
			delete(g.silent, ref)
			out = append(out, fmt.Sprintf("%s is %s%s", ref, h.Status, g.explanation(id, h)))
		}
	}
	slices.Sort(out)
	return out
}

// statusTimeout is how long the gate waits for an object that reports no health.
func (g *healthGate) statusTimeout(ref object.Ref) time.Duration {
	if kind, ok := g.session.Kinds.Kind(ref.GroupKind()); ok {
		if _, known, found := catalog.KindOf(kind); found && len(known.Health) > 0 {
			return time.Hour // The catalog knows how this kind reports: it has to.
		}
	}
	status, known := g.status[ref.GroupKind()]
	return statusTimeout(known && !status, g.timeout)
}

// statusTimeout is always shorter than the timeout of the gate, so that silence alone fails nothing.
func statusTimeout(withoutStatus bool, timeout time.Duration) time.Duration {
	most := silentWithStatus
	if withoutStatus {
		most = silentWithoutStatus
	}
	return min(most, timeout/2)
}

// readStatus reads which of the kinds have no status in their CRD. A CRD that may not be read is
// taken to have one.
func (g *healthGate) readStatus(ctx context.Context) {
	cluster, ok := app.ClusterOf(g.session.Source)
	for _, ref := range g.refs {
		kind, served := g.session.Kinds.Kind(ref.GroupKind())
		if _, known := g.status[ref.GroupKind()]; known || !ok || !served || !kind.Custom {
			continue
		}
		status := true
		if crd, err := cluster.Definition(ctx, kind.Plural+"."+kind.Group); err == nil {
			status = hasStatus(crd, kind.Version)
		}
		g.status[ref.GroupKind()] = status
	}
}

// hasStatus says whether a CRD has a status in a version.
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

// explanation is the message of an object, or of the cause in its stack.
func (g *healthGate) explanation(id graph.ID, h health.Health) string {
	stack := g.graph.Stack([]graph.ID{id}, g.input.StackOptions())
	if c, ok := g.verdict.Stack(stack).Cause(); ok && c.ID != id {
		return fmt.Sprintf(" (%s: %s)", g.graph.Ref(c.ID), cmp.Or(c.Health.Message, c.Health.Reason))
	}
	if text := cmp.Or(h.Message, h.Reason); text != "" {
		return " (" + text + ")"
	}
	return ""
}
