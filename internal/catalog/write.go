package catalog

import (
	"bytes"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// YAML writes the entry as Parse reads it: the same entry, the lines of its relations aside.
// The error is that of the encoder.
func (e Entry) YAML() ([]byte, error) {
	f := fields{}.text("apiVersion", declare.APIVersion).text("kind", documentKind).
		text("name", e.Name).text("title", e.Title).text("description", e.Description)
	f = f.put("source", strict.ListNode(len(e.Source), func(i int) *yaml.Node { return strict.TextNode(e.Source[i]) }))
	if len(e.Kinds) > 0 || len(e.Versions) == 0 {
		f = f.put("kinds", strict.ListNode(len(e.Kinds), func(i int) *yaml.Node { return kindNode(&e.Kinds[i]) }))
	}
	f = f.list("signals", len(patterns(e.Signals)), func(i int) *yaml.Node { return patternNode(patterns(e.Signals)[i]) })
	if len(e.Relations) > 0 || len(e.Versions) == 0 {
		f = f.put("relations", strict.ListNode(len(e.Relations), func(i int) *yaml.Node { return relationNode(&e.Relations[i]) }))
	}
	f = f.list("versions", len(e.Versions), func(i int) *yaml.Node { return versionNode(&e.Versions[i]) })
	return encode(f.node())
}

func encode(n *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(n); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

func kindNode(k *Kind) *yaml.Node {
	return fields{}.text("kind", k.Kind).text("plural", k.Plural).put("versions", flowTexts(k.Versions)).yes("clusterScoped", k.ClusterScoped).
		texts("composes", k.Composes).put("health", healthNodes(k.Health)).put("signals", signalFields(k.Signals).node()).node()
}

func flowTexts(all []string) *yaml.Node {
	n := strict.ListNode(len(all), func(i int) *yaml.Node { return strict.TextNode(all[i]) })
	n.Style = yaml.FlowStyle
	return n
}

// healthNodes writes one rule as it is, several as a list.
func healthNodes(rules []health.Rule) *yaml.Node {
	switch len(rules) {
	case 0:
		return nil
	case 1:
		return healthNode(&rules[0])
	}
	return strict.ListNode(len(rules), func(i int) *yaml.Node { return healthNode(&rules[i]) })
}

func healthNode(r *health.Rule) *yaml.Node {
	return fields{}.texts("versions", r.Versions).text("source", r.Source).text("degraded", r.Degraded).text("progressing", r.Progressing).
		text("suspended", r.Suspended).text("derived", r.Derived).text("healthy", r.Healthy).text("message", r.Message).
		text("observed", r.Observed).texts("history", r.History).text("revision", r.Revision).node()
}

// signalFields are the presets, and what is another way to their end.
func signalFields(signals []regulate.Signal) fields {
	var f fields
	var also []*yaml.Node
	for i := range signals {
		s := &signals[i]
		if s.Other {
			also = append(also, signalNode(s))
		} else {
			f = f.put(s.Preset, signalNode(s))
		}
	}
	return f.list("also", len(also), func(i int) *yaml.Node { return also[i] })
}

func signalNode(s *regulate.Signal) *yaml.Node {
	var f fields
	if s.Other {
		f = f.text("preset", s.Preset)
	}
	f = f.text("mode", string(s.Mode)).texts("versions", s.Versions)
	if s.Scale {
		f = f.yes("scale", true)
	} else {
		f = f.put("patch", strict.ValueNode(s.Patch)).put("resume", strict.ValueNode(s.Resume))
	}
	f = f.text("each", s.Each).yes("presence", s.Presence).
		list("same", len(s.Same), func(i int) *yaml.Node { return strict.ValueNode(s.Same[i]) })
	if s.Or != nil {
		f = f.put("or", fields{}.text("when", s.Or.When).put("patch", strict.ValueNode(s.Or.Patch)).put("resume", strict.ValueNode(s.Or.Resume)).node())
	}
	return f.text("requires", s.Requires).yes("stateful", s.Stateful).yes("caution", s.Caution).
		text("effect", s.Effect).text("caveat", s.Caveat).text("source", s.Source).text("since", s.Since).text("reacted", s.Reacted).node()
}

// patterns parts signals of patterns, so that each part can stand in one item.
func patterns(signals []regulate.Signal) [][]regulate.Signal {
	var all [][]regulate.Signal
	for i, s := range signals {
		if i > 0 && fitsItem(all[len(all)-1], s) {
			all[len(all)-1] = append(all[len(all)-1], s)
			continue
		}
		all = append(all, []regulate.Signal{s})
	}
	return all
}

// fitsItem says whether a signal can stand in the item of others of the same pattern, in
// which a preset stands once.
func fitsItem(others []regulate.Signal, s regulate.Signal) bool {
	for _, o := range others {
		if o.Kind != s.Kind || !reflect.DeepEqual(o.Except, s.Except) || !reflect.DeepEqual(o.Categories, s.Categories) || o.Preset == s.Preset && !o.Other && !s.Other {
			return false
		}
	}
	return s.Other || !others[len(others)-1].Other
}

func patternNode(signals []regulate.Signal) *yaml.Node {
	s := signals[0]
	f := fields{}.text("kind", s.Kind).texts("except", s.Except).texts("categories", s.Categories)
	return append(f, signalFields(signals)...).node()
}

// relationNode writes a relation on one line, as most of them are written.
func relationNode(s *declare.Spec) *yaml.Node {
	f := fields{}.put("from", kindsNode(s.From)).put("to", kindsNode(s.To)).text("relation", s.Relation).texts("versions", s.Versions).
		text("field", s.Field).text("selector", s.Selector).text("host", s.Host).text("label", s.Label).text("annotation", s.Annotation).
		text("name", s.Name).text("template", s.Template).text("podSpec", s.PodSpec).
		text("value", s.Value).text("read", s.Read).text("namespace", s.Namespace).text("kind", s.Kind).text("group", s.Group).
		text("nameField", s.NameField).text("format", s.Format).text("namespaces", s.Namespaces).text("empty", s.Empty).text("absent", s.Absent).
		text("emptyNamespaces", s.EmptyNamespaces).text("deletes", s.Deletes)
	var when fields
	for _, c := range s.When {
		when = when.put(c.Path, conditionNode(c.Values))
	}
	return f.put("when", when.flow()).
		yes("list", s.List).yes("everywhere", s.Everywhere).yes("optional", s.Optional).yes("inferred", s.Inferred).yes("ifPresent", s.IfPresent).
		yes("leaf", s.Terminal).yes("manages", s.Manages).yes("crosses", s.Crosses).yes("exposes", s.Exposes).
		text("rule", s.Rule).text("source", s.Source).flow()
}

func kindsNode(kinds []string) *yaml.Node {
	switch len(kinds) {
	case 0:
		return nil
	case 1:
		return strict.TextNode(kinds[0])
	}
	return flowTexts(kinds)
}

// conditionNode writes the values of a condition: none is that the field is absent.
func conditionNode(values []string) *yaml.Node {
	if len(values) == 0 {
		return strict.ValueNode(nil)
	}
	return flowTexts(values)
}

func versionNode(v *Version) *yaml.Node {
	f := fields{}.text("version", v.Version).text("kubernetes", v.Kubernetes).
		list("provides", len(v.Provides), func(i int) *yaml.Node { return apiNode(v.Provides[i]) }).
		list("requires", len(v.Requires), func(i int) *yaml.Node { return requirementNode(v.Requires[i]) }).
		list("conflicts", len(v.Conflicts), func(i int) *yaml.Node { return requirementNode(v.Conflicts[i]) }).
		put("source", sourceNode(&v.Source)).text("namespace", v.Namespace).text("crds", string(v.Definitions)).
		list("health", len(v.Ready), func(i int) *yaml.Node {
			return fields{}.text("kind", v.Ready[i].Kind).text("name", v.Ready[i].Name).flow()
		}).
		list("images", len(v.Images), func(i int) *yaml.Node {
			if len(v.Images[i].Platforms) == 0 {
				return strict.TextNode(v.Images[i].Image)
			}
			return fields{}.text("image", v.Images[i].Image).put("platforms", flowTexts(v.Images[i].Platforms)).node()
		}).
		list("examples", len(v.Examples), func(i int) *yaml.Node { return strict.TextNode(v.Examples[i]) })
	return f.node()
}

func apiNode(a solve.API) *yaml.Node {
	return fields{}.text("kind", a.Kind).put("versions", flowTexts(a.Versions)).flow()
}

func requirementNode(r solve.Requirement) *yaml.Node {
	return fields{}.text("api", r.API.Kind).texts("versions", r.API.Versions).
		text("package", r.Package).text("version", r.Range).yes("optional", r.Optional).flow()
}

func sourceNode(s *Source) *yaml.Node {
	var f fields
	if c := s.Chart; c != nil {
		chart := fields{}.text("repository", c.Repository).text("oci", c.OCI).text("path", c.Path).
			text("name", c.Name).text("version", c.Version).text("digest", c.Digest)
		if c.Values != nil {
			chart = chart.put("values", strict.ValueNode(c.Values))
		}
		f = f.put("chart", chart.node())
	}
	return f.list("manifests", len(s.Manifests), func(i int) *yaml.Node {
		m := s.Manifests[i]
		return fields{}.text("url", m.URL).text("path", m.Path).text("sha256", m.SHA256).node()
	}).text("inline", s.Inline).node()
}
