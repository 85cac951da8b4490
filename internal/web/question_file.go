package web

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// file answers what the page shows as a file, which is a JSON string: as=html is the page with its
// data, which opens at the address at, and as=svg the picture of that address. Both are written as
// -o writes them, from what was read last.
func (a *API) file(ctx context.Context, query url.Values) (json.RawMessage, error) {
	p, at, as := *a.last().State, query.Get("at"), query.Get("as")
	shown, text, _ := strings.Cut(at, "?")
	chosen, err := url.ParseQuery(text)
	if err != nil {
		return nil, Bad("%q is no address of the page: %s", at, err)
	}
	var im *view.Output
	if ref := chosen.Get("impact"); ref != "" && shown == "stack" {
		// What cannot be deleted, or is gone, has no impact, and the page shows none.
		if answer, err := a.impactOf(ref, chosen.Get("cascade")); err == nil {
			im = &answer
		}
	}
	switch as {
	case "html":
		p.Mode, p.Address, p.Flags, p.Parts = "file", at, nil, maps.Clone(p.Parts)
		maps.Copy(p.Parts, app.MissingInFile())
		if im != nil {
			if p.Impact, err = document(*im); err != nil {
				return nil, err
			}
		}
	case "svg":
		p.Address = at
		if im != nil {
			p.Impact = im.Document
		}
		if err := a.choose(ctx, &p, shown, chosen); err != nil {
			return nil, err
		}
	default:
		return nil, Bad("%q is no format of a file: html, svg", as)
	}
	var out bytes.Buffer
	if err := render.Write(&out, as, view.Output{UIState: &p}, render.Options{}); err != nil {
		return nil, err
	}
	return json.Marshal(out.String())
}

// choose leaves the stack that a view shows; of a root, what is below it. The map chooses by itself.
func (a *API) choose(ctx context.Context, p *uistate.State, shown string, query url.Values) error {
	if shown != "stack" {
		p.View = "stacks"
		return nil
	}
	p.View = "stack"
	p.Stacks = slices.DeleteFunc(slices.Clone(p.Stacks), func(s uistate.Stack) bool { return s.Name != query.Get("in") })
	if root := query.Get("root"); root != "" {
		return a.chooseRoot(ctx, p, root)
	}
	if len(p.Stacks) == 0 {
		return Bad("there is no stack to draw at %q", shown+"?"+query.Encode())
	}
	return nil
}

// chooseRoot leaves the stack of a root alone, as the graph command draws it.
func (a *API) chooseRoot(ctx context.Context, p *uistate.State, root string) error {
	answer, err := a.stack(ctx, url.Values{"root": {root}})
	if err != nil {
		return err
	}
	p.Title, p.Stacks = root, make([]uistate.Stack, 1)
	if err := json.Unmarshal(answer, &p.Stacks[0]); err != nil {
		return err
	}
	// What the page does not have is not drawn.
	p.Stacks[0].Tree = slices.DeleteFunc(p.Stacks[0].Tree, func(at uistate.Position) bool { return at.Node >= len(p.Nodes) || p.Nodes[at.Node] == nil })
	return nil
}
