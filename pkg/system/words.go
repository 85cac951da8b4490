package system

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Words say what a rule does, in a sentence: when any app is Degraded or Missing for 30s,
// Stop to its neighbours; Recover when that has been over for 30s.
func (r *Rule) Words() string {
	subject := r.App
	if subject == "" {
		subject = "any app"
	}
	var when []string
	if len(r.Health) > 0 {
		var names []string
		for _, s := range r.Health {
			names = append(names, string(s))
		}
		when = append(when, "is "+anyOf(names))
	}
	if r.Upgrading {
		when = append(when, "is being upgraded")
	}
	text := "when " + subject + " " + strings.Join(when, " or ")
	if r.For > 0 {
		text += " for " + writeDuration(r.For)
	}
	to := "its neighbours"
	switch {
	case len(r.To) > 0:
		to = strings.Join(r.To, ", ")
		if r.Cascade {
			to += " and the neighbours of these"
		}
	case r.Cascade:
		to += ", and the neighbours of these"
	}
	text += ", " + r.Signal + " to " + to + "; " + Recover + " when that "
	if r.RecoverFor > 0 {
		return text + "has been over for " + writeDuration(r.RecoverFor)
	}
	return text + "is over"
}

// Words say what bounds the rules.
func (g *Regulation) Words() string {
	var parts []string
	if g.MaxUnavailableApps > 0 {
		parts = append(parts, fmt.Sprintf("rules hold at most %d at a time", g.MaxUnavailableApps))
	}
	if g.HoldOff > 0 {
		parts = append(parts, "rules ignore an app for "+writeDuration(g.HoldOff)+" after it recovered")
	}
	if g.MaxSignalsPerHour > 0 {
		parts = append(parts, fmt.Sprintf("an app is stopped at most %d times an hour", g.MaxSignalsPerHour))
	}
	if g.Settle > 0 {
		parts = append(parts, "apps that need an app wait up to "+writeDuration(g.Settle)+" for it to become Healthy")
	}
	parts = append(parts, g.GitOps.Words())
	return strings.Join(parts, "; ")
}

// Words say what happens to an object that a manager reverts.
func (g GitOps) Words() string {
	switch g {
	case Suspend:
		return "GitOps that would revert it is suspended first"
	case Ignore:
		return "GitOps is ignored, and may revert it"
	}
	return "objects that GitOps manages are skipped"
}

// Words say what an action does: scale to 0: deployment/web.
func (a *Action) Words() string {
	text := a.hookText()
	if len(a.Targets) > 0 {
		var names []string
		for _, t := range a.Targets {
			names = append(names, t.String())
		}
		text += ": " + strings.Join(names, ", ")
	}
	if a.AllowStop {
		text += " (also of workloads with data)"
	}
	if a.Timeout > 0 {
		text += " (within " + writeDuration(a.Timeout) + ")"
	}
	if a.Inverse != nil {
		text += "; back: " + a.Inverse.Words()
	}
	return text
}

func (a *Action) hookText() string {
	switch a.Name() {
	case "preset":
		return "preset " + a.Preset
	case "patch":
		text := a.Patch.Type + " patch"
		if a.Patch.Subresource != "" {
			text += " of " + a.Patch.Subresource
		}
		return text
	case "scale":
		return fmt.Sprintf("scale to %d", a.Scale.Replicas)
	case "annotate":
		return "annotate " + markWords(a.Annotate)
	case "label":
		return "label " + markWords(a.Label)
	case "suspendCronJobs":
		return "suspend CronJobs"
	case "cordonTraffic":
		return "stop traffic"
	case "restart":
		return "restart"
	case "job":
		return "run a Job"
	case "http":
		return "POST to " + hostOf(a.HTTP.URL)
	case "exec":
		return "run " + a.Exec.Command[0]
	}
	return ""
}

// hostOf is all that is said of an address: the rest of it may be a token.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return "an address that cannot be read"
}

// markWords write annotations as kubectl does: key=value, and key- for one that goes.
func markWords(marks map[string]*string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(marks)) {
		if marks[k] == nil {
			all = append(all, k+"-")
			continue
		}
		all = append(all, k+"="+*marks[k])
	}
	return strings.Join(all, ", ")
}

// Signals are those on which an app does something, by name; Stop comes first.
func (a *App) Signals() []string {
	all := slices.Sorted(maps.Keys(a.On))
	rank := func(name string) int { return slices.Index([]string{Stop, Recover}, name) }
	slices.SortStableFunc(all, func(a, b string) int {
		if rank(a) >= 0 && rank(b) >= 0 {
			return rank(a) - rank(b)
		}
		return rank(b) - rank(a)
	})
	return all
}

// BringsSecret says whether an app has a Secret among its resources.
func (a *App) BringsSecret() bool {
	return slices.ContainsFunc(a.Resources, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "Secret" && o.GroupVersionKind().Group == ""
	})
}
