package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
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
	text, err := document(view.RegulationStatus(b.Journal, p, b.State, b.Session.AsOf(), view.RegulationOptions{System: b.System.Name, Namespace: b.Namespace, Gaps: b.Graph.Gaps(), Drifts: b.Drifts}))
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
