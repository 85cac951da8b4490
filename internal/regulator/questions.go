package regulator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// Status returns the state of the apps of a System, what is held of them and what others changed
// of that, and what the rules require at that time.
func Status(ctx context.Context, in *app.Input, r Request) (*Session, *regulate.Plan, error) {
	b, err := Open(ctx, in, r)
	if err != nil {
		return nil, nil, err
	}
	if err := b.Observe(ctx); err != nil {
		return nil, nil, err
	}
	if err := b.Compare(ctx); err != nil {
		return nil, nil, err
	}
	return b, regulate.NewPlan(b.State, b.System, b.Journal, b.Session.AsOf()), nil
}

// errNoJournal is that something is asked of a snapshot that only a cluster has.
var errNoJournal = errors.New("--from: a snapshot has no journal of regulation")

// History returns the records of the journal, oldest first: of one app, unless that is empty, and
// of a time before now, unless that is 0.
func History(ctx context.Context, in *app.Input, r Request, name string, since time.Duration) (*Session, []regulate.Record, error) {
	if in.From != "" {
		return nil, nil, errNoJournal
	}
	b, err := OpenJournal(ctx, in, r)
	if err != nil {
		return nil, nil, err
	}
	now := in.Now()
	records := slices.DeleteFunc(slices.Clone(b.Journal.History), func(r regulate.Record) bool {
		return name != "" && r.App != name || since > 0 && now.Sub(r.At) > since
	})
	if name != "" && len(records) == 0 {
		err = b.RequireApp(name)
	}
	return b, records, err
}

// Neighbours returns a session that has observed the apps, which has the named ones.
func Neighbours(ctx context.Context, in *app.Input, r Request, apps []string) (*Session, error) {
	b, err := Open(ctx, in, r)
	if err != nil {
		return nil, err
	}
	names := b.System.AppNames()
	for _, name := range apps {
		if !slices.Contains(names, name) {
			return nil, hint.With(fmt.Errorf("the System %s has no app %q%s", b.System.Name, name, object.DidYouMean(object.Nearest(name, names))), "it has "+strings.Join(names, ", "))
		}
	}
	return b, b.View.Observe(ctx)
}
