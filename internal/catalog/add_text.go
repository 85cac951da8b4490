package catalog

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// put puts a version into the text of an entry: in the place of the one at index at, or among
// the others where that is -1. All other lines stay as they are. A text whose lines cannot be
// distinguished (on one line, as {}) is written again, with its comments. The result is read,
// and must be the entry that is wanted; it is returned.
func put(text []byte, was Entry, v Version, at int) ([]byte, Entry, error) {
	want := was
	want.Versions = slices.Clone(was.Versions)
	index := at
	if at >= 0 {
		want.Versions[at] = v
	} else {
		index = position(was.Versions, v.Version)
		want.Versions = slices.Insert(want.Versions, index, v)
	}
	for _, way := range []func() []byte{
		func() []byte { return putLines(text, v, index, at >= 0) },
		func() []byte { return putNode(text, v, index, at >= 0) },
	} {
		out := way()
		if out == nil {
			continue
		}
		if got, problems := Parse(was.Name, out); len(problems) == 0 && same(got, want) {
			return out, got, nil
		}
	}
	return nil, Entry{}, errors.New("its YAML cannot be extended automatically: add the version by hand")
}

// same compares entries, but for the places of their relations.
func same(a, b Entry) bool {
	x, y := slices.Clone(a.Relations), slices.Clone(b.Relations)
	for i := range x {
		x[i].Line, x[i].Column = 0, 0
	}
	for i := range y {
		y[i].Line, y[i].Column = 0, 0
	}
	a.Relations, b.Relations = x, y
	return reflect.DeepEqual(a, b)
}

// position is where a version goes among others: in their order where they have one, first
// where they have none.
func position(versions []Version, version string) int {
	rising := len(versions) > 1
	for i := 1; i < len(versions); i++ {
		rising = rising && compareVersions(versions[i-1].Version, versions[i].Version) < 0
	}
	for i, o := range versions {
		if c := compareVersions(version, o.Version); rising && c < 0 || !rising && c > 0 {
			return i
		}
	}
	return len(versions)
}

// putLines puts a version among the lines of a text; nil where it cannot.
func putLines(text []byte, v Version, index int, replace bool) []byte {
	root, problem := strict.Document(text)
	if problem != nil || root == nil || root.Style&yaml.FlowStyle != 0 || root.Column != 1 || bytes.Contains(text, []byte("\r")) {
		return nil
	}
	lines := strings.SplitAfter(string(text), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n"
	}
	list := strict.Value(root, "versions")
	if list == nil {
		for _, l := range lines {
			if strings.HasPrefix(l, "...") {
				return nil
			}
		}
		return []byte(strings.Join(lines, "") + "versions:\n" + written(v, 0))
	}
	if list.Kind != yaml.SequenceNode || list.Style&yaml.FlowStyle != 0 || len(list.Content) == 0 {
		return nil
	}
	indent := list.Column - 1
	from := endOf(lines, list, indent)
	if index < len(list.Content) {
		from = list.Content[index].Line - 1
	}
	to := from
	switch {
	case replace && index+1 < len(list.Content):
		to = above(lines, list.Content[index+1].Line-1)
	case replace:
		to = endOf(lines, list, indent)
	case index < len(list.Content) && index > 0:
		from = above(lines, from)
		to = from
	case index == 0:
		from = above(lines, from)
		to = from
	}
	if from < 0 || to < from || to > len(lines) {
		return nil
	}
	return []byte(strings.Join(slices.Concat(lines[:from], []string{written(v, indent)}, lines[to:]), ""))
}

// written is a version as an item of a list.
func written(v Version, indent int) string {
	text, err := strict.Encode(strict.ListNode(1, func(int) *yaml.Node { return strict.StructNode(v, writers()) }))
	if err != nil {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(strings.Repeat(" ", indent))
		}
		b.WriteString(line)
	}
	return b.String()
}

// above goes up over the comments that stand right above a line: they are about it.
func above(lines []string, line int) int {
	for line > 0 && strings.HasPrefix(strings.TrimSpace(lines[line-1]), "#") {
		line--
	}
	return line
}

// endOf returns the line after the last one of a list whose dashes are indented so far.
func endOf(lines []string, list *yaml.Node, indent int) int {
	end := list.Content[len(list.Content)-1].Line
	for i := end; i < len(lines); i++ {
		l := strings.TrimRight(lines[i], " \n")
		in := len(l) - len(strings.TrimLeft(l, " "))
		switch {
		case l == "":
		case in > indent:
			end = i + 1
		case strings.HasPrefix(l, "#"):
		default:
			return end
		}
	}
	return end
}

// putNode writes the whole text again, with the version in it.
func putNode(text []byte, v Version, index int, replace bool) []byte {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	root := doc.Content[0]
	root.Style = 0
	list := strict.Value(root, "versions")
	if list == nil {
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		root.Content = append(root.Content, strict.KeyNode("versions"), list)
	}
	if index > len(list.Content) || replace && index == len(list.Content) {
		return nil
	}
	list.Style = 0
	if replace {
		list.Content[index] = strict.StructNode(v, writers())
	} else {
		list.Content = slices.Insert(list.Content, index, strict.StructNode(v, writers()))
	}
	out, err := strict.Encode(&doc)
	if err != nil {
		return nil
	}
	return out
}
