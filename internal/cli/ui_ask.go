package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/all"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// uiAPI answers what the page asks for besides.
type uiAPI struct {
	o *uiOptions
	v *app.Page
}

// questions are those that the page may ask.
func (a *uiAPI) questions() []web.Question {
	return []web.Question{
		{Name: "object", Takes: []string{"ref"}, Answer: a.object},
		{Name: "stack", Takes: []string{"root"}, Answer: a.stack},
		{Name: "impact", Takes: []string{"ref", "cascade"}, Answer: a.impact},
		{Name: "check", Answer: keeping(a.check)},
		{Name: "cost", Takes: []string{"by", "window"}, Answer: keeping(a.cost)},
		{Name: "history", Takes: []string{"window"}, Answer: keeping(a.history)},
		{Name: "regulation", Answer: keeping(a.regulation)},
		{Name: "catalog", Answer: keeping(a.catalogue)},
		{Name: "schema", Takes: []string{"kind"}, Answer: a.schema},
	}
}

// answerAge is for how long an answer is given again that took a whole reading of the cluster.
const answerAge = 15 * time.Second

// cachedAnswer is an answer that is being made, or was made a short time ago.
type cachedAnswer struct {
	mu   sync.Mutex
	at   time.Time
	text json.RawMessage
}

// keeping has a question asked once for all who ask it at about the same time.
func keeping(answer web.Answer) web.Answer {
	const many = 16
	var mu sync.Mutex
	kept := map[string]*cachedAnswer{}
	return func(ctx context.Context, query url.Values) (json.RawMessage, error) {
		key := query.Encode()
		mu.Lock()
		k := kept[key]
		if k == nil {
			if len(kept) >= many {
				clear(kept)
			}
			k = &cachedAnswer{}
			kept[key] = k
		}
		mu.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.text != nil && time.Since(k.at) < answerAge {
			return k.text, nil
		}
		text, err := answer(ctx, query)
		if err != nil {
			return nil, err
		}
		k.at, k.text = time.Now(), text
		return text, nil
	}
}

// check evaluates the guidelines as the check command does, for what the page shows.
func (a *uiAPI) check(ctx context.Context, _ url.Values) (json.RawMessage, error) {
	q := &app.CheckRequest{Args: a.o.args, Rules: all.Rules(), Selector: a.v.Request.Selector}
	run, err := app.Check(ctx, &a.quiet("").Input, q)
	if err != nil {
		return nil, err
	}
	report, err := run.NewReport(ctx)
	if err != nil {
		return nil, err
	}
	return document(view.Check(report, checkShown(run, false)))
}

// document is the document of an answer, as -o json writes it.
func document(answer view.Output) (json.RawMessage, error) {
	var out bytes.Buffer
	err := render.JSONLine(&out, answer.Document)
	return out.Bytes(), err
}

// quiet reads the same as the page, in another namespace if one is named, and says nothing.
func (a *uiAPI) quiet(namespace string) *common {
	c := a.o.another()
	c.env.ErrOut, c.silence.out, c.Stdin = io.Discard, io.Discard, strings.NewReader("")
	if namespace != "" {
		c.Config.Namespace, c.AllNamespaces = &namespace, false
	}
	return c
}

// looked is the last look, and the node of an object in it.
func (a *uiAPI) looked(text string) (*app.PageState, graph.ID, error) {
	ref, err := object.ParseRef(text)
	if err != nil {
		return nil, 0, web.Bad("%q is not an object: expected Kind.group/namespace/name", text)
	}
	a.v.Mu.Lock()
	l := a.v.Last
	a.v.Mu.Unlock()
	id, ok := l.Graph.Find(ref)
	if !ok {
		return nil, 0, web.Bad("%s was not read", ref)
	}
	return l, id, nil
}

// objectAnswer is an object as the page shows it.
type objectAnswer struct {
	YAML string `json:"yaml"`
	// Hidden counts the values that are left out.
	Hidden int           `json:"hidden"`
	Events []eventAnswer `json:"events"`
	// Unavailable is why there is no YAML.
	Unavailable string `json:"unavailable,omitempty"`
}

type eventAnswer struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Count   int    `json:"count"`
	Last    int64  `json:"last"` // seconds of Unix time
	Type    string `json:"type"`
}

// object reads one object anew, and the last warnings about it.
func (a *uiAPI) object(ctx context.Context, query url.Values) (json.RawMessage, error) {
	l, id, err := a.looked(query.Get("ref"))
	if err != nil {
		return nil, err
	}
	ref, answer := l.Graph.Ref(id), objectAnswer{Events: []eventAnswer{}}
	if l.Graph.State(id) == graph.Present {
		fields, why, err := l.Session.Whole(ctx, ref)
		switch {
		case err != nil:
			return nil, err
		case fields == nil:
			answer.Unavailable = why
		default:
			text, hidden := web.Manifest(fields)
			answer.YAML, answer.Hidden = string(text), hidden
		}
	} else {
		answer.Unavailable = "it is " + l.Graph.State(id).String()
	}
	events, err := l.Session.Warner().Warnings(ctx, []object.Ref{ref}, maxReported)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		for _, e := range events[ref] {
			answer.Events = append(answer.Events, eventAnswer{e.Reason, e.Message, e.Count, seconds(e.Last), "Warning"})
		}
	}
	return json.Marshal(answer)
}

// maxReported is how many warnings about one object are told.
const maxReported = 10

func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
