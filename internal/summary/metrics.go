package summary

import (
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// Metrics says what the figures leave out.
func Metrics(m *app.MetricsResult) (lines []string) {
	if len(m.Report.Rows) == 0 {
		lines = append(lines, "none found")
	}
	for _, one := range m.Each() {
		about := ""
		if len(m.Clusters) > 0 {
			about = one.Input.ClusterName() + ": "
		}
		if t := &one.Report.Total; t.Measured < t.Pods {
			lines = append(lines, fmt.Sprintf("%s%d of %d pods measured%s", about, t.Measured, t.Pods, unmeasured(one)))
		}
	}
	for _, n := range m.Reading.Notes {
		lines = append(lines, Note(n))
	}
	return lines
}

// Page says what the figures of a page leave out: all of it, if they were asked for.
func Page(v *app.Page) (lines []string) {
	if v.ByPods {
		return Metrics(v.Last.MetricsResult)
	}
	if len(v.Last.Found) == 0 {
		lines = append(lines, "none found")
	}
	for _, n := range v.Last.Reading.Notes {
		if n.LowersFigures {
			lines = append(lines, Note(n))
		}
	}
	return lines
}

// Inspected counts the metrics that a Prometheus has in a window.
func Inspected(all []metrics.MetricStatus, w metrics.Window) string {
	present := count(all, func(m metrics.MetricStatus) bool { return m.Status == metrics.Present })
	return fmt.Sprintf("%d of %d metrics are present in the whole window %s", present, len(all), w)
}

// Note says what is to be known about figures.
func Note(n metrics.Note) string {
	text := n.Message
	if n.Subject != "" {
		text = n.Subject + ": " + text
	}
	if n.LowersFigures {
		return "warning: " + text
	}
	return "note: " + text
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
		names = append(names, name+": "+p.Unmeasured)
	}
	text := "; " + strings.Join(names, "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
