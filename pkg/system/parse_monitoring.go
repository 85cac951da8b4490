package system

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Monitoring is how a system is monitored: what its monitors, alerts and dashboard have in common.
type Monitoring struct {
	// Declared says that the manifest has it, so that installing the system sets it up.
	Declared bool
	// Interval is how often targets are scraped; 0 for the default of the Prometheus.
	Interval time.Duration
	// Labels are those of the monitors and rules; nil for what a Prometheus of the cluster selects.
	Labels map[string]string
	// Thresholds override those of Thresholds, by name.
	Thresholds            map[string]float64
	NoDashboard, NoAlerts bool
}

// AppMonitoring is how one app is monitored.
type AppMonitoring struct {
	// Off says that it is not.
	Off bool
	// Port is the name or the number of the container port that serves metrics, and Path where;
	// empty for what its objects show, and for /metrics.
	Port, Path string
}

// Threshold is a number that an alert compares with.
type Threshold struct {
	Name    string
	Default float64
	Meaning string
}

// Thresholds are the thresholds of the alerts of a system.
func Thresholds() []Threshold {
	return []Threshold{
		{"unavailableMinutes", 5, "an app has had no available replica for this many minutes"},
		{"notHealthyMinutes", 10, "an app has not been Healthy for this many minutes, as regulate watch says"},
		{"heldMinutes", 30, "an app has been held for this many minutes, as regulate watch says"},
		{"replicasMissingMinutes", 15, "replicas have been missing for this many minutes"},
		{"restartsPerHour", 5, "a container restarts more often than this in an hour"},
		{"claimFreePercent", 15, "a claim has less free space than this, and is filling"},
		{"claimFullHours", 96, "a claim would be full in this many hours"},
		{"jobFailedMinutes", 1, "a Job has been failed for this many minutes"},
		{"throttledPercent", 25, "this share of its CPU periods is throttled"},
		{"memoryPercent", 90, "a container uses more than this share of its memory limit"},
		{"atMaximumMinutes", 15, "an autoscaler has been at its maximum for this many minutes"},
		{"certificateHours", 168, "a certificate expires in fewer hours than this"},
		{"backupHours", check.DefaultBackupAge.Hours(), "the last good backup is older than this many hours"},
		{"targetDownMinutes", 10, "a target has not answered its scrapes for this many minutes"},
	}
}

func (r *reader) monitoring(s scope, n *yaml.Node) {
	m := &r.sys.Monitoring
	m.Declared = true
	s.mapping(n,
		key{"interval", false, func(s scope, n *yaml.Node) {
			if m.Interval = s.duration(n); n.Value != "" && m.Interval == 0 {
				s.report(n, "expected more than 0s, or omit it")
			}
		}},
		key{"labels", false, func(s scope, n *yaml.Node) { m.Labels = s.labels(n, nil) }},
		key{"thresholds", false, func(s scope, n *yaml.Node) { m.Thresholds = s.thresholds(n) }},
		key{"dashboard", false, func(s scope, n *yaml.Node) { m.NoDashboard = !s.bool(n) }},
		key{"alerts", false, func(s scope, n *yaml.Node) { m.NoAlerts = !s.bool(n) }},
	)
}

func (s scope) thresholds(n *yaml.Node) map[string]float64 {
	var names []string
	for _, t := range Thresholds() {
		names = append(names, t.Name)
	}
	all := map[string]float64{}
	s.entries(n, func(s scope, name string, k, v *yaml.Node) {
		value, err := strconv.ParseFloat(v.Value, 64)
		if v.Kind != yaml.ScalarNode || err != nil || !amounts.MatchString(v.Value) || value == 0 || v.ShortTag() == "!!str" {
			s.report(v, "expected a number above 0, such as 15 or 0.5")
		}
		if !slices.Contains(names, name) {
			s.report(k, "there is no threshold %s: expected %s%s", strconv.Quote(field.Shorten(name)), anyOf(names), object.DidYouMean(object.Nearest(name, names)))
		}
		all[name] = value
	})
	return all
}

// appMonitoring reads false, or the port and the path of metrics.
func (s scope) appMonitoring(n *yaml.Node) AppMonitoring {
	var m AppMonitoring
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" {
		if m.Off = !s.bool(n); !m.Off {
			s.report(n, "expected false, or port and path, or omit it")
		}
		return m
	}
	s.mapping(n,
		key{"port", false, func(s scope, n *yaml.Node) { m.Port = s.port(n) }},
		key{"path", false, func(s scope, n *yaml.Node) {
			if m.Path = s.line(n); m.Path != "" && !strings.HasPrefix(m.Path, "/") {
				s.report(n, "%q is not a path: it begins with /", field.Shorten(m.Path))
			}
		}},
	)
	return m
}

func monitoringNode(m *Monitoring) *yaml.Node {
	f := strict.Pairs{}
	if m.Interval != 0 {
		f = f.Put("interval", durationNode(m.Interval))
	}
	f = f.Put("labels", strict.TableNode(m.Labels, strict.TextNode)).
		Put("thresholds", strict.TableNode(m.Thresholds, func(v float64) *yaml.Node { return strict.ValueNode(v) }))
	if m.NoDashboard {
		f = f.Put("dashboard", strict.ValueNode(false))
	}
	if m.NoAlerts {
		f = f.Put("alerts", strict.ValueNode(false))
	}
	if len(f) == 0 && m.Declared {
		return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	}
	return f.Node()
}

func appMonitoringNode(m AppMonitoring) *yaml.Node {
	if m.Off {
		return strict.ValueNode(false)
	}
	return portNode(strict.Pairs{}, m.Port).Text("path", m.Path).Node()
}

// portNode adds the name or the number of a port.
func portNode(f strict.Pairs, port string) strict.Pairs {
	if i, err := strconv.ParseInt(port, 10, 32); err == nil {
		return f.Put("port", strict.ValueNode(i))
	}
	return f.Text("port", port)
}
