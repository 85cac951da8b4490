package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/web"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// uiAPI answers what the page asks for besides.
type uiAPI struct {
	o     *uiOptions
	v     *app.Page
	flags []string // of the command line, for commands that answer in its place
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

// passed are the flags of a command line that say what is read, for other commands.
func passed(cmd *cobra.Command) []string {
	own := []string{"selector", "prices", "health-rules", "argocd", "prometheus", "prometheus-token-file", "prometheus-matchers", "open", "port", "output", "timings", "v", "catalog", "key"}
	var out []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(own, f.Name) {
			return
		}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			for _, one := range many.GetSlice() {
				out = append(out, "--"+f.Name+"="+one)
			}
			return
		}
		out = append(out, "--"+f.Name+"="+f.Value.String())
	})
	return out
}

// command runs a command of this program in this process, with the connection of the page, and
// returns the document that it writes.
func (a *uiAPI) command(ctx context.Context, args ...string) (json.RawMessage, error) {
	return a.commandIn(ctx, "", args...)
}

// commandIn runs it in a namespace; an empty one is that of the page.
func (a *uiAPI) commandIn(ctx context.Context, namespace string, args ...string) (json.RawMessage, error) {
	var out bytes.Buffer
	env := a.o.env
	env.IOStreams = genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: io.Discard}
	env.Width, env.Color, env.Talk, env.Ask = 0, false, false, false
	root := New(env)
	called, _, err := root.Find(args)
	if err != nil {
		return nil, err
	}
	args = append(args, "--output=json")
	for _, flag := range a.flags {
		name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if called.Flags().Lookup(name) != nil && (namespace == "" || name != "namespace" && name != "all-namespaces") {
			args = append(args, flag)
		}
	}
	if namespace != "" {
		args = append(args, "--namespace="+namespace)
	}
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil && !errors.Is(err, errNotFine) {
		return nil, err
	}
	return out.Bytes(), nil
}

func (a *uiAPI) check(ctx context.Context, _ url.Values) (json.RawMessage, error) {
	return a.command(ctx, slices.Concat([]string{"check"}, a.o.args, a.chosen())...)
}

// chosen is the selector, of the commands that take one.
func (a *uiAPI) chosen() []string {
	if a.o.selector == "" || len(a.o.args) == 0 {
		return nil
	}
	return []string{"--selector=" + a.o.selector}
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
