package system

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// YAML writes a manifest in its normal form: in the order of the documentation, with the
// defaults written out, templates filled in, and the roots of resources named. Parse reads
// it as the same system but for lines. The error is that of the encoder.
func (s *System) YAML() ([]byte, error) {
	meta := strict.Pairs{}.Text("name", s.Name).Text("namespace", s.Namespace)
	spec := strict.Pairs{}.Text("description", s.Description)
	if s.Values != nil {
		spec = spec.Put("values", strict.ValueNode(s.Values))
	}
	spec = spec.List("apps", len(s.Apps), func(i int) *yaml.Node { return appNode(&s.Apps[i]) }).
		List("operators", len(s.Operators), func(i int) *yaml.Node { return operatorNode(&s.Operators[i]) }).
		List("inputs", len(s.Inputs), func(i int) *yaml.Node { return inputNode(&s.Inputs[i]) }).
		Put("upgrade", strict.Pairs{}.True("regulate", s.Upgrade.Regulate).Node()).
		List("dependencies", len(s.Dependencies), func(i int) *yaml.Node {
			d := s.Dependencies[i]
			return strict.Pairs{}.Text("from", d.From).Text("to", d.To).Text("reason", d.Reason).Node()
		}).
		List("connections", len(s.Connections), func(i int) *yaml.Node {
			c := s.Connections[i]
			return strict.Pairs{}.Put("from", endNode(c.From)).Put("to", endNode(c.To)).Node()
		}).
		Put("labels", labelsNode(s.Labels)).
		Put("regulation", regulationNode(&s.Regulation)).
		Put("monitoring", monitoringNode(&s.Monitoring)).
		Put("backup", backupNode(&s.Backup)).
		Put("chargeback", chargebackNode(s.Chargeback)).
		Put("autoscaling", autoscalingNode(s.Autoscaling)).
		List("waivers", len(s.Waivers), func(i int) *yaml.Node { return waiverNode(s.Waivers[i]) })
	root := strict.Pairs{}.Text("apiVersion", APIVersion).Text("kind", Kind).Put("metadata", meta.Node()).Put("spec", spec.Node()).Node()
	return strict.Encode(root)
}

// texts writes texts, an item a line; nil where there are none.
func texts[T any](all []T, text func(T) string) *yaml.Node {
	if len(all) == 0 {
		return nil
	}
	return strict.ListNode(len(all), func(i int) *yaml.Node { return strict.TextNode(text(all[i])) })
}

func same(text string) string { return text }

func durationNode(d time.Duration) *yaml.Node { return strict.TextNode(writeDuration(d)) }

// markNode writes the value of an annotation or label; null removes it.
func markNode(value *string) *yaml.Node {
	if value == nil {
		return strict.ValueNode(nil)
	}
	return strict.TextNode(*value)
}

func appNode(a *App) *yaml.Node {
	f := strict.Pairs{}.Text("name", a.Name).Put("roots", texts(a.Roots, Root.String)).Text("operator", a.Operator).
		List("resources", len(a.Resources), func(i int) *yaml.Node { return strict.ValueNode(a.Resources[i].Object) }).
		Text("gitops", string(a.GitOps)).Put("monitoring", appMonitoringNode(a.Monitoring)).Put("autoscaling", appAutoscalingNode(a.Autoscaling))
	return f.Put("on", strict.TableNode(a.On, func(actions []Action) *yaml.Node {
		return strict.ListNode(len(actions), func(i int) *yaml.Node { return actionNode(&actions[i]) })
	})).Node()
}

func actionNode(a *Action) *yaml.Node {
	f := strict.Pairs{}.Text("preset", a.Preset).Put("patch", patchNode(a.Patch))
	if a.Scale != nil {
		f = f.Put("scale", strict.Pairs{}.Put("replicas", strict.ValueNode(int64(a.Scale.Replicas))).Node())
	}
	f = f.Put("annotate", strict.TableNode(a.Annotate, markNode)).Put("label", strict.TableNode(a.Label, markNode)).
		True("suspendCronJobs", a.SuspendCronJobs).True("cordonTraffic", a.CordonTraffic).True("restart", a.Restart)
	if a.Job != nil {
		f = f.Put("job", jobNode(a.Job))
	}
	if h := a.HTTP; h != nil {
		f = f.Put("http", strict.Pairs{}.Text("url", h.URL).
			Put("secret", strict.Pairs{}.Text("name", h.SecretName).Text("key", h.SecretKey).Node()).
			Text("secretEnv", h.SecretEnv).Put("headers", strict.TableNode(h.Headers, strict.TextNode)).Node())
	}
	if a.Exec != nil {
		f = f.Put("exec", execNode(a.Exec))
	}
	f = f.Put("targets", texts(a.Targets, Root.String))
	if a.Inverse != nil {
		f = f.Put("inverse", actionNode(a.Inverse))
	}
	f = f.True("allowStop", a.AllowStop)
	if a.Timeout != 0 {
		f = f.Put("timeout", durationNode(a.Timeout))
	}
	return f.Node()
}

func jobNode(j *Job) *yaml.Node {
	return strict.Pairs{}.Put("template", strict.ValueNode(j.Template)).Node()
}

func execNode(e *Exec) *yaml.Node {
	return strict.Pairs{}.Put("command", texts(e.Command, same)).Put("env", strict.TableNode(e.Env, strict.TextNode)).Node()
}

func patchNode(p *Patch) *yaml.Node {
	if p == nil {
		return nil
	}
	return strict.Pairs{}.Text("type", p.Type).Put("body", strict.ValueNode(p.Body)).Text("subresource", p.Subresource).Node()
}

func regulationNode(g *Regulation) *yaml.Node {
	f := strict.Pairs{}.Put("signals", texts(g.Signals, same)).List("rules", len(g.Rules), func(i int) *yaml.Node { return ruleNode(&g.Rules[i]) })
	if g.MaxUnavailableApps != 0 {
		f = f.Put("maxUnavailableApps", strict.ValueNode(int64(g.MaxUnavailableApps)))
	}
	return f.Put("holdOff", durationNode(g.HoldOff)).Put("maxSignalsPerHour", strict.ValueNode(int64(g.MaxSignalsPerHour))).
		Put("settle", durationNode(g.Settle)).Text("gitops", string(g.GitOps)).Node()
}

func ruleNode(r *Rule) *yaml.Node {
	app := r.App
	if app == "" {
		app = anyApp
	}
	when := strict.Pairs{}.Text("app", app).
		List("health", len(r.Health), func(i int) *yaml.Node { return strict.TextNode(string(r.Health[i])) }).
		True("upgrading", r.Upgrading).Put("for", durationNode(r.For))
	f := strict.Pairs{}.Text("name", r.Name).Put("when", when.Node()).Text("signal", r.Signal)
	if len(r.To) == 0 {
		f = f.Text("to", neighbours)
	}
	return f.Put("to", texts(r.To, same)).True("cascade", r.Cascade).Put("recover", strict.Pairs{}.Put("for", durationNode(r.RecoverFor)).Node()).Node()
}

func chargebackNode(c Chargeback) *yaml.Node {
	return strict.Pairs{}.Text("prices", c.Prices).Text("sharing", string(c.Sharing)).Put("weights", strict.TableNode(c.Weights, strict.TextNode)).Text("tenant", c.Tenant).Node()
}

func waiverNode(w check.Waiver) *yaml.Node {
	f := strict.Pairs{}.Text("id", w.Rule)
	if w.Object != (object.Ref{}) {
		f = f.Text("object", w.Object.String())
	}
	f = f.Text("reason", w.Reason)
	if !w.Until.IsZero() {
		f = f.Text("until", w.Until.Format(time.DateOnly))
	}
	return f.Node()
}
