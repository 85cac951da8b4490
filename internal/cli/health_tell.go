package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// tellHealth sums up on stderr, for people.
func (o *healthOptions) tellHealth(h *app.HealthResult) {
	if !o.human() || o.all {
		return
	}
	if len(h.Stacks) == 0 {
		fmt.Fprintln(o.env.ErrOut, "no stacks found")
		return
	}
	counts := map[health.Status]int{}
	for _, s := range h.Stacks {
		counts[s.Health.Status]++
	}
	var parts []string
	for _, s := range health.Statuses() {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	fmt.Fprintf(o.env.ErrOut, "%s: %s\n", plural(len(h.Stacks), "stack"), strings.Join(parts, ", "))
}

// warnings asks for the last Warning events about the causes, and tells where they cannot be read.
func (o *healthOptions) warnings(ctx context.Context, h *app.HealthResult) error {
	gap, err := h.ReadWarnings(ctx)
	if gap != nil {
		o.Gaps([]object.Gap{*gap})
	}
	return err
}
