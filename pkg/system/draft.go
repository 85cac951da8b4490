package system

import (
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Draft is a manifest that is generated from what was found, for people to edit: Parse reads what
// YAML writes.
type Draft struct {
	Name, Namespace string
	// Found says where it comes from: namespace shop of the cluster.
	Found string
	Apps  []DraftApp
	// Autoscaling is what the apps have in common of how they are scaled.
	Autoscaling Autoscaling
	Monitoring  DraftMonitoring
}

// DraftMonitoring is how the apps are monitored now.
type DraftMonitoring struct {
	// Settings set up what exists, and no more; they are not Declared where nothing monitors the apps, or
	// where a manifest cannot say it. Found says what was found, a line each.
	Settings Monitoring
	Found    []string
	// Unmonitored are the apps that nothing scrapes, with the objects that would be.
	Unmonitored map[string]string
}

// DraftApp is an app of a draft.
type DraftApp struct {
	// Name is a DNS label that no other app of the draft has.
	Name  string
	Roots []Root
	// Operator is the entry of the catalog that runs it; empty for none.
	Operator string
	// Suspend says that others keep its roots as they are, who are to be suspended first.
	Suspend bool
	// Found is what it was found by, in a few words.
	Found string
	// Needs say which other apps it needs and why, Stop what a Stop does to it, and Managed who
	// keeps it as it is, and Scaled which autoscalers its roots have: a line each.
	Needs, Stop, Managed, Scaled []string
	// Autoscaling is how these scale it; nil for none.
	Autoscaling *AppAutoscaling
}

// YAML writes the manifest, with comments that say why. It holds what was read in a cluster:
// text that would end a comment is escaped.
func (d *Draft) YAML() []byte {
	var w draftWriter
	w.comment("", "The System %s, from the objects in %s (kubectl sysop system init).", d.Name, d.Found)
	w.comment("", "All of it may be changed: docs/system.md is the format, kubectl sysop system validate")
	w.comment("", "checks it, kubectl sysop regulate plan -f FILE shows what would be done now.")
	w.line("apiVersion: %s", APIVersion)
	w.line("kind: %s", Kind)
	w.line("metadata:")
	w.line("  name: %s", scalar(d.Name))
	if d.Namespace != "" {
		w.line("  namespace: %s", scalar(d.Namespace))
	}
	w.line("spec:")
	w.line("  apps:")
	for i := range d.Apps {
		w.app(&d.Apps[i], d.Monitoring.Unmonitored[d.Apps[i].Name])
	}
	w.rest(d)
	return []byte(w.String())
}

type draftWriter struct{ strings.Builder }

func (w *draftWriter) line(format string, args ...any) {
	fmt.Fprintf(w, format+"\n", args...)
}

// comment writes a line of which what was read is no more than text.
func (w *draftWriter) comment(indent, format string, args ...any) {
	w.line("%s# %s", indent, oneLine(fmt.Sprintf(format, args...)))
}

// scalar writes text that is one word to YAML, in quotes where it would be read as something
// else.
func scalar(text string) string {
	if strict.IsPlain(text) {
		return text
	}
	return quoted(text)
}

// oneLine escapes what would end a line, or cannot be in one.
func oneLine(text string) string {
	var b strings.Builder
	for _, c := range text {
		if c == '\u2028' || c == '\u2029' || c == '\ufeff' || c == unicode.ReplacementChar || !unicode.IsPrint(c) {
			fmt.Fprintf(&b, `\u%04x`, c)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// setting writes a field on one line, unless it is empty.
func (w *draftWriter) setting(indent, key string, n *yaml.Node) {
	if n == nil {
		return
	}
	n.Style = yaml.FlowStyle
	text, err := yaml.Marshal(n)
	if err != nil {
		w.comment(indent, "%s: %v", key, err)
		return
	}
	w.line("%s%s: %s", indent, key, strings.TrimSpace(string(text)))
}

func (w *draftWriter) app(a *DraftApp, unmonitored string) {
	const indent = "  "
	w.comment(indent, "%s: found as %s.", a.Name, a.Found)
	for _, need := range a.Needs {
		w.comment(indent, "  needs %s", need)
	}
	for _, stop := range a.Stop {
		w.comment(indent, "  Stop: %s", stop)
	}
	w.line("  - name: %s", scalar(a.Name))
	w.line("    roots:")
	for _, r := range a.Roots {
		w.line("    - %s", scalar(r.String()))
	}
	if a.Operator != "" {
		w.line("    operator: %s", scalar(a.Operator))
	}
	for _, m := range a.Managed {
		w.comment("    ", "%s", m)
	}
	if a.Suspend {
		w.line("    gitops: %s", Suspend)
	}
	for _, s := range a.Scaled {
		w.comment("    ", "%s", s)
	}
	w.setting("    ", "autoscaling", appAutoscalingNode(a.Autoscaling))
	if unmonitored != "" {
		w.comment("    ", "Nothing scrapes %s; without this line the System does.", unmonitored)
		w.setting("    ", "monitoring", appMonitoringNode(AppMonitoring{Off: true}))
	}
}

// rest writes what no graph can know, as examples, and one rule.
func (w *draftWriter) rest(d *Draft) {
	from, to := "web", "mail"
	if len(d.Apps) > 1 {
		from, to = d.Apps[1].Name, d.Apps[0].Name
	}
	w.line("")
	w.comment("  ", "Dependencies that no object shows: an address in an app's own settings, a queue.")
	w.comment("  ", "dependencies:")
	w.comment("  ", "- {from: %s, to: %s, reason: why it needs it}", scalar(from), scalar(to))
	w.line("")
	w.line("  regulation:")
	w.line("    rules:")
	w.comment("    ", "While an app is unhealthy, the apps that need it are held; they recover when it is healthy.")
	w.line("    - name: trouble")
	w.line("      when: {app: any, health: [Degraded, Missing], for: %s}", DefaultFor)
	w.line("      signal: %s", Stop)
	w.line("      to: neighbours")
	w.line("      recover: {for: %s}", DefaultRecoverFor)
	w.comment("    ", "They can be held while it is upgraded as well:")
	w.comment("    ", "- name: upgrade")
	w.comment("    ", "  when: {app: any, upgrading: true, for: 0s}")
	w.comment("    ", "  signal: %s", Stop)
	w.comment("    ", "  to: neighbours")
	w.comment("    ", "  recover: {for: 1m}")
	w.comment("    ", "How many apps rules may hold at a time, and how long rules ignore an app that recovered:")
	w.comment("    ", "maxUnavailableApps: 2")
	w.comment("    ", "holdOff: %s", DefaultHoldOff)
	if n := autoscalingNode(d.Autoscaling); n != nil {
		w.line("")
		w.comment("  ", "What the autoscalers of its apps have in common:")
		w.setting("  ", "autoscaling", n)
	}
	w.line("")
	for _, found := range d.Monitoring.Found {
		w.comment("  ", "%s", found)
	}
	if d.Monitoring.Settings.Declared {
		w.setting("  ", "monitoring", monitoringNode(&d.Monitoring.Settings))
		return
	}
	w.comment("  ", "Monitors, alerts and a dashboard for all apps, installed with the System:")
	w.comment("  ", "monitoring: {}")
}
