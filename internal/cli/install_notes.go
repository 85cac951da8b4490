package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

// chartNotes prints the notes of the installed charts.
func (o *installOptions) chartNotes(planned *install.Plan) {
	if !o.env.Talk || !o.human() {
		return
	}
	for _, part := range planned.Parts {
		if part.Rendered != nil && strings.TrimSpace(part.Rendered.Notes) != "" && !slices.Contains(planned.Unchanged, part.Name) {
			fmt.Fprintf(o.env.ErrOut, "\nnotes of %s:\n%s\n", safe(part.Name), safeLines(strings.TrimSpace(part.Rendered.Notes)))
		}
	}
}

func safeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = safe(lines[i])
	}
	return strings.Join(lines, "\n")
}
