// Package completion finds the words that a shell offers for an argument: types, names, labels, and
// what was installed. It also writes the links by which kubectl finds the completion of the plugin.
package completion

import (
	"cmp"
	"context"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
)

// timeout is how long a shell waits for a cluster: a key was pressed.
const timeout = time.Second

// Within runs ask with a short limit (0 for a second), because a user waits at the prompt and a
// snapshot may take long. After a panic there are no words.
func Within(ctx context.Context, in *app.Input, limit time.Duration, ask func(context.Context) []string) []string {
	cancel := context.CancelFunc(func() {})
	if in.From == "" {
		ctx, cancel = context.WithTimeout(ctx, cmp.Or(limit, timeout))
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

// Ask returns what ask finds in the cluster or the snapshot, Within a limit.
func Ask(ctx context.Context, in *app.Input, limit time.Duration, ask func(context.Context, *Source) []string) []string {
	return Within(ctx, in, limit, func(ctx context.Context) []string {
		w, err := open(ctx, in)
		if err != nil {
			return nil
		}
		return ask(ctx, w)
	})
}
