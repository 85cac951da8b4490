package system

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// YAML writes a manifest in its normal form: in the order of the documentation, with the
// defaults written out, templates filled in, and the roots of resources named. Parse reads
// it as the same system, lines aside. The error is that of the encoder.
func (s *System) YAML() ([]byte, error) {
	meta := fields{}.text("name", s.Name).text("namespace", s.Namespace)
	spec := fields{}.text("description", s.Description)
	if s.Values != nil {
		spec = spec.put("values", strict.ValueNode(s.Values))
	}
	spec = spec.list("apps", len(s.Apps), func(i int) *yaml.Node { return appNode(&s.Apps[i]) }).
		list("operators", len(s.Operators), func(i int) *yaml.Node { return operatorNode(&s.Operators[i]) }).
		list("inputs", len(s.Inputs), func(i int) *yaml.Node { return inputNode(&s.Inputs[i]) }).
		put("upgrade", fields{}.yes("regulate", s.Upgrade.Regulate).node()).
		list("dependencies", len(s.Dependencies), func(i int) *yaml.Node {
			d := s.Dependencies[i]
			return fields{}.text("from", d.From).text("to", d.To).text("reason", d.Reason).node()
		}).
		list("connections", len(s.Connections), func(i int) *yaml.Node {
			c := s.Connections[i]
			return fields{}.put("from", endNode(c.From)).put("to", endNode(c.To)).node()
		}).
		put("regulation", regulationNode(&s.Regulation)).
		put("chargeback", chargebackNode(s.Chargeback)).
		list("waivers", len(s.Waivers), func(i int) *yaml.Node { return waiverNode(s.Waivers[i]) })
	root := fields{}.text("apiVersion", APIVersion).text("kind", Kind).put("metadata", meta.node()).put("spec", spec.node()).node()
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// fields are the keys and values of a mapping, in their order.
type fields []*yaml.Node

// put adds a field, but for one that has nothing in it.
func (f fields) put(name string, value *yaml.Node) fields {
	if value == nil {
		return f
	}
	return append(f, strict.KeyNode(name), value)
}

func (f fields) text(name, text string) fields {
	if text == "" {
		return f
	}
	return f.put(name, strict.TextNode(text))
}

func (f fields) yes(name string, set bool) fields {
	if !set {
		return f
	}
	return f.put(name, strict.ValueNode(true))
}

func (f fields) duration(name string, d time.Duration) fields {
	return f.put(name, strict.TextNode(writeDuration(d)))
}

func (f fields) list(name string, n int, each func(int) *yaml.Node) fields {
	if n == 0 {
		return f
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i := range n {
		list.Content = append(list.Content, each(i))
	}
	return f.put(name, list)
}

func (f fields) texts(name string, all []string) fields {
	return f.list(name, len(all), func(i int) *yaml.Node { return strict.TextNode(all[i]) })
}

func (f fields) roots(name string, all []Root) fields {
	return f.list(name, len(all), func(i int) *yaml.Node { return strict.TextNode(all[i].String()) })
}

// table adds a mapping of free keys.
func (f fields) table(name string, all map[string]string) fields {
	if len(all) == 0 {
		return f
	}
	var inner fields
	for _, k := range slices.Sorted(maps.Keys(all)) {
		inner = append(inner, strict.KeyNode(k), strict.TextNode(all[k]))
	}
	return f.put(name, inner.node())
}

func (f fields) marks(name string, all map[string]*string) fields {
	if len(all) == 0 {
		return f
	}
	var inner fields
	for _, k := range slices.Sorted(maps.Keys(all)) {
		value := strict.ValueNode(nil)
		if all[k] != nil {
			value = strict.TextNode(*all[k])
		}
		inner = append(inner, strict.KeyNode(k), value)
	}
	return f.put(name, inner.node())
}

// node is the mapping; nil where it is empty.
func (f fields) node() *yaml.Node {
	if len(f) == 0 {
		return nil
	}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: f}
}

func appNode(a *App) *yaml.Node {
	f := fields{}.text("name", a.Name).roots("roots", a.Roots).text("operator", a.Operator).
		list("resources", len(a.Resources), func(i int) *yaml.Node { return strict.ValueNode(a.Resources[i].Object) }).
		text("gitops", string(a.GitOps))
	var on fields
	for _, signal := range slices.Sorted(maps.Keys(a.On)) {
		actions := a.On[signal]
		on = on.list(signal, len(actions), func(i int) *yaml.Node { return actionNode(&actions[i]) })
	}
	return f.put("on", on.node()).node()
}

func actionNode(a *Action) *yaml.Node {
	f := fields{}.text("preset", a.Preset).put("patch", patchNode(a.Patch))
	if a.Scale != nil {
		f = f.put("scale", fields{}.put("replicas", strict.ValueNode(int64(a.Scale.Replicas))).node())
	}
	f = f.marks("annotate", a.Annotate).marks("label", a.Label).
		yes("suspendCronJobs", a.SuspendCronJobs).yes("cordonTraffic", a.CordonTraffic).yes("restart", a.Restart)
	if a.Job != nil {
		f = f.put("job", fields{}.put("template", strict.ValueNode(a.Job.Template)).node())
	}
	if h := a.HTTP; h != nil {
		f = f.put("http", fields{}.text("url", h.URL).
			put("secret", fields{}.text("name", h.SecretName).text("key", h.SecretKey).node()).
			text("secretEnv", h.SecretEnv).table("headers", h.Headers).node())
	}
	if a.Exec != nil {
		f = f.put("exec", fields{}.texts("command", a.Exec.Command).table("env", a.Exec.Env).node())
	}
	f = f.roots("targets", a.Targets)
	if a.Inverse != nil {
		f = f.put("inverse", actionNode(a.Inverse))
	}
	f = f.yes("allowStop", a.AllowStop)
	if a.Timeout != 0 {
		f = f.duration("timeout", a.Timeout)
	}
	return f.node()
}

func patchNode(p *Patch) *yaml.Node {
	if p == nil {
		return nil
	}
	return fields{}.text("type", p.Type).put("body", strict.ValueNode(p.Body)).text("subresource", p.Subresource).node()
}

func endNode(e End) *yaml.Node {
	return fields{}.text("app", e.App).text("root", e.Root.String()).text("path", e.Path).node()
}

func regulationNode(g *Regulation) *yaml.Node {
	f := fields{}.texts("signals", g.Signals).list("rules", len(g.Rules), func(i int) *yaml.Node { return ruleNode(&g.Rules[i]) })
	if g.MaxUnavailableApps != 0 {
		f = f.put("maxUnavailableApps", strict.ValueNode(int64(g.MaxUnavailableApps)))
	}
	return f.duration("holdOff", g.HoldOff).put("maxSignalsPerHour", strict.ValueNode(int64(g.MaxSignalsPerHour))).
		duration("settle", g.Settle).text("gitops", string(g.GitOps)).node()
}

func ruleNode(r *Rule) *yaml.Node {
	app := r.App
	if app == "" {
		app = anyApp
	}
	when := fields{}.text("app", app).
		list("health", len(r.Health), func(i int) *yaml.Node { return strict.TextNode(string(r.Health[i])) }).
		yes("upgrading", r.Upgrading).duration("for", r.For)
	f := fields{}.text("name", r.Name).put("when", when.node()).text("signal", r.Signal)
	if len(r.To) == 0 {
		f = f.text("to", neighbours)
	}
	return f.texts("to", r.To).yes("cascade", r.Cascade).put("recover", fields{}.duration("for", r.RecoverFor).node()).node()
}

func chargebackNode(c Chargeback) *yaml.Node {
	return fields{}.text("prices", c.Prices).text("sharing", string(c.Sharing)).table("weights", c.Weights).text("tenant", c.Tenant).node()
}

func waiverNode(w check.Waiver) *yaml.Node {
	f := fields{}.text("id", w.Rule)
	if w.Object != (object.Ref{}) {
		f = f.text("object", w.Object.String())
	}
	f = f.text("reason", w.Reason)
	if !w.Until.IsZero() {
		f = f.text("until", w.Until.Format(time.DateOnly))
	}
	return f.node()
}
