package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// completionTimeout is how long a shell waits for a cluster: a key was pressed.
const completionTimeout = time.Second

// noFiles ends a completion: what is not offered is no file either.
const noFiles = cobra.ShellCompDirectiveNoFileComp

// completion is what cobra asks to complete an argument or the value of a flag.
type completion = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// runCompletion answers a shell. Whatever happens, nothing but completions and the directive
// comes out, and the exit code is 0: kubectl and the shells put the rest into the line.
func runCompletion(ctx context.Context, env Env, root *cobra.Command) int {
	var out bytes.Buffer
	root.SetOut(&out)
	if err := executed(ctx, root); err != nil {
		out.Reset()
		fmt.Fprintf(&out, ":%d\n", noFiles)
	}
	var clean bytes.Buffer
	for line := range bytes.Lines(out.Bytes()) {
		if harmless(line) {
			clean.Write(line)
		}
	}
	_, _ = env.Out.Write(clean.Bytes()) // a closed output needs no completions
	return ExitDone
}

// executed runs a command, and makes a panic an error.
func executed(ctx context.Context, root *cobra.Command) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return root.ExecuteContext(ctx)
}

// harmless says whether a line of completions does nothing to a terminal.
func harmless(line []byte) bool {
	word, description, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
	return utf8.Valid(line) && safe(word) == word && safe(description) == description
}

// completeWithin runs ask with a short limit, because a user waits at the prompt and a snapshot may
// take long. After a panic it offers nothing.
func (c *common) completeWithin(ctx context.Context, ask func(context.Context) []string) []string {
	cancel := context.CancelFunc(func() {})
	if c.From == "" {
		ctx, cancel = context.WithTimeout(ctx, cmp.Or(c.env.CompletionTimeout, completionTimeout))
	}
	defer cancel()
	answer := make(chan []string, 1)
	go func() {
		var found []string
		defer func() {
			if recover() != nil {
				found = nil
			}
			answer <- found
		}()
		found = ask(ctx)
	}()
	select {
	case found := <-answer:
		return found
	case <-ctx.Done():
		return nil
	}
}

// asking completes with what is found in the cluster or the snapshot.
func (c *common) asking(ctx context.Context, typed string, ask func(context.Context, *completionSource) []string) []string {
	return c.completeWithin(ctx, func(ctx context.Context) []string {
		w, err := c.world(ctx)
		if err != nil {
			return nil
		}
		return beginning(ask(ctx, w), typed)
	})
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
		return c.asking(cmd.Context(), typed, func(ctx context.Context, w *completionSource) []string {
			return prefixed(typ+"/", w.named(ctx, typ))
		}), noFiles
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		return c.asking(cmd.Context(), typed, func(ctx context.Context, w *completionSource) []string { return w.named(ctx, args[0]) }), noFiles
	}
	return c.asking(cmd.Context(), typed, func(ctx context.Context, w *completionSource) []string {
		if kinds, err := w.kinds(ctx); err == nil {
			return append(types(kinds), graph.ByApp, graph.ByHelm, graph.BySystem)
		}
		return nil
	}), noFiles | cobra.ShellCompDirectiveNoSpace
}

// types are the names of kinds as they are typed: the singular, and where a kind that is
// preferred has that, the plural with the group.
func types(kinds *object.Kinds) []string {
	var out []string
	seen := map[string]bool{}
	for _, k := range kinds.All() {
		switch {
		case !k.Listable || k.Singular == "":
		case seen[k.Singular]:
			out = append(out, k.String())
		default:
			seen[k.Singular] = true
			out = append(out, k.Singular)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// completeKinds offers types, of a list the last one.
func (c *common) completeKinds(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before, last := lastOf(typed)
	return prefixed(before, c.asking(cmd.Context(), last, func(ctx context.Context, w *completionSource) []string {
		if kinds, err := w.kinds(ctx); err == nil {
			return types(kinds)
		}
		return nil
	})), noFiles
}

// completeOneKind offers types for the only argument.
func (c *common) completeOneKind(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return c.completeKinds(cmd, args, typed)
}

func (c *common) completeNamespaces(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.completeKnown(cmd, namespaceKnown, typed), noFiles
}

func (c *common) completeNodes(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.completeKnown(cmd, nodeKnown, typed), noFiles
}

// completeKnown offers the names of a kind that every cluster has, and that is in no namespace.
func (c *common) completeKnown(cmd *cobra.Command, r object.Resource, typed string) []string {
	before, last := lastOf(typed)
	return prefixed(before, c.asking(cmd.Context(), last, func(ctx context.Context, w *completionSource) []string {
		return names(w.list(ctx, r, "", ""))
	}))
}

// completeSystem offers the names of Systems for the only argument.
func (c *common) completeSystem(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return c.asking(cmd.Context(), typed, func(ctx context.Context, w *completionSource) []string { return w.named(ctx, graph.BySystem) }), noFiles
}

// lastOf cuts a list of words behind its last comma.
func lastOf(typed string) (before, last string) {
	i := strings.LastIndexByte(typed, ',') + 1
	return typed[:i], typed[i:]
}
