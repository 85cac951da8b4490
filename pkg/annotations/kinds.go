package annotations

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

const (
	// maxKindLength exceeds every kind with its group.
	maxKindLength = 320
	// maxParts limits every list and path in an annotation, and so the work and the findings that
	// one annotation can cause.
	maxParts = 100
)

// kindList resolves a list of kinds; it reports and omits unknown ones.
func (r *reader) kindList(s span, sep byte) []object.Resource {
	parts, err := s.split(sep)
	if err != nil {
		r.report(err)
		return nil
	}
	var all []object.Resource
	for _, p := range r.limit(parts) {
		k, err := r.kind(p)
		if err != nil {
			r.report(err)
			continue
		}
		if !slices.ContainsFunc(all, func(o object.Resource) bool { return o.GroupKind() == k.GroupKind() }) {
			all = append(all, k)
		}
	}
	return all
}

// limit truncates a list that is too long.
func (r *reader) limit(parts []span) []span {
	if len(parts) <= maxParts {
		return parts
	}
	r.report(parts[maxParts].problem("%d parts in a list: expected at most %d; the rest is ignored", len(parts), maxParts))
	return parts[:maxParts]
}

func (r *reader) kind(s span) (object.Resource, *problem) {
	if s.text == "" {
		return object.Resource{}, s.problem("a kind is missing here: expected Kind or Kind.group")
	}
	k, err := r.find(s.text)
	var unknown *object.UnknownKindError
	var ambiguous *object.AmbiguousKindError
	switch {
	case err == nil:
		return k, nil
	case errors.As(err, &ambiguous):
		var choices []string
		for _, c := range ambiguous.Choices {
			if k, ok := r.kinds.Resource(schema.ParseGroupResource(c)); ok {
				choices = append(choices, k.GroupKind().String())
			}
		}
		return k, s.problem("kind %q is ambiguous: expected one of %s", field.Shorten(s.text), strings.Join(choices, ", "))
	case strings.HasPrefix(s.text, instanceWord):
		return k, s.problem("%q is not a kind: expected Kind or Kind.group here", field.Shorten(s.text))
	case errors.As(err, &unknown) && len(unknown.Nearest) > 0:
		return k, s.problem("unknown kind %q: did you mean %s?", field.Shorten(s.text), strings.Join(r.spell(unknown.Nearest), " or "))
	}
	return k, s.problem("unknown kind %q: expected a kind that the cluster serves, as Kind or Kind.group", field.Shorten(s.text))
}

func (r *reader) find(name string) (object.Resource, error) {
	if len(name) > maxKindLength {
		return object.Resource{}, &object.UnknownKindError{Name: name}
	}
	return r.kinds.Find(name)
}

// spell formats names as annotations do: Kind, or Kind.group for a custom kind.
func (r *reader) spell(names []string) []string {
	var all []string
	for _, n := range names {
		k, err := r.kinds.Find(n)
		switch {
		case err != nil:
			all = append(all, n)
		case k.Custom:
			all = append(all, k.GroupKind().String())
		default:
			all = append(all, k.Kind)
		}
	}
	return all
}
