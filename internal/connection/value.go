package connection

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ErrNoValue means that a path has no value yet. An empty string counts as none: operators leave
// fields empty until they fill them in.
var ErrNoValue = errors.New("it has no value yet")

// valuePath is the path of one value.
type valuePath struct {
	text  string
	steps []pathElement
}

// pathElement is a field by name, or an item of a list by its index.
type pathElement struct {
	name  string
	index int
	item  bool
}

// wayOf parses the path of one value: without wildcards, and with indices for lists.
func wayOf(text string) (valuePath, error) {
	path, err := field.Parse(text)
	if err != nil {
		return valuePath{}, err
	}
	w := valuePath{text: path.String()}
	for rest := w.text; rest != ""; {
		step, n, err := readStep(rest)
		if err != nil {
			return valuePath{}, fmt.Errorf("path %q: %w", field.Shorten(text), err)
		}
		w.steps = append(w.steps, step)
		rest = strings.TrimPrefix(rest[n:], ".")
	}
	if len(w.steps) == 0 || w.steps[0].item {
		return valuePath{}, fmt.Errorf("path %q: expected a field, such as status.host", text)
	}
	return w, nil
}

// readStep parses one element of a path as field.Path writes it.
func readStep(text string) (pathElement, int, error) {
	if text[0] != '[' {
		n := strings.IndexAny(text, ".[")
		if n < 0 {
			n = len(text)
		}
		if text[:n] == "*" {
			return pathElement{}, 0, errors.New("* finds several values, and a connection takes one: name the field")
		}
		return pathElement{name: text[:n]}, n, nil
	}
	if quote := text[1]; quote == '"' || quote == '\'' {
		end := strings.IndexByte(text[2:], quote)
		return pathElement{name: text[2 : 2+end]}, end + 4, nil
	}
	end := strings.IndexByte(text, ']')
	i, err := strconv.Atoi(text[1:end])
	if err != nil {
		return pathElement{}, 0, errors.New("[] finds several values, and a connection takes one: expected an index, such as [0]")
	}
	return pathElement{index: i, item: true}, end + 1, nil
}

// Resolve returns a copy of the value at a path of an object; ErrNoValue where there is none.
func Resolve(u *unstructured.Unstructured, path string) (any, error) {
	w, err := wayOf(path)
	if err != nil {
		return nil, err
	}
	p, err := field.Parse(w.text)
	if err != nil {
		return nil, err
	}
	for _, value := range p.Find(u.Object) {
		if value == "" {
			break
		}
		return runtime.DeepCopyJSONValue(value), nil
	}
	return nil, fmt.Errorf("%s of %s: %w", w.text, object.RefOf(u), ErrNoValue)
}

// Set sets the field at a path, and creates missing parents. A list grows by one item at its
// end at most.
func Set(u *unstructured.Unstructured, path string, value any) error {
	w, err := wayOf(path)
	if err != nil {
		return err
	}
	if u.Object == nil {
		u.Object = map[string]any{}
	}
	set, err := setAt(u.Object, w.steps, runtime.DeepCopyJSONValue(value))
	if err != nil {
		return fmt.Errorf("set %s of %s: %w", w.text, object.RefOf(u), err)
	}
	u.Object, _ = set.(map[string]any)
	return nil
}

// setAt returns the content at an element of the path with the value set in it.
func setAt(at any, steps []pathElement, value any) (any, error) {
	if len(steps) == 0 {
		return value, nil
	}
	s := steps[0]
	if s.item {
		list, ok := at.([]any)
		if !ok && at != nil {
			return nil, fmt.Errorf("[%d] needs a list", s.index)
		}
		if s.index > len(list) {
			return nil, fmt.Errorf("[%d] is beyond the end: the list has %d items", s.index, len(list))
		}
		var old any
		if s.index < len(list) {
			old = list[s.index]
		}
		set, err := setAt(old, steps[1:], value)
		if err != nil {
			return nil, err
		}
		if s.index == len(list) {
			return append(list, set), nil
		}
		list[s.index] = set
		return list, nil
	}
	fields, ok := at.(map[string]any)
	if !ok {
		if at != nil {
			return nil, fmt.Errorf("%s needs an object", s.name)
		}
		fields = map[string]any{}
	}
	set, err := setAt(fields[s.name], steps[1:], value)
	if err != nil {
		return nil, err
	}
	fields[s.name] = set
	return fields, nil
}

// Remove removes the value at a path, and the parents that become empty.
func Remove(u *unstructured.Unstructured, path string) {
	if w, err := wayOf(path); err == nil {
		removeAt(u.Object, w.steps)
	}
}

func removeAt(at any, steps []pathElement) (empty bool) {
	s := steps[0]
	if s.item {
		list, _ := at.([]any)
		if s.index < len(list) {
			if len(steps) == 1 || removeAt(list[s.index], steps[1:]) {
				list[s.index] = nil
			}
		}
		for _, v := range list {
			if v != nil {
				return false
			}
		}
		return true
	}
	fields, _ := at.(map[string]any)
	if v, have := fields[s.name]; have && (len(steps) == 1 || removeAt(v, steps[1:])) {
		delete(fields, s.name)
	}
	return len(fields) == 0
}
