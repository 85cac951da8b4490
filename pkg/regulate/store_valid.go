package regulate

import (
	"fmt"
	"regexp"
	"slices"
)

// isPointer is a JSON pointer (RFC 6901) to something in a document.
var isPointer = regexp.MustCompile(`(?s)^(/([^~/]|~[01])*)+$`)

// valid returns an error for an entry of a stored journal that regulation cannot act on: it was
// edited, or written by a newer version.
func (j *Journal) valid() error {
	ids := map[int]bool{}
	for _, list := range []struct {
		name   string
		holds  []*Hold
		phases []Phase
	}{{"holds", j.Holds, []Phase{Stopping, Held, Recovering}}, {"left", j.Conflicts, []Phase{Conflicted}}} {
		for i, h := range list.holds {
			if h == nil {
				return fmt.Errorf("%s[%d] is null", list.name, i)
			}
			if ids[h.ID] {
				return fmt.Errorf("%s[%d]: two holds have id %d", list.name, i, h.ID)
			}
			ids[h.ID] = true
			if err := h.valid(list.phases); err != nil {
				return fmt.Errorf("%s[%d] (id %d): %w", list.name, i, h.ID, err)
			}
		}
	}
	for i, o := range j.Owned {
		if err := pointers(o.Paths...); err != nil {
			return fmt.Errorf("owned[%d]: %w", i, err)
		}
	}
	return nil
}

func (h *Hold) valid(phases []Phase) error {
	switch {
	case h.App == "":
		return fmt.Errorf("it has no app")
	case h.Signal == "":
		return fmt.Errorf("it has no signal")
	case !slices.Contains(phases, h.Phase):
		return fmt.Errorf("phase %q is not one of %q", h.Phase, phases)
	}
	for i, o := range h.Operations {
		if o == nil {
			return fmt.Errorf("operations[%d] is null", i)
		}
		if err := o.valid(); err != nil {
			return fmt.Errorf("operations[%d]: %w", i, err)
		}
	}
	return nil
}

func (o *Operation) valid() error {
	if !slices.Contains(States(), o.State) {
		return fmt.Errorf("state %q is not one of %q", o.State, States())
	}
	if o.writesFields() && (o.Target.Name == "" || o.Target.Kind == "") {
		return fmt.Errorf("it has changes, and its target has no kind or no name")
	}
	paths := slices.Clone(o.KeptOwnership)
	if o.Replicas != "" {
		paths = append(paths, o.Replicas)
	}
	for _, c := range o.Changes {
		paths = append(paths, c.Path)
	}
	return pointers(paths...)
}

func pointers(paths ...string) error {
	for _, p := range paths {
		if !isPointer.MatchString(p) {
			return fmt.Errorf("path %q is not a JSON pointer (/spec/replicas)", p)
		}
	}
	return nil
}
