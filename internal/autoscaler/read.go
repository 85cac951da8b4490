package autoscaler

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// read measures what is scaled, and keeps the objects.
func read(ctx context.Context, input *app.Input, req Request) (*reading, error) {
	in := *input
	if in.AllNamespaces {
		return nil, errors.New("-A: scalers are planned for one namespace, for roots, or for a System")
	}
	in.Extract = slices.Clone(in.Extract)
	facts := in.CollectFacts()
	r := &reading{in: &in, req: req, custom: &customResources{fields: map[object.Ref]map[string]any{}}}
	in.Extract = append(in.Extract, r.custom.extractor)
	if req.System != nil {
		if err := systems.Enter(&in, req.System); err != nil {
			return nil, err
		}
		for i := range req.System.Apps {
			for _, root := range req.System.Apps[i].Roots {
				r.req.Args = append(r.req.Args, root.String())
			}
		}
	}
	q := &app.MetricsRequest{Args: r.req.Args, Book: req.Book, Options: cost.Options{Sharing: cost.ShareEven}, Brief: true, Containers: true, History: req.History, Timeout: req.Timeout}
	var err error
	if r.MetricsResult, err = in.Measure(ctx, q); err != nil {
		return nil, err
	}
	r.state = r.Session.CheckWorld(r.Graph, facts, r.Session.Kinds, r.Session.Inventory)
	if req.System != nil {
		return r, r.readSystem()
	}
	return r, r.readApps()
}

// namespace is that of the System of the scalers.
func (r *reading) namespace() string {
	if s := r.req.System; s != nil && s.Namespace != "" {
		return s.Namespace
	}
	if r.Home != "" {
		return r.Home
	}
	return r.Session.Namespace
}

// readSystem makes an application of each app of the System.
func (r *reading) readSystem() error {
	sys := r.req.System
	for i := range sys.Apps {
		a := &sys.Apps[i]
		out := autoscale.App{Name: a.Name, IgnoreGitOps: a.GitOps == system.Ignore || a.GitOps == "" && sys.Regulation.GitOps == system.Ignore}
		for _, root := range a.Roots {
			ids, err := r.resolve(root.String())
			if err != nil {
				return err
			}
			out.Roots = append(out.Roots, ids...)
		}
		if a.Autoscaling != nil {
			out.Settings = *a.Autoscaling
			if target := a.Autoscaling.Target; target.Name != "" {
				ids, err := r.resolve(target.String())
				if err != nil {
					return err
				}
				if len(ids) == 0 {
					return fmt.Errorf("app %s: autoscaling.target: %s was not found", a.Name, target)
				}
				out.Target = r.Graph.Ref(ids[0])
			}
		}
		r.apps = append(r.apps, out)
	}
	return nil
}

func (r *reading) resolve(root string) ([]graph.ID, error) {
	roots, err := app.ParseRoots([]string{root}, r.Session.Kinds)
	if err != nil {
		return nil, err
	}
	return r.Session.Resolve(r.Graph, roots, nil), nil
}

// readApps makes an application of each root, or of each stack of the namespace and of each
// workload that is in none of them alone.
func (r *reading) readApps() error {
	if len(r.req.Args) > 0 {
		roots, err := app.ParseRoots(r.req.Args, r.Session.Kinds)
		if err != nil {
			return err
		}
		for _, root := range roots {
			for _, s := range r.Session.StacksOf(r.Graph, root, r.Session.Nodes(r.Graph, root, nil)) {
				r.apps = append(r.apps, autoscale.App{Name: s.Ref.Name, Roots: s.Roots})
			}
		}
		return nil
	}
	covered := map[graph.ID]bool{}
	found := r.Session.Applications(r.Graph, r.StackOptions())
	for _, f := range found.Stacks {
		for _, id := range f.Roots {
			covered[id] = true
		}
		if !r.Session.IsClusterSystem(r.Graph, f) {
			r.apps = append(r.apps, autoscale.App{Name: f.Ref(r.Graph).Name, Roots: f.Roots})
		}
	}
	operators := r.state.OperatorWorkloads()
	for _, wl := range r.state.Workloads() {
		top := r.state.Top(wl.Ref)
		id, ok := r.Graph.Find(top)
		if ok && !covered[id] && !operators[wl.Ref] && (r.Session.Namespace == "" || top.Namespace == r.Session.Namespace) && !r.Session.OwnedByCluster(top.Namespace) {
			covered[id] = true
			r.apps = append(r.apps, autoscale.App{Name: top.Name, Roots: []graph.ID{id}})
		}
	}
	return nil
}

// world is what the plan is made from.
func (r *reading) world(ctx context.Context) (autoscale.World, error) {
	w := autoscale.World{
		Graph: r.Graph, State: r.state, Options: r.StackOptions(), Apps: r.apps, Fields: r.custom.content, Stabilization: r.req.Stabilization,
		Window: r.req.History.Window != "", Held: map[object.Ref]string{},
	}
	var err error
	if w.System, err = r.req.nameIn(r.namespace()); err != nil {
		return w, err
	}
	if s := r.req.System; s != nil {
		w.Defaults = s.Autoscaling
	}
	if r.req.Budget != "" {
		w.Defaults.Budget = r.req.Budget
	}
	if err := r.usage(ctx, &w); err != nil {
		return w, err
	}
	w.PodCost = r.podCosts()
	w.Currency = r.Ledger.Currency
	if r.Ledger.Hours.IsPositive() {
		w.Total = r.Ledger.Total().Mul(decimal.NewFromInt(cost.HoursPerMonth)).DivRound(r.Ledger.Hours, 6)
	}
	return w, nil
}

// readHolds finds what regulation holds. A journal that cannot be read is a finding.
func (r *reading) readHolds(ctx context.Context, w *autoscale.World) []autoscale.Finding {
	if r.in.From != "" {
		return nil // a snapshot has no journals
	}
	type place struct{ name, namespace string }
	var places []place
	if s := r.req.System; s != nil {
		places = append(places, place{s.Name, r.namespace()})
	}
	for id := range r.Graph.OfKind(app.ConfigMapKind) {
		at := place{r.Graph.Labels(id)[system.Label], r.Graph.Ref(id).Namespace}
		if at.name != "" && r.Graph.Ref(id).Name == system.JournalName(at.name) && !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	var unread []autoscale.Finding
	for i, at := range places {
		j, err := r.journal(ctx, at.name, at.namespace)
		if err != nil {
			unread = append(unread, autoscale.Finding{
				Reason: "Unread", Message: fmt.Sprintf("whether regulation holds apps of the System %s is unknown: %v", at.name, err), Hint: "kubectl sysop regulate status shows it to who may read the journal",
			})
			continue
		}
		for _, h := range j.Holds {
			signal := fmt.Sprintf("%s of app %s in the System %s", h.Signal, h.App, at.name)
			for k := range w.Apps {
				if i == 0 && r.req.System != nil && w.Apps[k].Name == h.App {
					w.Apps[k].Held = signal
				}
			}
			for _, o := range h.Operations {
				w.Held[o.Target.Ref()] = signal
			}
		}
	}
	return unread
}

func (r *reading) journal(ctx context.Context, name, namespace string) (*regulate.Journal, error) {
	config, err := r.in.Config.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	store, err := regulate.NewStore(config, name, namespace)
	if err != nil {
		return nil, err
	}
	return store.Load(ctx)
}
