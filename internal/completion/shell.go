package completion

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Shell is a shell that asks, of what an Input reads.
type Shell struct {
	Input *app.Input
	// Limit is how long it waits; 0 for a second.
	Limit time.Duration
}

// Answer has the words that are offered.
type Answer struct {
	Words []string
	// Unfinished says that more is typed behind a word, without a space. Ordered says that the
	// words are shown in this order.
	Unfinished, Ordered bool
}

// Completer offers words that begin with what was typed, behind other arguments.
type Completer = func(ctx context.Context, s *Shell, args []string, typed string) Answer

// ask completes with what is found in the cluster or the snapshot.
func (s *Shell) ask(ctx context.Context, typed string, f func(context.Context, *Source) []string) []string {
	return Beginning(Ask(ctx, s.Input, s.Limit, f), typed)
}

// Within offers what f finds in time.
func (s *Shell) Within(ctx context.Context, f func(context.Context) []string) []string {
	return Within(ctx, s.Input, s.Limit, f)
}

// Beginning returns the words that begin with what was typed, in order, each once.
func Beginning(words []string, typed string) []string {
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, typed) })
	slices.Sort(words)
	return slices.Compact(words)
}

// prefixed puts something in front of each word.
func prefixed(prefix string, words []string) []string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		out = append(out, prefix+w)
	}
	return out
}

// lastOf cuts a list of words behind its last comma.
func lastOf(typed string) (before, last string) {
	i := strings.LastIndexByte(typed, ',') + 1
	return typed[:i], typed[i:]
}

// Only completes the only argument.
func Only(c Completer) Completer {
	return func(ctx context.Context, s *Shell, args []string, typed string) Answer {
		if len(args) > 0 {
			return Answer{}
		}
		return c(ctx, s, args, typed)
	}
}

// Roots offers types, and behind a slash (or a type) names.
func Roots(ctx context.Context, s *Shell, args []string, typed string) Answer {
	typ, _, slash := strings.Cut(typed, "/")
	switch {
	case slash:
		return Answer{Words: s.ask(ctx, typed, func(ctx context.Context, w *Source) []string { return prefixed(typ+"/", w.Named(ctx, typ)) })}
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		return Answer{Words: s.ask(ctx, typed, func(ctx context.Context, w *Source) []string { return w.Named(ctx, args[0]) })}
	}
	return Answer{Unfinished: true, Words: s.ask(ctx, typed, func(ctx context.Context, w *Source) []string {
		return append(w.Types(ctx), graph.ByApp, graph.ByHelm, graph.BySystem)
	})}
}

// Kinds offers types, of a list the last one.
func Kinds(ctx context.Context, s *Shell, _ []string, typed string) Answer {
	return s.known(ctx, (*Source).Types, typed)
}

// Namespaces offers namespaces, of a list the last one.
func Namespaces(ctx context.Context, s *Shell, _ []string, typed string) Answer {
	return s.known(ctx, (*Source).Namespaces, typed)
}

// Nodes offers nodes, of a list the last one.
func Nodes(ctx context.Context, s *Shell, _ []string, typed string) Answer {
	return s.known(ctx, (*Source).Nodes, typed)
}

// known offers names, of a list the last one.
func (s *Shell) known(ctx context.Context, names func(*Source, context.Context) []string, typed string) Answer {
	before, last := lastOf(typed)
	return Answer{Words: prefixed(before, s.ask(ctx, last, func(ctx context.Context, w *Source) []string { return names(w, ctx) }))}
}

// Systems offers the names of Systems.
func Systems(ctx context.Context, s *Shell, _ []string, typed string) Answer {
	return Answer{Words: s.ask(ctx, typed, func(ctx context.Context, w *Source) []string { return w.Named(ctx, graph.BySystem) })}
}

// Selector offers the labels of the objects of the type that is named, and behind "=" their
// values.
func Selector(ctx context.Context, s *Shell, args []string, typed string) Answer {
	before, last := lastOf(typed)
	typ, _, named := strings.Cut(strings.Join(args, " "), "/")
	if named || len(args) > 1 {
		return Answer{}
	}
	key, _, valued := strings.Cut(last, "=")
	words := s.ask(ctx, last, func(ctx context.Context, w *Source) []string {
		if valued {
			return prefixed(key+"=", w.LabelValues(ctx, typ, key))
		}
		return w.LabelKeys(ctx, typ, "=")
	})
	return Answer{Words: prefixed(before, words), Unfinished: !valued}
}

// Keys offers keys of rows of costs, of a list the last one.
func Keys(ctx context.Context, s *Shell, _ []string, typed string) Answer {
	before, last := lastOf(typed)
	return Answer{Words: prefixed(before, s.keys(ctx, last, cost.KeyNames())), Unfinished: true}
}

// keys are those that begin with a text, after "label:" the labels of pods and after "nslabel:" those
// of namespaces.
func (s *Shell) keys(ctx context.Context, typed string, names []string) []string {
	for label, typ := range map[string]string{"label:": "", "nslabel:": "namespaces"} {
		if last, ok := strings.CutPrefix(typed, label); ok {
			return prefixed(label, s.ask(ctx, last, func(ctx context.Context, w *Source) []string { return w.LabelKeys(ctx, typ, "") }))
		}
	}
	offered := make([]string, len(names))
	for i, name := range names {
		offered[i] = strings.TrimSuffix(name, "KEY")
	}
	return Beginning(offered, typed)
}

// Filter offers keys, and the namespaces and nodes after theirs.
func Filter(ctx context.Context, s *Shell, args []string, typed string) Answer {
	before, last := lastOf(typed)
	for key, values := range map[string]Completer{"namespace": Namespaces, "node": Nodes} {
		for _, op := range []string{"=", "!="} {
			if value, ok := strings.CutPrefix(last, key+op); ok {
				return Answer{Words: prefixed(before+key+op, values(ctx, s, args, value).Words), Unfinished: true}
			}
		}
	}
	return Answer{Words: prefixed(before, s.keys(ctx, last, cost.KeyNames()[1:])), Unfinished: true}
}

// OfSystem offers words of a System: that of the manifest, the one that is named, or the only one
// of the namespace.
func (s *Shell) OfSystem(ctx context.Context, file, name string, words func(*system.System) []string) []string {
	return s.Within(ctx, func(ctx context.Context) []string {
		s.Input.Completing = true
		sys, err := loadSystem(ctx, s.Input, file, name)
		if err != nil || sys == nil {
			return nil
		}
		return words(sys)
	})
}

func loadSystem(ctx context.Context, in *app.Input, file, name string) (*system.System, error) {
	switch {
	case file == "-":
		return nil, nil //nolint:nilnil // standard input is the terminal that is typed on
	case file != "":
		return systems.Read(ctx, in, file)
	case name != "":
		return systems.Named(ctx, in, name)
	}
	k, err := systems.OpenAdopted(ctx, in)
	if err != nil {
		return nil, err
	}
	all, err := k.List(ctx, k.Namespace)
	if err != nil || len(all) != 1 {
		return nil, err
	}
	return system.ParseParent(all[0])
}
