package chart

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// connect writes the values that are meant for an object.
func (p *parting) connect(d document) error {
	ref := refOf(d.object)
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

// setField writes a value at a concrete path: no star, no list as a whole.
func setField(fields map[string]any, path string, value any) error {
	parsed, err := field.Parse(path)
	if err != nil {
		return err
	}
	steps, err := concrete(parsed.String())
	if err != nil {
		return err
	}
	var at any = fields
	for i, s := range steps {
		last := i == len(steps)-1
		switch holder := at.(type) {
		case map[string]any:
			name, ok := s.(string)
			if !ok {
				return fmt.Errorf("%v is a position in a list, and a mapping is there", s)
			}
			if last {
				holder[name] = copyValue(value)
				return nil
			}
			if holder[name] == nil {
				if _, list := steps[i+1].(int); list {
					return fmt.Errorf("the list %s is not there", name)
				}
				holder[name] = map[string]any{}
			}
			at = holder[name]
		case []any:
			n, ok := s.(int)
			if !ok {
				return fmt.Errorf("a list is where the field %v is looked for: say which item, like [0]", s)
			}
			if n < 0 || n >= len(holder) {
				return fmt.Errorf("the list has %d items, and [%d] is none of them", len(holder), n)
			}
			if last {
				holder[n] = copyValue(value)
				return nil
			}
			at = holder[n]
		default:
			return fmt.Errorf("the field %v is looked for in what is neither a mapping nor a list", s)
		}
	}
	return errors.New("the path has no steps")
}

// concrete parts a path, as field.Path writes it, into names and positions.
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
				return nil, fmt.Errorf("[%s] stands for more than one item: say which, like [0]", number)
			}
			steps, path = append(steps, n), rest
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			if path[:end] == "*" {
				return nil, errors.New("a star stands for more than one field: name one")
			}
			steps, path = append(steps, path[:end]), path[end:]
		}
	}
	return steps, nil
}
