package cli

import (
	"context"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// locked acts while no other run does.
func (b *systemSession) locked(ctx context.Context, act func(context.Context) error) error {
	lock, err := regulate.NewLock(b.config, b.System.Name, b.Namespace, b.o.lockOptions(b.System.Name))
	if err != nil {
		return err
	}
	return lock.Do(ctx, act)
}

// unlocked acts without the lock: a dry run keeps nothing, a lease neither.
func unlocked(ctx context.Context, act func(context.Context) error) error { return act(ctx) }

// lockOptions are those of every lock of this process.
func (o *regulateOptions) lockOptions(name string) journal.LeaseOptions {
	return journal.LeaseOptions{
		Holder: journal.Holder(), Duration: o.lease,
		Waiting: func(holder string, since time.Time) { o.progress.print(journal.WaitingForLock(name, holder, since)) },
	}
}

// requester is on whose behalf something is done by hand.
func (o *regulateOptions) requester() string { return journal.Holder() }

// allowed checks the permissions for a plan, and for undoing it, before anything is written.
func (b *systemSession) allowed(ctx context.Context, p *regulate.Plan) error {
	rights := regulate.Permissions(p, b.journal, b.System, b.State, b.Session.Kinds, b.Namespace)
	return systems.RequirePermissions(ctx, &b.o.Input, b.config, b.System.Name, rights)
}

// podsOf are the names of the pods that an object owns, at any depth.
func (b *systemSession) podsOf(ref object.Ref) []string {
	id, ok := b.Graph.Find(ref)
	if !ok {
		return nil
	}
	var names []string
	seen := map[graph.ID]bool{}
	var walk func(graph.ID)
	walk = func(id graph.ID) {
		if seen[id] {
			return
		}
		seen[id] = true
		if r := b.Graph.Ref(id); r.GroupKind() == app.PodKind {
			names = append(names, r.Name)
		}
		for _, child := range b.Graph.Owned(id) {
			walk(child)
		}
	}
	walk(id)
	return names
}
