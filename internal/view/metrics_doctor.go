package view

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// MetricsDoctorDocument is what a Prometheus has of what windows need
// (docs/schema/metrics-doctor.json).
type MetricsDoctorDocument struct {
	Head `json:",inline"`
	// From and To are the window that was inspected.
	From    time.Time              `json:"from"`
	To      time.Time              `json:"to"`
	Metrics []metrics.MetricStatus `json:"metrics"`
}

// MetricsDoctor returns the answer of metrics doctor. Names are the metrics that are not present.
func MetricsDoctor(w metrics.Window, all []metrics.MetricStatus) Output {
	c := ColumnsOf[metrics.MetricStatus]{
		{Column: Column{Name: "METRIC", Truncate: Middle, MinWidth: LeastName}, Value: AsText(func(m metrics.MetricStatus) string { return m.Metric })},
		{Column: Column{Name: "SOURCE", DropOrder: 2}, Value: AsText(func(m metrics.MetricStatus) string { return m.Source })},
		{Column: Column{Name: "STATUS"}, Value: func(m metrics.MetricStatus) Cell {
			tone := map[metrics.Availability]Tone{metrics.Present: Good, metrics.Partial: Warn, metrics.Absent: Bad}[m.Status]
			return Cell{string(m.Status), tone}
		}},
		{Column: Column{Name: "SINCE", DropOrder: 1}, Value: AsText(func(m metrics.MetricStatus) string {
			if m.Since == nil {
				return ""
			}
			return m.Since.UTC().Format("2006-01-02 15:04")
		})},
		{Column: Column{Name: "WITHOUT IT", Truncate: End, MinWidth: LeastWhy}, Value: AsText(func(m metrics.MetricStatus) string { return m.Consequence })},
	}
	names := []string{}
	for i := range all {
		if all[i].Status != metrics.Present {
			names = append(names, all[i].Metric)
		}
	}
	return Output{
		Table: c.Table(all), Wide: c.wideTable(all), Names: names,
		Document: MetricsDoctorDocument{Head: HeadOf("MetricsDoctor"), From: w.From, To: w.To, Metrics: all},
	}
}
