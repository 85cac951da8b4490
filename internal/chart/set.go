package chart

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// connect writes Options.Set into an object.
func (p *splitter) connect(d document) error {
	ref := object.RefOf(d.object)
	values, ok := p.opts.Set[ref]
	if !ok {
		return nil
	}
	p.set[ref] = true
	for _, v := range values {
		if err := setField(d.object.Object, v.Field, v.Value); err != nil {
			return fmt.Errorf("set %s of %s (%s): %w", v.Field, ref, d, err)
		}
	}
	return nil
}

// setField writes a value at a concrete path: no star, no whole list.
func setField(fields map[string]any, path string, value any) error {
	parsed, err := field.Parse(path)
	if err != nil {
		return err
	}
	steps, err := concrete(parsed.String())
	if err != nil {
		return err
	}
	if len(steps) == 0 {
		return errors.New("the path is empty")
	}
	var at any = fields
	for i, s := range steps[:len(steps)-1] {
		_, list := steps[i+1].(int)
		if at, err = enter(at, s, list); err != nil {
			return err
		}
	}
	return put(at, steps[len(steps)-1], copyValue(value))
}

// enter returns the value at a step. It creates absent mappings.
func enter(at, s any, list bool) (any, error) {
	if err := reachable(at, s); err != nil {
		return nil, err
	}
	if items, ok := at.([]any); ok {
		return items[s.(int)], nil
	}
	holder, name := at.(map[string]any), s.(string)
	if holder[name] == nil {
		if list {
			return nil, fmt.Errorf("the list %s does not exist", name)
		}
		holder[name] = map[string]any{}
	}
	return holder[name], nil
}

func put(at, s, value any) error {
	if err := reachable(at, s); err != nil {
		return err
	}
	if items, ok := at.([]any); ok {
		items[s.(int)] = value
		return nil
	}
	at.(map[string]any)[s.(string)] = value
	return nil
}

// reachable returns why a step is not possible in a value.
func reachable(at, s any) error {
	n, isItem := s.(int)
	switch holder := at.(type) {
	case map[string]any:
		if isItem {
			return fmt.Errorf("[%d] is a position in a list, but the value is a mapping", n)
		}
	case []any:
		if !isItem {
			return fmt.Errorf("cannot find the field %v in a list: name an item, such as [0]", s)
		}
		if n < 0 || n >= len(holder) {
			return fmt.Errorf("the list has %d items: [%d] does not exist", len(holder), n)
		}
	default:
		return fmt.Errorf("cannot find the field %v in a value that is neither a mapping nor a list", s)
	}
	return nil
}

// concrete parses a path of the form of field.Path into names and indices.
func concrete(path string) ([]any, error) {
	var steps []any
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case strings.HasPrefix(path, `["`):
			quoted, err := strconv.QuotedPrefix(path[1:])
			if err != nil {
				return nil, err
			}
			name, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, err
			}
			steps, path = append(steps, name), strings.TrimPrefix(path[1+len(quoted):], "]")
		case path[0] == '[':
			number, rest, _ := strings.Cut(path[1:], "]")
			n, err := strconv.Atoi(number)
			if err != nil {
				return nil, fmt.Errorf("[%s] matches more than one item: name one, such as [0]", number)
			}
			steps, path = append(steps, n), rest
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			if path[:end] == "*" {
				return nil, errors.New("a star matches more than one field: name one")
			}
			steps, path = append(steps, path[:end]), path[end:]
		}
	}
	return steps, nil
}
