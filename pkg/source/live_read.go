package source

import (
	"cmp"
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Read delivers the current state of what the query selects. What is not followed yet is listed
// first, and followed from then on; for the rest it sends no request.
//
// If the server became unreachable it delivers the last known state, and Trouble reports that. It
// returns a *ConnectError only if nothing was ever read.
func (l *Live) Read(ctx context.Context, ask Query, sink Sink) error {
	if l.Current() == nil {
		if _, err := l.Kinds(ctx, sink); err != nil {
			return err
		}
	}
	r := &liveRead{Live: l, sink: sink}
	r.lists(ask)
	if err := r.await(ctx); err != nil {
		return err
	}
	r.nearer(ask.Namespaces)
	r.objects(ask.Objects)
	if err := r.await(ctx); err != nil {
		return err
	}
	r.oneByOne()
	if err := r.await(ctx); err != nil {
		return err
	}
	if err := r.recheck(ctx); err != nil {
		return err
	}
	l.prune()
	return r.hand(ctx)
}

// liveRead is one Read with the feeds that it uses.
type liveRead struct {
	*Live
	sink   Sink
	shares []share
}

// share is what one feed contributes.
type share struct {
	feed   *feed
	served object.Resource
	// asked is the requested scope; that of the feed may be wider.
	asked scope
	// refs are the requested objects; nil for all of them.
	refs []object.Ref
	// instead are read one by one if the list is forbidden.
	instead []object.Ref
}

func (r *liveRead) follow(served object.Resource, asked scope, refs, instead []object.Ref) {
	read, detail := r.cluster.detail(served, r.sink)
	asked.gk, asked.detail = served.GroupKind(), detail
	f := r.wider(asked)
	if f == nil {
		f = r.feed(asked, read)
	}
	r.shares = append(r.shares, share{f, served, asked, refs, instead})
}

func (r *liveRead) lists(ask Query) {
	for _, w := range r.cluster.lists(ask) {
		s := scope{ns: w.ns}
		if w.aggregated {
			s.labels = notLocal
		}
		r.follow(w.Resource, s, nil, nil)
	}
}

// nearer follows kinds in each of the namespaces if listing them in all is forbidden.
func (r *liveRead) nearer(namespaces []string) {
	for _, s := range slices.Clone(r.shares) {
		if s.asked.ns != "" || !s.served.Namespaced || !apierrors.IsForbidden(r.errOf(s.feed)) {
			continue
		}
		for _, ns := range namespaces {
			r.follow(s.served, scope{ns: ns}, nil, nil)
		}
	}
}

// objects follows single objects, or the list of their kind if they are many.
func (r *liveRead) objects(refs []object.Ref) {
	for g, refs := range r.cluster.groups(refs, r.sink) {
		if len(refs) > many && g.resource.Listable {
			r.follow(g.resource, scope{ns: g.ns}, nil, refs)
			continue
		}
		r.each(g.resource, refs)
	}
}

func (r *liveRead) each(served object.Resource, refs []object.Ref) {
	for _, ref := range refs {
		r.follow(served, scope{ns: ref.Namespace, name: ref.Name}, []object.Ref{ref}, nil)
	}
}

// oneByOne follows many single objects if their list is forbidden.
func (r *liveRead) oneByOne() {
	all := r.shares
	r.shares = nil
	for _, s := range all {
		if s.instead != nil && apierrors.IsForbidden(r.errOf(s.feed)) {
			r.each(s.served, s.instead)
			continue
		}
		r.shares = append(r.shares, s)
	}
}

func (l *Live) errOf(f *feed) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return f.err
}

// await waits until every list was read, or has failed. If the server was never reachable, it
// returns the first failure.
func (r *liveRead) await(ctx context.Context) error {
	for _, s := range r.shares {
		select {
		case <-s.feed.first:
		case <-ctx.Done():
			return ctx.Err()
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
		var gone *ConnectError
		if err := r.errOf(s.feed); errors.As(err, &gone) && !r.everReached() {
			return err
		}
	}
	return r.ctx.Err()
}

func (l *Live) everReached() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reached
}

// part is what a share delivers, at one point in time.
type part struct {
	share
	objects []object.Object
	err     error
	polled  *object.Gap
	unread  []object.Object // requested objects, as they were last read
}

// hand delivers the objects of all feeds at one point in time.
func (r *liveRead) hand(ctx context.Context) error {
	jobs := make([]job, 0, len(r.shares))
	r.mu.Lock()
	for _, s := range r.shares {
		p := part{s, s.choose(s.feed.objects), s.feed.err, s.feed.polled, r.unread(s)}
		jobs = append(jobs, func(ctx context.Context) error { return p.hand(ctx, r.sink) })
	}
	r.mu.Unlock()
	return r.cluster.run(ctx, jobs)
}

// choose returns the requested objects of a feed, in order.
func (s share) choose(from map[object.Ref]object.Object) []object.Object {
	var out []object.Object
	if s.refs != nil {
		for _, ref := range s.refs {
			if o, ok := from[ref]; ok {
				out = append(out, o)
			}
		}
		return out
	}
	for _, o := range from {
		if s.asked.ns == "" || o.Namespace == s.asked.ns {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return out
}

// unread returns the requested objects of a feed as they were last read, without those that another
// feed has, or may read later.
func (l *Live) unread(s share) []object.Object {
	f := s.feed
	if f.unread == nil {
		return nil
	}
	var newer []scope
	for other, feed := range l.feeds {
		if other.gk == f.gk && other.labels == "" && (feed.objects != nil && feed.err == nil || feed.refusedAt.After(f.refusedAt)) {
			newer = append(newer, other)
		}
	}
	return slices.DeleteFunc(s.choose(f.unread), func(o object.Object) bool {
		return slices.ContainsFunc(newer, func(other scope) bool {
			return (other.ns == "" || other.ns == o.Namespace) && (other.name == "" || other.name == o.Name)
		})
	})
}

func (p *part) hand(ctx context.Context, sink Sink) error {
	for _, o := range p.objects {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		sink.Add(o)
	}
	if p.err != nil {
		sink.Gap(gap(p.feed.resource, p.asked.ns, p.err))
		if s, ok := sink.(UnreadSink); ok {
			for _, o := range p.unread {
				s.Unread(o)
			}
		}
		return nil
	}
	if p.polled != nil {
		sink.Gap(*p.polled)
	}
	switch {
	case p.refs != nil && len(p.objects) == 0:
		sink.Absent(p.refs[0])
	case p.refs == nil && p.asked.labels == "":
		sink.Cover(p.asked.gk, p.asked.ns)
	}
	return nil
}

func compareGaps(a, b object.Gap) int {
	return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
}
