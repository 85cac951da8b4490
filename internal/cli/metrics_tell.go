package cli

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// tellMetrics says on stderr what the figures leave out.
func (c *common) tellMetrics(m *app.MetricsResult) {
	if len(m.Report.Rows) == 0 {
		fmt.Fprintln(c.env.ErrOut, "none found")
	}
	for _, one := range m.Each() {
		about := ""
		if len(m.Clusters) > 0 {
			about = one.Input.ClusterName() + ": "
		}
		if t := &one.Report.Total; t.Measured < t.Pods {
			fmt.Fprintf(c.env.ErrOut, "%s%d of %d pods measured%s\n", safe(about), t.Measured, t.Pods, unmeasured(one))
		}
	}
	for _, n := range m.Reading.Notes {
		c.tellNote(n)
	}
}

// tellNote says what is to be known about figures.
func (c *common) tellNote(n metrics.Note) {
	about, word := "", "note"
	if n.Subject != "" {
		about = n.Subject + ": "
	}
	if n.LowersFigures {
		word = "warning"
	}
	fmt.Fprintf(c.env.ErrOut, "%s: %s%s\n", word, safe(about), safe(n.Message))
}

// unmeasured names the first pods of which no usage is known, and why.
func unmeasured(m *app.MetricsResult) string {
	const maxShown = 3
	var names []string
	more := 0
	for i := range m.Reading.Pods {
		p := &m.Reading.Pods[i]
		if p.Unmeasured == "" {
			continue
		}
		if len(names) == maxShown {
			more++
			continue
		}
		name := p.Ref.Name
		if p.Ref.Namespace != m.Home {
			name = p.Ref.Namespace + "/" + name
		}
		names = append(names, fmt.Sprintf("%s: %s", safe(name), safe(p.Unmeasured)))
	}
	text := "; " + strings.Join(names, "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
