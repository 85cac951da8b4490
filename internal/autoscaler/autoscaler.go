// Package autoscaler plans how the workloads of stacks and Systems are scaled, and says how their
// scalers do: a request goes in, a result comes out. It reads a cluster or a snapshot; package
// autoscale decides. The scalers are written by package installer, as a System of their own.
package autoscaler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/autoscale"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Request says what is scaled: roots, the apps of a System, or all stacks of the namespace.
type Request struct {
	Args   []string
	System *system.System
	// Name is that of the System or the stack, without autoscale.Suffix; empty to take it from what is scaled.
	Name string
	// Budget overrides that of the System; empty for none.
	Budget        string
	Stabilization time.Duration
	Book          *cost.Book
	// History is where usage is read over a window; without an address it is that of the moment.
	History app.HistorySource
	Timeout time.Duration // of one query of Prometheus
	// AtMaximum says that a preflight evaluates the maxima.
	AtMaximum bool
}

// Result is a plan, and what it was made from.
type Result struct {
	*autoscale.Plan
	Session *app.Session
	Graph   *graph.Graph
	// Notes are what could not be measured.
	Notes []string
}

// reading is what was read for a request.
type reading struct {
	*app.MetricsResult
	in    *app.Input
	req   Request
	state *check.ClusterState
	apps  []autoscale.App
	// custom are the fields of custom resources.
	custom *customResources
}

// customResources keeps the content of custom resources.
type customResources struct {
	mu     sync.Mutex
	fields map[object.Ref]map[string]any
}

func (c *customResources) extractor(*app.Session) inventory.Extractor {
	return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
		if fields := o.Fields(); fields != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.fields[o.Ref] = fields
		}
		return nil
	}
}

// content returns the content of a custom resource; nil where it was not read.
func (c *customResources) content(ref object.Ref) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fields[ref]
}

// named is the name of the System that contains the scalers, as far as it is known without reading.
func (r *Request) named() string {
	switch {
	case r.Name != "":
		return r.Name + autoscale.Suffix
	case r.System != nil:
		return r.System.Name + autoscale.Suffix
	case len(r.Args) == 1 && strings.Contains(r.Args[0], "/"):
		return r.Args[0][strings.LastIndex(r.Args[0], "/")+1:] + autoscale.Suffix
	case len(r.Args) == 2 && !strings.Contains(r.Args[0], "/"):
		return r.Args[1] + autoscale.Suffix
	}
	return ""
}

// nameIn is the name of the System that contains the scalers, in a namespace.
func (r *Request) nameIn(namespace string) (string, error) {
	if name := r.named(); name != "" {
		return name, nil
	}
	if namespace == "" {
		return "", hint.With(errors.New("the scalers of several namespaces need a name"), "--name chooses it; -n names one namespace")
	}
	return namespace + autoscale.Suffix, nil
}

// NameIn is the name of the System that contains the scalers of a request, in the namespace of the
// user or of the System, which becomes that of the command.
func NameIn(in *app.Input, req Request) (string, error) {
	if req.System != nil {
		if err := systems.Enter(in, req.System); err != nil {
			return "", err
		}
	}
	namespace, _, err := in.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", fmt.Errorf("read the namespace of the kubeconfig: %w", err)
	}
	return req.nameIn(namespace)
}

// Plan plans how the workloads are scaled, and writes nothing.
func Plan(ctx context.Context, input *app.Input, req Request) (*Result, error) {
	r, err := read(ctx, input, req)
	if err != nil {
		return nil, err
	}
	w, err := r.world(ctx)
	if err != nil {
		return nil, err
	}
	unread := r.readHolds(ctx, &w)
	plan := autoscale.Propose(w)
	plan.Namespace = r.namespace()
	plan.Whole.Findings = append(plan.Whole.Findings, unread...)
	if req.AtMaximum {
		findings, err := r.preflight(ctx, plan)
		if err != nil {
			return nil, err
		}
		plan.Whole.Findings = append(plan.Whole.Findings, findings...)
	}
	out := &Result{Plan: plan, Session: r.Session, Graph: r.Graph}
	for _, n := range r.Reading.Notes {
		if n.LowersFigures {
			out.Notes = append(out.Notes, n.String())
		}
	}
	return out, nil
}
