package source

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Follow reads the first query, and then those that more returns, based on what was read so far,
// until there is nothing new. Each namespace, kind and object is read once. more is called at least
// once, and never during a read.
//
// A Snapshot is read in one go: it delivers everything at once.
func Follow(ctx context.Context, s Source, first Query, sink Sink, next func() Query) error {
	f := follower{
		namespaces: map[string]bool{}, kinds: map[schema.GroupKind]bool{}, objects: map[object.Ref]bool{},
		sink: &coverageSink{Sink: sink, everywhere: map[schema.GroupKind]bool{}},
	}
	if _, ok := s.(*Snapshot); ok {
		first.All = true
	}
	f.include = first.Include
	for ask := f.unread(first); ; {
		if !ask.Empty() {
			if err := s.Read(ctx, ask, f.sink); err != nil {
				return err
			}
		}
		more := next()
		more.Objects = slices.Concat(more.Objects, first.Objects) // of a kind whose list failed
		if ask = f.unread(more); ask.Empty() {
			return ctx.Err()
		}
	}
}

// follower records what was requested, and which kinds were read completely.
type follower struct {
	all        bool
	include    []schema.GroupKind
	namespaces map[string]bool
	kinds      map[schema.GroupKind]bool
	objects    map[object.Ref]bool
	sink       *coverageSink
}

// unread returns the part of a query that is new. Once everything was read there is none: what is
// still unread is a gap. An object that is requested together with its namespace is of a kind that
// the namespace leaves out. If a kind could not be read in all namespaces (few users may list
// across namespaces), its objects are still read by name.
func (f *follower) unread(a Query) Query {
	if f.all {
		return Query{}
	}
	if a.All {
		f.all = true
		return Query{All: true, Namespaces: a.Namespaces, Kinds: a.Kinds, Objects: a.Objects, Include: f.include}
	}
	everywhere := f.sink.kinds()
	out := Query{
		Include:    f.include,
		Namespaces: unseen(a.Namespaces, f.namespaces, func(ns string) bool { return ns == "" }),
		Kinds:      unseen(a.Kinds, f.kinds, func(schema.GroupKind) bool { return false }),
	}
	out.Objects = unseen(a.Objects, f.objects, func(r object.Ref) bool {
		read := f.namespaces[r.Namespace] && !slices.Contains(out.Namespaces, r.Namespace)
		return r.Namespace != "" && read || everywhere[r.GroupKind()] || slices.Contains(out.Kinds, r.GroupKind())
	})
	if len(out.Namespaces) > 0 {
		out.Have = slices.SortedFunc(maps.Keys(everywhere), object.CompareKinds)
	}
	return out
}

// unseen returns, once each, what is neither seen nor covered, and marks it as seen. Covered items
// are not marked: their list may still fail.
func unseen[T comparable](all []T, seen map[T]bool, covered func(T) bool) []T {
	var out []T
	for _, x := range all {
		if !seen[x] && !covered(x) {
			seen[x] = true
			out = append(out, x)
		}
	}
	return out
}

// coverageSink passes everything on, and records the kinds that were read in all namespaces.
type coverageSink struct {
	Sink
	mu         sync.Mutex
	everywhere map[schema.GroupKind]bool
}

func (w *coverageSink) Cover(gk schema.GroupKind, namespace string) {
	if namespace == "" {
		w.mu.Lock()
		w.everywhere[gk] = true
		w.mu.Unlock()
	}
	w.Sink.Cover(gk, namespace)
}

// Unread passes on an object that was read before, if the sink is an UnreadSink.
func (w *coverageSink) Unread(o object.Object) {
	if s, ok := w.Sink.(UnreadSink); ok {
		s.Unread(o)
	}
}

func (w *coverageSink) kinds() map[schema.GroupKind]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.everywhere)
}
