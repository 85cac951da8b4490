package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ClusterSource is a cluster of a report of several: a snapshot, or a context of the kubeconfig.
type ClusterSource struct{ From, Context string }

// ClusterName is what people call the cluster: the context of the kubeconfig, or the file of a
// snapshot without its directory and ending; empty where there is no such thing.
func (c *Input) ClusterName() string {
	switch {
	case c.From == "-":
		return "stdin"
	case c.From != "":
		return snapshotName(filepath.Base(c.From))
	case Given(c.Config.Context):
		return *c.Config.Context
	}
	raw, err := c.Config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return "" // Connecting reports it.
	}
	return raw.CurrentContext
}

// snapshotName is the name of a snapshot without its ending.
func snapshotName(file string) string {
	for _, ending := range []string{".gz", ".yaml", ".yml", ".json"} {
		file = strings.TrimSuffix(file, ending)
	}
	return file
}

// clusterName is the name of the cluster where rows name it; empty where they need not.
func (m *MetricsResult) clusterName() string {
	if len(m.Request.Clusters) > 1 || m.Request.keyed(cost.ByCluster) {
		return m.Input.ClusterName()
	}
	return ""
}

// inCluster are the placeholders of a cluster's name in addresses and matchers.
const inCluster = "{cluster}"

// ForCluster is the source of the history of a cluster.
func (h HistorySource) ForCluster(cluster string) HistorySource {
	h.Address, h.Matchers = strings.ReplaceAll(h.Address, inCluster, cluster), strings.ReplaceAll(h.Matchers, inCluster, cluster)
	return h
}

// MeasureAll measures the clusters of a request, one after the other, and makes one report of them.
// If one cannot be read there is none: a part of the clusters is no answer.
func (c *Input) MeasureAll(ctx context.Context, q *MetricsRequest) (*MetricsResult, error) {
	if len(q.Clusters) < 2 {
		return c.Measure(ctx, q)
	}
	if h := q.History; field.IsWebURL(h.Address) && !strings.Contains(h.Address+h.Matchers, inCluster) {
		return nil, hint.With(fmt.Errorf("--prometheus %s: every cluster would have the usage of all clusters", h.Address),
			`choose the series of each cluster by its name: --prometheus-matchers 'cluster="{cluster}"', or {cluster} in the URL`)
	}
	inputs := make([]*Input, len(q.Clusters))
	seen := map[string]bool{}
	for i, source := range q.Clusters {
		inputs[i] = c.at(source)
		name := inputs[i].ClusterName()
		if seen[name] {
			return nil, fmt.Errorf("a second cluster %s: expected snapshots of different names, or different contexts", name)
		}
		seen[name] = true
	}
	one := *q
	one.SortBy, one.Top = "", 0 // of the whole report
	if err := one.SetWindow(c.Now()); err != nil {
		return nil, err
	}
	var all []*MetricsResult
	for _, in := range inputs {
		m, err := in.measure(ctx, &one)
		if err == nil && one.Window != nil && one.History.Step == 0 { // The others have the step of the first.
			one.History.Step, err = m.EvaluatedStep(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("cluster %s: %w", in.ClusterName(), err)
		}
		all = append(all, m)
	}
	return merged(q, all)
}

// at is an Input that reads another cluster, and says in its messages which one it is.
func (c *Input) at(source ClusterSource) *Input {
	in := c.Another("")
	in.From, in.Stdin, in.Clock, in.ShowTimings = source.From, c.Stdin, c.Clock, c.ShowTimings
	if source.Context != "" {
		in.Config.Context = &source.Context
	}
	in.Report = namedReporter{in.ClusterName() + ": ", c.Report}
	return in
}

// namedReporter says which cluster messages are about.
type namedReporter struct {
	prefix string
	reporter
}

func (r namedReporter) Warn(text string)     { r.reporter.Warn(r.prefix + text) }
func (r namedReporter) Note(text string)     { r.reporter.Note(r.prefix + text) }
func (r namedReporter) Progress(text string) { r.reporter.Progress(r.prefix + text) }

// merged is the result of several clusters.
func merged(q *MetricsRequest, all []*MetricsResult) (*MetricsResult, error) {
	first := all[0]
	m := &MetricsResult{Request: q, Clusters: all, Options: first.Options, Reading: &metrics.UsageReport{From: first.Reading.From, To: first.Reading.To, Hours: first.Reading.Hours}}
	var reports []*cost.Report
	for _, one := range all {
		r := one.Reading
		if !r.Hours.Equal(m.Reading.Hours) {
			return nil, hint.With(fmt.Errorf("cluster %s: the window is %s hours long, and %s in cluster %s", one.Input.ClusterName(), r.Hours, m.Reading.Hours, first.Input.ClusterName()),
				"--step sums the window of every cluster in the same steps")
		}
		if r.To.After(m.Reading.To) {
			m.Reading.From, m.Reading.To = r.From, r.To
		}
		for _, n := range r.Notes {
			n.Subject = strings.TrimSuffix(one.Input.ClusterName()+": "+n.Subject, ": ")
			m.Reading.Notes = append(m.Reading.Notes, n)
		}
		reports = append(reports, one.Report)
	}
	m.Report = cost.Merge(reports)
	if err := m.sort(); err != nil {
		return nil, err
	}
	m.mergePeriods()
	m.limit()
	return m, nil
}

// Each returns the results of each cluster.
func (m *MetricsResult) Each() []*MetricsResult {
	if len(m.Clusters) > 0 {
		return m.Clusters
	}
	return []*MetricsResult{m}
}

// Readings are the readings of each cluster, by the name that rows have of it.
func (m *MetricsResult) Readings() map[string]*metrics.UsageReport {
	all := map[string]*metrics.UsageReport{}
	for _, one := range m.Each() {
		all[one.clusterName()] = one.Reading
	}
	return all
}

// Gaps are what could not be read of any cluster.
func (m *MetricsResult) Gaps() []object.Gap {
	var all []object.Gap
	for _, one := range m.Each() {
		all = append(all, one.Graph.Gaps()...)
	}
	return all
}

// PrintTimings prints how long each cluster took.
func (m *MetricsResult) PrintTimings() {
	for _, one := range m.Each() {
		one.Session.PrintTimings(one.Graph)
	}
}
