package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

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
