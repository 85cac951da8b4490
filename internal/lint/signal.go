package lint

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
)

// signals checks the fields that the signals of a kind set and read.
func (l *linter) signals(k *catalog.Kind, pos anchor) {
	other := 0
	for i := range k.Signals {
		s := &k.Signals[i]
		at := pos.child(s.Preset)
		if s.Other {
			at = pos.child("also", other)
			other++
		}
		l.signal(k.Kind, s, at)
	}
}

func (l *linter) signal(kind string, s *signals.Signal, pos anchor) {
	hold := func(pos anchor, check func(field.Shape) *fault) {
		l.hold(use{kind: kind, where: pos, about: "signal " + s.Preset + ": ", versions: s.Versions, check: check})
	}
	l.reacted(kind, s, pos.child("reacted"))
	if s.Scale {
		l.scale(kind, s, pos.child("scale"))
		return
	}
	set := func(key string, patch map[string]any) {
		if len(patch) == 0 {
			return
		}
		hold(pos.child(strings.Split(key, ".")[0]), func(shape field.Shape) *fault {
			item, ok := each(shape, s.Each)
			if !ok {
				return nil
			}
			return content(item, s.Each, patch)
		})
	}
	path := func(key, text string) {
		p, err := field.Parse(text)
		if text == "" || err != nil {
			return
		}
		hold(pos.child(key), func(shape field.Shape) *fault {
			_, wrong := at(shape, p)
			return wrong
		})
	}
	set("patch", s.Patch)
	set("resume", s.Resume)
	path("each", s.Each)
	path("requires", s.Requires)
	if s.Or != nil {
		set("or.patch", s.Or.Patch)
		set("or.resume", s.Or.Resume)
		path("or", s.Or.When)
	}
}

// reacted checks the fields that an expression reads which says that an operator reacted.
func (l *linter) reacted(kind string, s *signals.Signal, pos anchor) {
	if s.Reacted == "" {
		return
	}
	rule := health.Rule{Kind: kind, Versions: s.Versions, Healthy: s.Reacted}
	l.reads(&rule, "signal "+s.Preset+": reacted: ", func(health.Read) anchor { return pos })
}

// scale checks that a kind which is scaled through its subresource has one.
func (l *linter) scale(kind string, s *signals.Signal, pos anchor) {
	gk := groupKind(kind)
	k, ok := l.defs.Kind(gk)
	if !ok || k.builtIn {
		return
	}
	for _, name := range l.versions(gk, k, s.Versions) {
		if !slices.ContainsFunc(k.versions[name], func(v version) bool { return v.scale }) {
			l.add(pos, false, "%s %s: signal %s: it has no scale subresource", kind, name, s.Preset)
		}
	}
}

// each is the shape of what a patch changes: of the object, or of each item of a list in it.
func each(shape field.Shape, path string) (field.Shape, bool) {
	p, err := field.Parse(path)
	if path == "" || err != nil {
		return shape, path == ""
	}
	found, wrong := at(shape, p)
	if wrong != nil {
		return nil, false
	}
	return found.Item()
}

// content checks the fields and values of a patch or an object.
func content(shape field.Shape, path string, v any) *fault {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			child, ok := shape.Field(name)
			if !ok {
				return inStep(noField(shape, path, name), name)
			}
			if wrong := content(child, field.Join(path, name), v[name]); wrong != nil {
				return inStep(wrong, name)
			}
		}
	case []any:
		item, ok := shape.Item()
		if !ok {
			return broken("%s is not a list", path)
		}
		for i, e := range v {
			if wrong := content(item, field.Item(path, i), e); wrong != nil {
				return inStep(wrong, i)
			}
		}
		return nil
	}
	if text, ok := v.(string); ok && strings.HasPrefix(text, "{{") || v == nil {
		return nil // It restores the former value, or removes a field.
	}
	return literalFault(shape, path, v)
}

// inStep says where in its holder a fault is.
func inStep(f *fault, step any) *fault {
	f.below = append([]any{step}, f.below...)
	return f
}

// noField is the fault that a shape has no field of a name.
func noField(shape field.Shape, path, name string) *fault {
	p, err := field.Parse(field.Join("", name))
	if err != nil {
		return broken("%s has no field %s", path, name)
	}
	_, err = p.In(shape)
	wrong, ok := errors.AsType[*field.Error](err)
	if !ok {
		return broken("%s has no field %s", path, name)
	}
	message := wrong.Message
	if rest, cut := strings.CutPrefix(message, "the object "); cut && path != "" {
		message = path + " " + rest
	}
	return broken("%s%s", message, object.DidYouMean(object.Nearest(name, wrong.Names)))
}

// installable checks the kinds that a version is said to be ready by, and its examples.
func (l *linter) installable(v *catalog.Version, pos anchor) {
	for i, r := range v.Ready {
		l.kindExists(r.Kind, pos.child("health", i, "kind"))
	}
	for i, text := range v.Examples {
		l.example(text, pos.child("examples", i), fmt.Sprintf("example of %s: ", v.Version))
	}
}
