package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view/regulation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// regulationAnswer is how the apps of each System are: the documents of regulate status, with where
// the System is, and the latest runs on it (runs, or runsUnavailable).
type regulationAnswer struct {
	Systems []map[string]any `json:"systems"`
	// Unavailable is why nothing of them is known.
	Unavailable string `json:"unavailable,omitempty"`
}

// regulation asks for the Systems that were adopted, and for each how its apps are. A snapshot holds
// no manifests; that of the example is in the binary.
func (a *API) regulation(ctx context.Context, _ url.Values) (json.RawMessage, error) {
	out := regulationAnswer{Systems: []map[string]any{}}
	switch a.Page.Input.From {
	case "":
	case systems.Demo:
		if err := out.add(ctx, a.Page.Input.Another(""), regulator.Request{File: systems.Demo}, "", systems.Demo); err != nil {
			return nil, err
		}
		return json.Marshal(out)
	default:
		out.Unavailable = "a snapshot has no manifest of a System: kubectl sysop regulate status -f FILE --from SNAPSHOT reads one of yours"
		return json.Marshal(out)
	}
	adopted, err := systems.List(ctx, a.Page.Input.Another(""))
	if err != nil {
		out.Unavailable = "Systems could not be listed: " + err.Error()
		return json.Marshal(out)
	}
	if len(adopted) == 0 {
		out.Unavailable = "no System was adopted here: kubectl sysop system init writes the manifest of one, and system adopt adopts it"
	}
	for _, s := range adopted {
		if err := out.add(ctx, a.Page.Input.Another(s.Namespace), regulator.Request{Name: s.Name}, s.Namespace, s.Name); err != nil {
			out.Systems = append(out.Systems, map[string]any{"name": s.Name, "namespace": s.Namespace, "unavailable": err.Error()})
		}
	}
	return json.Marshal(out)
}

// add adds the document of regulate status of one System.
func (r *regulationAnswer) add(ctx context.Context, in *app.Input, request regulator.Request, namespace, name string) error {
	b, p, err := regulator.Status(ctx, in, request)
	if err != nil {
		return err
	}
	o := regulation.Options{System: b.System.Name, Namespace: b.Namespace, Gaps: b.Graph.Gaps(), Drifts: b.Drifts}
	text, err := document(regulation.Status(b.Journal, p, b.State, b.Session.AsOf(), o))
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("read the status of %s: %w", name, err)
	}
	if _, named := doc["name"]; !named {
		doc["name"] = name
	}
	doc["namespace"] = namespace
	doc["runs"], doc["runsUnavailable"] = runsOf(ctx, b)
	for name, part := range map[string]view.Output{"plan": regulation.Plan(p, b.State, o), "whatIf": {Document: whatIfOf(b, o)}} {
		if doc[name], err = document(part); err != nil {
			return err
		}
	}
	r.Systems = append(r.Systems, doc)
	return nil
}

// runsOf returns the latest runs on a System, or why some of them are unknown. A snapshot has none.
func runsOf(ctx context.Context, b *regulator.Session) (runs []regulator.Run, unavailable string) {
	var installation *install.Journal
	if b.Config != nil {
		j, err := regulator.InstallJournal(ctx, b.Config, b.System.Name, b.Namespace)
		if err != nil {
			unavailable = "the runs of its installation could not be read: " + err.Error()
		}
		installation = j
	}
	return regulator.Runs(installation, b.Journal), unavailable
}

// whatIf is who would be signalled if an app failed or was upgraded, and what would be done to it.
type whatIf struct {
	Rules []ruleAnswer `json:"rules"`
	// Bounds say what bounds the rules, and MaxUnavailable how many apps they hold at a time; 0 for no
	// bound.
	Bounds         string `json:"bounds"`
	MaxUnavailable int    `json:"maxUnavailable"`
	// Roots are the objects of each app as its manifest names them.
	Roots map[string][]string `json:"roots"`
	// Fails and Upgraded have each app as the one that fails, or is upgraded.
	Fails    []regulation.AppInTrouble `json:"fails"`
	Upgraded []regulation.AppInTrouble `json:"upgraded"`
	// Effects are what signals do to apps, by SIGNAL/APP.
	Effects map[string]effectAnswer `json:"effects"`
}

type ruleAnswer struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	App   string `json:"app,omitempty"`
	Fails bool   `json:"fails"`
	// Upgraded says that it fires while an app is upgraded, Fails while it is unhealthy.
	Upgraded bool `json:"upgraded"`
	// For and Recover are how long that lasts before its signal, and is over before Recover, in seconds.
	For     float64 `json:"for"`
	Recover float64 `json:"recover"`
}

// effectAnswer is what a signal does to an app now, or why it would be refused.
type effectAnswer struct {
	Actions []regulation.PlanActionDocument `json:"actions,omitempty"`
	Refused string                          `json:"refused,omitempty"`
}

func whatIfOf(b *regulator.Session, o regulation.Options) whatIf {
	g := &b.System.Regulation
	w := whatIf{Rules: []ruleAnswer{}, Bounds: g.Words(), MaxUnavailable: g.MaxUnavailableApps, Roots: map[string][]string{}, Effects: map[string]effectAnswer{}}
	var failing, upgrading []system.Rule
	for i := range g.Rules {
		r := g.Rules[i]
		w.Rules = append(w.Rules, ruleAnswer{r.Name, r.Words(), r.App, len(r.Health) > 0, r.Upgrading, r.For.Seconds(), r.RecoverFor.Seconds()})
		if len(r.Health) > 0 {
			failing = append(failing, r)
		}
		if r.Upgrading {
			upgrading = append(upgrading, r)
		}
	}
	for i := range b.System.Apps {
		a := &b.System.Apps[i]
		w.Roots[a.Name] = []string{}
		for _, root := range a.Roots {
			w.Roots[a.Name] = append(w.Roots[a.Name], root.String())
		}
	}
	w.Fails, w.Upgraded = troubles(b, o, failing), troubles(b, o, upgrading)
	for _, t := range slices.Concat(w.Fails, w.Upgraded) {
		for i := range t.Neighbours {
			n := &t.Neighbours[i]
			for _, s := range n.Signals {
				w.Effects[s.Signal+"/"+n.App] = effectOf(b, n.App, s.Signal)
			}
		}
	}
	return w
}

// troubles returns for each app who is signalled by rules.
func troubles(b *regulator.Session, o regulation.Options, rules []system.Rule) []regulation.AppInTrouble {
	doc, _ := regulation.Neighbours(b.State, regulation.NeighbourOptions{Options: o, Rules: regulation.NeighbourRules(rules)}).Document.(regulation.NeighboursDocument)
	return doc.Apps
}

// effectOf plans a signal to an app as if nothing was held, and runs nothing.
func effectOf(b *regulator.Session, app, signal string) effectAnswer {
	j := &regulate.Journal{System: b.System.Name, Namespace: b.Namespace}
	p := regulate.StopByHand(b.State, b.System, j, app, signal, "", b.Session.AsOf())
	var out effectAnswer
	for _, r := range p.Refused {
		out.Refused = r.Message
	}
	for _, s := range regulation.PlanSteps(p) {
		out.Actions = append(out.Actions, s.Actions...)
	}
	return out
}
