package metrics

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"
)

// Availability says whether a window can use a metric.
type Availability string

// Whether a metric is on a server: all the time, a part of it, or never.
const (
	Present Availability = "present"
	Partial Availability = "partial"
	Absent  Availability = "missing"
)

// MetricStatus is what a server has of a metric that windows need.
type MetricStatus struct {
	Metric string `json:"metric"`
	// Source is what exposes it: kubelet, kube-state-metrics, kube-scheduler or the recording rules.
	Source string       `json:"source"`
	Status Availability `json:"status"`
	// Since is the first inspected moment from which it was there at all later ones; nil if it is
	// missing at the last one.
	Since *time.Time `json:"since,omitempty"`
	// Consequence is what figures are without it; empty where it is present.
	Consequence string `json:"consequence,omitempty"`

	// essential says that the figures of all pods are less than the truth, or wrong, without it.
	essential bool
}

// inspections is how many equal spans of a window begin and end with a moment that Inspect queries.
const inspections = 24

// recordingRules is the source of what is no metric of a component.
const recordingRules = "recording rules"

// required are the metrics that windows need: where they come from, and what figures are without
// them.
func required() []MetricStatus {
	const kubelet, state, scheduler = "kubelet", "kube-state-metrics", "kube-scheduler"
	return []MetricStatus{
		{Metric: cpuMetric, Source: kubelet, Consequence: "usage of CPU is unknown: pods pay for their requests alone", essential: true},
		{Metric: memoryMetric, Source: kubelet, Consequence: "usage of memory is unknown: pods pay for their requests alone", essential: true},
		{Metric: startMetric, Source: kubelet, Consequence: "what a container used before its first sample is not counted, unless " + podStartMetric + " is there"},
		{Metric: receiveMetric, Source: kubelet, Consequence: "received traffic is unknown, and not charged"},
		{Metric: transmitMetric, Source: kubelet, Consequence: "sent traffic is unknown, and not charged"},
		{Metric: claimUsage, Source: kubelet, Consequence: "the used part of volumes is unknown; the cost is the same"},
		{Metric: requestsMetric, Source: state, Consequence: "requests are unknown: pods pay for their usage alone", essential: true},
		{Metric: phaseMetric, Source: state, Consequence: "pods that ended pay until they are deleted", essential: true},
		{Metric: infoMetric, Source: state, Consequence: "the node of deleted pods is unknown: they have base prices", essential: true},
		{Metric: podStartMetric, Source: state, Consequence: "what a pod used before its first sample is not counted, unless " + startMetric + " is there"},
		{Metric: createdMetric, Source: state, Consequence: "pods that had the same name one after the other may be mixed up"},
		{Metric: "kube_pod_owner", Source: state, Consequence: "deleted pods belong to no stack"},
		{Metric: "kube_replicaset_owner", Source: state, Consequence: "deleted pods of deleted ReplicaSets belong to no stack"},
		{Metric: "kube_job_owner", Source: state, Consequence: "deleted pods of deleted Jobs belong to no stack"},
		{Metric: "kube_pod_labels", Source: state, Consequence: "rows by label omit deleted pods (--metric-labels-allowlist=pods=[*])"},
		{Metric: "kube_node_labels", Source: state, Consequence: "deleted nodes have base prices (--metric-labels-allowlist=nodes=[*])"},
		{Metric: capacityMetric, Source: state, Consequence: "the idle capacity of nodes is unknown"},
		{Metric: claimMetric, Source: state, Consequence: "volume claims are not charged"},
		{Metric: volumeMetric, Source: state, Consequence: "volume claims pay for what they request, not for the volume"},
		{Metric: claimInfo, Source: state, Consequence: "deleted volume claims have the default price of storage"},
		{Metric: mountMetric, Source: state, Consequence: "volume claims count as unmounted: their namespace pays"},
		{Metric: volumePhase, Source: state, Consequence: "volumes without a claim are not charged"},
		{Metric: balancerMetric, Source: state, Consequence: "load balancers are not charged; nothing is lost if there are none"},
		{Metric: schedulerMetric, Source: scheduler, Consequence: "deleted pods pay for the requests of their containers, not for those of whole pods or init containers"},
		{Metric: rulePrefix + "steps", Source: recordingRules, Consequence: "long windows read all samples (kubectl sysop metrics rules)"},
	}
}

// Inspect asks the server at moments of the window which of the metrics that Measure needs it has.
func (h *History) Inspect(ctx context.Context) ([]MetricStatus, error) {
	all := required()
	at := map[string]int{}
	var scraped []string
	for i := range all {
		if at[all[i].Metric] = i; all[i].Source != recordingRules {
			scraped = append(scraped, all[i].Metric)
		}
	}
	e := &expressions{matchers: h.options.Matchers}
	steps := rulePrefix + "steps" // which rules with other matchers record as well
	query := `label_replace(group by (__name__) (` + e.selector("", "__name__=~"+quoteMatcher(scraped)) + `),"metric","$1","__name__","(.+)") or ` +
		labelled("group("+e.recordedSteps()+")", "metric", steps)
	f := newFetcher(h.server, h.options.Progress)
	spans := h.options.Window.Aligned(h.options.Step).Spans(h.options.Step, inspections)
	moments := []time.Time{spans[0].From}
	for _, span := range spans {
		moments = append(moments, span.To)
	}
	f.expect(len(moments))
	seen := make([]int, len(all))
	for i, moment := range slices.Backward(moments) {
		rows, err := f.query(ctx, query, moment)
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", h.server.name, err)
		}
		for _, r := range rows {
			number, asked := at[r.labels["metric"]]
			if !asked {
				continue
			}
			seen[number]++
			if m := &all[number]; i == len(moments)-1 || m.Since != nil && m.Since.Equal(moments[i+1]) {
				m.Since = &moment
			}
		}
	}
	for i := range all {
		switch m := &all[i]; seen[i] {
		case len(moments):
			m.Status, m.Consequence = Present, ""
		case 0:
			m.Status = Absent
		default:
			m.Status = Partial
		}
	}
	return all, nil
}

// API asks the server for what is no query, by a path below /api/v1 (targets, alerts), and decodes
// the data of its answer. The window is of no account.
func (h *History) API(ctx context.Context, path string, query url.Values, into any) error {
	got, err := h.server.request(ctx, path, query)
	if err != nil {
		return fmt.Errorf("ask prometheus at %s for its %s: %w", h.server.name, path, err)
	}
	if err := json.Unmarshal(got.Data, into); err != nil {
		return fmt.Errorf("read the %s of prometheus at %s: %w", path, h.server.name, err)
	}
	return nil
}
