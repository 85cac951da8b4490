package system

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// actionNames are the words by which an action says what it does.
func actionNames() []string {
	return []string{"preset", "patch", "scale", "annotate", "label", "suspendCronJobs", "cordonTraffic", "restart", "job", "http", "exec"}
}

// outward are the actions that change no target, and take a while.
func outward() []string { return []string{"job", "http", "exec"} }

// action reads one. last says that it has no inverse: it is done on Recover, or is an
// inverse itself.
func (r *reader) action(s scope, n *yaml.Node, last bool) Action {
	a := Action{Line: n.Line}
	keys := append(r.actionKeys(&a),
		key{"targets", false, func(s scope, n *yaml.Node) {
			s.list(n, func(s scope, n *yaml.Node) {
				if root := s.root(n, true); root.Type != "" {
					a.Targets = append(a.Targets, root)
				}
			})
		}},
		key{"inverse", false, func(s scope, n *yaml.Node) {
			if last {
				s.report(n, "an action on %s cannot be undone: omit this", Recover)
				return
			}
			inverse := r.action(s, n, true)
			a.Inverse = &inverse
		}},
		key{"allowStop", false, func(s scope, n *yaml.Node) { a.AllowStop = s.bool(n) }},
		key{"timeout", false, func(s scope, n *yaml.Node) { a.Timeout = s.duration(n) }},
	)
	s.mapping(n, keys...)
	r.oneAction(s, n)
	return a
}

// oneAction checks that an action is one, and that the other keys go with it.
func (r *reader) oneAction(s scope, n *yaml.Node) {
	var words []string
	for _, name := range actionNames() {
		if has(n, name) {
			words = append(words, name)
		}
	}
	switch {
	case n.Kind != yaml.MappingNode:
		return
	case len(words) == 0:
		s.report(n, "the action is empty: expected one of %s", strings.Join(actionNames(), ", "))
		return
	case len(words) > 1:
		s.report(n, "%s are several actions: write an item for each", strings.Join(words, " and "))
		return
	}
	outside := slices.Contains(outward(), words[0])
	for _, option := range []struct {
		name string
		fine bool
		why  string
	}{
		{"allowStop", words[0] == "preset", "it is for a preset"},
		{"timeout", outside || words[0] == "preset", "it is for preset, job, http and exec"},
		{"targets", !outside, "it has none of its own"},
	} {
		if has(n, option.name) && !option.fine {
			s.in(option.name).report(n, "%s does not go with %s: %s", option.name, words[0], option.why)
		}
	}
}

func (r *reader) actionKeys(a *Action) []key {
	return []key{
		{"preset", false, func(s scope, n *yaml.Node) { a.Preset = s.word(n, "pause", "stop") }},
		{"patch", false, func(s scope, n *yaml.Node) { a.Patch = s.patch(n) }},
		{"scale", false, func(s scope, n *yaml.Node) {
			a.Scale = &Scale{}
			s.mapping(n, key{"replicas", true, func(s scope, n *yaml.Node) { a.Scale.Replicas = int32(s.count(n)) }}) //nolint:gosec // count is bounded
		}},
		{"annotate", false, func(s scope, n *yaml.Node) { a.Annotate = s.marks(n, func(string) []string { return nil }) }},
		{"label", false, func(s scope, n *yaml.Node) { a.Label = s.marks(n, validation.IsValidLabelValue) }},
		{"suspendCronJobs", false, func(s scope, n *yaml.Node) { a.SuspendCronJobs = s.yes(n) }},
		{"cordonTraffic", false, func(s scope, n *yaml.Node) { a.CordonTraffic = s.yes(n) }},
		{"restart", false, func(s scope, n *yaml.Node) { a.Restart = s.yes(n) }},
		{"job", false, func(s scope, n *yaml.Node) {
			a.Job = &Job{}
			s.mapping(n, key{"template", true, func(s scope, n *yaml.Node) { a.Job.Template = s.jobTemplate(n) }})
		}},
		{"http", false, func(s scope, n *yaml.Node) { a.HTTP = s.http(n) }},
		{"exec", false, func(s scope, n *yaml.Node) { a.Exec = s.exec(n) }},
	}
}

// patchTypes are the types of patches.
func patchTypes() []string { return []string{Merge, JSON, Strategic} }

func (s scope) patch(n *yaml.Node) *Patch {
	p := &Patch{Type: Merge}
	var body *yaml.Node
	s.mapping(n,
		key{"type", false, func(s scope, n *yaml.Node) { p.Type = s.word(n, patchTypes()...) }},
		key{"body", true, func(_ scope, n *yaml.Node) { body = n }},
		key{"subresource", false, func(s scope, n *yaml.Node) {
			if text, ok := s.string(n); ok && text != "" {
				p.Subresource = s.word(n, "status", "scale")
			}
		}},
	)
	s = s.in("body")
	switch {
	case body == nil || p.Type == "":
	case p.Type == JSON:
		s.list(body, func(s scope, n *yaml.Node) { s.operation(n) })
		p.Body = s.value(body)
	default:
		o := s.object(body)
		if len(o) == 0 && body.Kind == yaml.MappingNode {
			s.report(body, "it changes nothing: expected the fields to set")
		}
		p.Body = o
	}
	return p
}

// operation checks one of RFC 6902.
func (s scope) operation(n *yaml.Node) {
	pointer := func(s scope, n *yaml.Node) {
		if text, ok := s.string(n); ok && text != "" && text[0] != '/' {
			s.report(n, "%q is not a JSON pointer: write it as /spec/paused", field.Shorten(text))
		}
	}
	op := ""
	s.mapping(n,
		key{"op", true, func(s scope, n *yaml.Node) { op = s.word(n, "add", "remove", "replace", "move", "copy", "test") }},
		key{"path", true, pointer},
		key{"from", false, pointer},
		key{"value", false, func(scope, *yaml.Node) {}},
	)
	switch op {
	case "add", "replace", "test":
		if !has(n, "value") {
			s.report(n, "%s requires a value", op)
		}
	case "move", "copy":
		if !has(n, "from") {
			s.report(n, "%s requires a from", op)
		}
	}
}

// marks reads annotations or labels; null takes one away.
func (s scope) marks(n *yaml.Node, wrong func(value string) []string) map[string]*string {
	all := map[string]*string{}
	s.entries(n, func(s scope, name string, k, v *yaml.Node) {
		if problems := validation.IsQualifiedName(name); len(problems) > 0 {
			s.report(k, "%q is not a key: %s", field.Shorten(name), problems[0])
		}
		if v.Kind == yaml.ScalarNode && v.ShortTag() == "!!null" {
			all[name] = nil
			return
		}
		text, ok := s.string(v)
		if problems := wrong(text); ok && len(problems) > 0 {
			s.report(v, "%q is not a label value: %s", field.Shorten(text), problems[0])
		}
		all[name] = &text
	})
	return all
}

// jobTemplate reads a Job, or what stands under its spec.
func (s scope) jobTemplate(n *yaml.Node) map[string]any {
	all := s.object(n)
	whole := all["kind"] != nil || all["apiVersion"] != nil
	switch _, pods := all["template"].(map[string]any); {
	case all == nil:
	case whole && (all["kind"] != "Job" || all["apiVersion"] != "batch/v1"):
		s.report(n, "it is %s: expected a Job of batch/v1, or its spec", field.Shorten(fmt.Sprintf("%v of %v", all["kind"], all["apiVersion"])))
	case whole:
		spec, _ := all["spec"].(map[string]any)
		if _, ok := spec["template"].(map[string]any); !ok {
			s.report(n, "spec.template is missing: a Job needs one for its pod")
		}
	case !pods:
		s.report(n, "template is missing: expected a whole Job, or its spec")
	}
	return all
}
