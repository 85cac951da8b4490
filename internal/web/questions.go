package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/all"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// API answers the questions of a page: from its last observation, or by a reading of its own.
type API struct {
	Page *app.Page
	// History is the source of costs over time; without an Address there is none.
	History app.HistorySource
	// Catalog returns the operators that the composer offers.
	Catalog func(context.Context) (*catalog.Catalogue, error)
	// DryRun lets the API server try the installation of a System; nil for a snapshot.
	DryRun func(ctx context.Context, manifest string) (*installer.Plan, *installer.Recovery, error)
	// ValidateFlags and InstallFlags are those of the commands for what was composed.
	ValidateFlags, InstallFlags string
}

// Posts are the questions about a manifest that is composed.
func (a *API) Posts() map[string]Post {
	posts := map[string]Post{"system": a.compose}
	if a.DryRun != nil {
		posts["install"] = a.dryRun
	}
	return posts
}

// Questions are those that the page may ask.
func (a *API) Questions() []Question {
	return []Question{
		{Name: "object", Takes: []string{"ref"}, Answer: a.object},
		{Name: "stack", Takes: []string{"root"}, Answer: a.stack},
		{Name: "file", Takes: []string{"as", "at"}, Answer: a.file},
		{Name: "impact", Takes: []string{"ref", "cascade"}, Answer: a.impact},
		{Name: "logs", Takes: []string{"ref", "container", "previous", "tail"}, Answer: a.logs},
		{Name: "check", Answer: keeping(a.check)},
		{Name: "cost", Takes: []string{"by", "window"}, Answer: keeping(a.cost)},
		{Name: "history", Takes: []string{"window"}, Answer: keeping(a.history)},
		{Name: "regulation", Answer: keeping(a.regulation)},
		{Name: "catalog", Answer: keeping(a.catalogue)},
		{Name: "schema", Takes: []string{"kind"}, Answer: a.schema},
	}
}

// check evaluates the guidelines as the check command does, for what the page shows.
func (a *API) check(ctx context.Context, _ url.Values) (json.RawMessage, error) {
	q := &app.CheckRequest{Args: a.Page.Request.Args, Rules: all.Rules(), Selector: a.Page.Request.Selector}
	run, err := app.Check(ctx, a.Page.Input.Another(""), q)
	if err != nil {
		return nil, err
	}
	report, err := run.NewReport(ctx)
	if err != nil {
		return nil, err
	}
	return document(view.Check(report, view.CheckOptions{Namespace: run.Home, Summary: run.Targets.Everything, Version: a.Page.Input.Version}))
}

// document is the document of an answer, as -o json writes it.
func document(answer view.Output) (json.RawMessage, error) {
	var out bytes.Buffer
	err := render.JSONLine(&out, answer.Document)
	return out.Bytes(), err
}

// last is the last observation of the page.
func (a *API) last() *app.PageState {
	a.Page.Mu.Lock()
	defer a.Page.Mu.Unlock()
	return a.Page.Last
}

// looked is the last look, and the node of an object in it.
func (a *API) looked(text string) (*app.PageState, graph.ID, error) {
	ref, err := object.ParseRef(text)
	if err != nil {
		return nil, 0, Bad("%q is not an object: expected Kind.group/namespace/name", text)
	}
	l := a.last()
	id, ok := l.Graph.Find(ref)
	if !ok {
		return nil, 0, Bad("%s was not read", ref)
	}
	return l, id, nil
}
