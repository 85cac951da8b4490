package system

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// scope is a place in a manifest while it is read: its problems name the path to it.
type scope struct {
	r    *reader
	path string // spec.apps[1].on.Stop[0]
}

// in is the place of a field, at that of an item of a list.
func (s scope) in(name string) scope {
	if s.path != "" {
		name = s.path + "." + name
	}
	return scope{s.r, name}
}

func (s scope) at(i int) scope { return scope{s.r, s.path + "[" + strconv.Itoa(i) + "]"} }

// report notes a problem at a node of this place.
func (s scope) report(n *yaml.Node, format string, args ...any) {
	s.add(strict.At(n, format, args...))
}

func (s scope) add(problems ...strict.Problem) {
	for _, p := range problems {
		if s.path != "" {
			p.Message = s.path + ": " + p.Message
		}
		s.r.problems = append(s.r.problems, p)
	}
}

// key is a key of a mapping, and the function that reads its value.
type key struct {
	name     string
	required bool
	read     func(scope, *yaml.Node)
}

// mapping reads a mapping of these keys.
func (s scope) mapping(n *yaml.Node, keys ...key) {
	var m strict.Mapping
	for _, k := range keys {
		m.Fields = append(m.Fields, strict.Field{Name: k.name, Required: k.required, Set: func(n *yaml.Node) { k.read(s.in(k.name), n) }})
	}
	m.Read(n)
	s.add(m.Problems...)
}

// entries passes on the keys and values of a mapping whose keys are free.
func (s scope) entries(n *yaml.Node, each func(s scope, name string, key, value *yaml.Node)) {
	if n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		s.report(n, "it is empty: omit it")
	}
	at := map[*yaml.Node]*yaml.Node{}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		at[n.Content[i+1]] = n.Content[i]
	}
	var m strict.Mapping
	m.Entries(n, func(name string, value *yaml.Node) {
		switch k := at[value]; {
		case k.ShortTag() == "!!merge":
			s.report(k, "merge keys are not read: write the fields out")
		case k.ShortTag() != "!!str":
			s.report(k, "the key %s is not a string: put it in quotes", field.Shorten(name))
		default:
			each(s.in(name), name, k, value)
		}
	})
	s.add(m.Problems...)
}

// list passes on the items of a list, which has one at least.
func (s scope) list(n *yaml.Node, each func(scope, *yaml.Node)) {
	switch {
	case n.Kind != yaml.SequenceNode:
		s.report(n, "expected a list")
		return
	case len(n.Content) == 0:
		s.report(n, "the list is empty: omit it")
	}
	for i, item := range n.Content {
		if item.Kind == yaml.AliasNode {
			s.at(i).report(item, "aliases are not read: write the value out")
			continue
		}
		each(s.at(i), item)
	}
}

// text reads text that is not empty. What YAML reads as something else is a problem: 1.10 is
// a number, and no longer what was written.
func (s scope) text(n *yaml.Node) string {
	text, ok := s.string(n)
	if ok && text == "" {
		s.report(n, "the string is empty")
	}
	return text
}

// string reads text, which may be empty.
func (s scope) string(n *yaml.Node) (string, bool) {
	switch {
	case n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null":
		s.report(n, "expected a string")
		return "", false
	case n.ShortTag() != "!!str":
		s.report(n, "%s is not a string: put it in quotes", field.Shorten(n.Value))
		return "", false
	}
	return n.Value, true
}

// line reads text of one line.
func (s scope) line(n *yaml.Node) string {
	text := s.text(n)
	if strings.ContainsFunc(text, unicode.IsControl) {
		s.report(n, "expected one line of text")
		return ""
	}
	return text
}

// name reads a DNS label.
func (s scope) name(n *yaml.Node) string {
	text := s.text(n)
	if text != "" && !isLabel(text) {
		s.report(n, "%q is not a name: expected at most 63 lower case letters, digits and dashes", field.Shorten(text))
		return ""
	}
	return text
}

var label = lazyregexp.New(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

func isLabel(text string) bool { return len(text) <= 63 && label.MatchString(text) }

// word reads one of some words.
func (s scope) word(n *yaml.Node, words ...string) string {
	text := s.text(n)
	if text != "" && !slices.Contains(words, text) {
		s.report(n, "there is no %s: expected %s%s", strconv.Quote(field.Shorten(text)), anyOf(words), object.DidYouMean(object.Nearest(text, words)))
		return ""
	}
	return text
}

// anyOf writes words as a choice: a, b or c.
func anyOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func (s scope) bool(n *yaml.Node) bool {
	var b bool
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(&b) != nil {
		s.report(n, "expected true or false")
	}
	return b
}

// yes reads a key that is true, or left out.
func (s scope) yes(n *yaml.Node) bool {
	b := s.bool(n)
	if !b && n.ShortTag() == "!!bool" {
		s.report(n, "expected true, or omit it")
	}
	return b
}

// count reads a number from 0.
func (s scope) count(n *yaml.Node) int {
	var i int
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Decode(&i) != nil || i < 0 || i > math.MaxInt32 {
		s.report(n, "expected a whole number from 0")
		return 0
	}
	return i
}

// durations are how a time is written; Go reads more.
var durations = lazyregexp.New(`^([0-9]{1,9}(\.[0-9]{1,9})?(ms|s|m|h))+$`)

func (s scope) duration(n *yaml.Node) time.Duration {
	text := s.text(n)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || !durations.MatchString(text) {
		s.report(n, "%q is not a duration: write it as 30s, 5m or 1h30m", field.Shorten(text))
		return 0
	}
	return d
}

// writeDuration writes a time without parts that are 0: 2m, where Go has 2m0s.
func writeDuration(d time.Duration) string {
	text := d.String()
	if cut, ok := strings.CutSuffix(text, "m0s"); ok {
		text = cut + "m"
	}
	if cut, ok := strings.CutSuffix(text, "h0m"); ok {
		text = cut + "h"
	}
	if d > 0 && d < time.Millisecond || strings.HasSuffix(text, "µs") {
		text = strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64) + "ms"
	}
	return text
}
