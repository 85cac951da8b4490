package app

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// checkTargets are what the arguments name.
type checkTargets struct {
	Everything bool
	kinds      []object.Resource // custom ones, to check their definitions
	operators  []string
	Roots      []Root
}

// parseTargets reads the arguments: roots have a slash, or a type before them; a custom kind alone
// is its definition, any other kind all of it; and anything else is an operator.
func (c *CheckRun) parseTargets() (checkTargets, error) {
	args := c.q.Args
	var t checkTargets
	if len(args) == 0 {
		return checkTargets{Everything: true}, nil
	}
	if c.areNames(args) {
		roots, err := SelectedRoots(args, c.q.Selector, c.Session.Kinds)
		t.Roots = roots
		c.redirect(&t)
		return t, err
	}
	for _, arg := range args {
		if err := c.parseTarget(arg, &t); err != nil {
			return t, err
		}
	}
	c.redirect(&t)
	return t, nil
}

// areNames reports that the arguments are TYPE NAME..., as kubectl reads them. Several custom kinds
// are several definitions.
func (c *CheckRun) areNames(args []string) bool {
	if len(args) < 2 || slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "/") }) {
		return false
	}
	kinds := c.Session.Kinds
	first, _, _ := strings.Cut(args[0], ",")
	kind, err := kinds.Find(first)
	if err != nil {
		return false
	}
	return !kind.Custom || slices.ContainsFunc(args[1:], func(arg string) bool {
		_, err := kinds.Find(arg)
		return err != nil
	})
}

// parseTarget adds the meaning of one argument.
func (c *CheckRun) parseTarget(arg string, t *checkTargets) error {
	if name, ok := strings.CutPrefix(arg, "operator/"); ok {
		t.operators = append(t.operators, name)
		return nil
	}
	if !strings.ContainsAny(arg, "/,") {
		kind, err := c.Session.Kinds.Find(arg)
		_, unknown := errors.AsType[*object.UnknownKindError](err)
		switch {
		case unknown:
			t.operators = append(t.operators, arg)
			return nil
		case err != nil:
			return err
		case c.meansDefinition(kind):
			t.kinds = append(t.kinds, kind)
			return nil
		}
	}
	roots, err := SelectedRoots([]string{arg}, c.q.Selector, c.Session.Kinds)
	t.Roots = append(t.Roots, roots...)
	return err
}

// redirect checks a definition that is named as a root as a definition.
func (c *CheckRun) redirect(t *checkTargets) {
	t.Roots = slices.DeleteFunc(t.Roots, func(r Root) bool {
		if r.Group != "" || r.Kind.GroupKind() != DefinitionKind {
			return false
		}
		before := len(t.kinds)
		for _, k := range c.Session.Kinds.All() {
			if k.Custom && (r.Name == "" || k.String() == r.Name) {
				t.kinds = append(t.kinds, k)
			}
		}
		return len(t.kinds) > before
	})
}

// meansDefinition reports that a kind alone means its definition, and not all objects of it.
func (c *CheckRun) meansDefinition(kind object.Resource) bool {
	return kind.Custom && c.q.Selector == nil && !c.q.Colocation
}
