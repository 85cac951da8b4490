package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// noFiles ends a completion: what is not offered is no file either.
const noFiles = cobra.ShellCompDirectiveNoFileComp

// completer is what cobra asks to complete an argument or the value of a flag.
type completer = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// completeWithin offers what ask finds in time.
func (c *common) completeWithin(ctx context.Context, ask func(context.Context) []string) []string {
	return completion.Within(ctx, &c.Input, c.env.CompletionTimeout, ask)
}

// asking completes with what is found in the cluster or the snapshot.
func (c *common) asking(ctx context.Context, typed string, ask func(context.Context, *completion.Source) []string) []string {
	return beginning(completion.Ask(ctx, &c.Input, c.env.CompletionTimeout, ask), typed)
}

// beginning are the words that begin with what was typed, in order, each once.
func beginning(words []string, typed string) []string {
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

// completeRoots offers types, and behind a slash (or a type) names.
func (c *common) completeRoots(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	typ, _, slash := strings.Cut(typed, "/")
	switch {
	case slash:
		return c.asking(cmd.Context(), typed, func(ctx context.Context, w *completion.Source) []string {
			return prefixed(typ+"/", w.Named(ctx, typ))
		}), noFiles
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		return c.asking(cmd.Context(), typed, func(ctx context.Context, w *completion.Source) []string { return w.Named(ctx, args[0]) }), noFiles
	}
	return c.asking(cmd.Context(), typed, func(ctx context.Context, w *completion.Source) []string {
		return append(w.Types(ctx), graph.ByApp, graph.ByHelm, graph.BySystem)
	}), noFiles | cobra.ShellCompDirectiveNoSpace
}

// completeKinds offers types, of a list the last one.
func (c *common) completeKinds(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.completeKnown(cmd, (*completion.Source).Types, typed), noFiles
}

// completeOneKind offers types for the only argument.
func (c *common) completeOneKind(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return c.completeKinds(cmd, args, typed)
}

func (c *common) completeNamespaces(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.completeKnown(cmd, (*completion.Source).Namespaces, typed), noFiles
}

func (c *common) completeNodes(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.completeKnown(cmd, (*completion.Source).Nodes, typed), noFiles
}

// completeKnown offers names, of a list the last one.
func (c *common) completeKnown(cmd *cobra.Command, names func(*completion.Source, context.Context) []string, typed string) []string {
	before, last := lastOf(typed)
	return prefixed(before, c.asking(cmd.Context(), last, func(ctx context.Context, w *completion.Source) []string { return names(w, ctx) }))
}

// completeSystem offers the names of Systems for the only argument.
func (c *common) completeSystem(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return c.asking(cmd.Context(), typed, func(ctx context.Context, w *completion.Source) []string { return w.Named(ctx, graph.BySystem) }), noFiles
}

// lastOf cuts a list of words behind its last comma.
func lastOf(typed string) (before, last string) {
	i := strings.LastIndexByte(typed, ',') + 1
	return typed[:i], typed[i:]
}
