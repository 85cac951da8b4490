package skeleton

import (
	"fmt"
	"strconv"
	"strings"
)

// line is a line of a file with its number, from 1.
type line struct {
	number int
	text   string
}

// reader reads one file: first its parts, then their content, since a type may be defined after its
// use.
type reader struct {
	name    string
	sources []string
	shapes  map[string]map[string]any
	// subtrees are the lines of the types and shapes of the file, by name; made are the parsed
	// ones. One that is being parsed is nil.
	subtrees map[string][]line
	made     map[string]map[string]any
	heads    []head
}

// head is the part of a kind: its line, and the versions below it.
type head struct {
	line
	versions []version
}

type version struct {
	line
	fields []line
}

func newReader(name string, shapes map[string]map[string]any) *reader {
	return &reader{name: name, shapes: shapes, subtrees: map[string][]line{}, made: map[string]map[string]any{}}
}

func (r *reader) refuse(l line, format string, args ...any) error {
	return fmt.Errorf("read the skeletons: %s:%d: %s", r.name, l.number, fmt.Sprintf(format, args...))
}

// parts sorts the lines of a file.
func (r *reader) parts(text string) error {
	var add func(line)
	for i, s := range strings.Split(text, "\n") {
		l := line{i + 1, strings.TrimSuffix(s, "\r")}
		word, rest, _ := strings.Cut(l.text, " ")
		switch word {
		case "":
			add = nil
		case "#":
			if _, source, ok := strings.Cut(rest, " "); ok && strings.HasPrefix(source, "repo=") {
				r.sources = append(r.sources, source)
			}
		case "type:", "shape:":
			r.subtrees[rest] = nil
			add = func(l line) { r.subtrees[rest] = append(r.subtrees[rest], l) }
		case "kind:":
			r.heads = append(r.heads, head{line: line{l.number, rest}})
			add = nil
		case "version:":
			if len(r.heads) == 0 {
				return r.refuse(l, "a version without a kind")
			}
			h := &r.heads[len(r.heads)-1]
			h.versions = append(h.versions, version{line: line{l.number, rest}})
			v := &h.versions[len(h.versions)-1]
			add = func(l line) { v.fields = append(v.fields, l) }
		default:
			if add == nil {
				return r.refuse(l, "a field that belongs to nothing")
			}
			add(l)
		}
	}
	return nil
}

// subtree parses a type or a shape.
func (r *reader) subtree(name string) (map[string]any, error) {
	if schema, begun := r.made[name]; begun {
		if schema == nil {
			return nil, fmt.Errorf("read the skeletons: %s: %s is part of itself", r.name, name)
		}
		return schema, nil
	}
	lines, own := r.subtrees[name]
	if !own {
		schema := r.shapes[name]
		if schema == nil {
			return nil, fmt.Errorf("read the skeletons: %s: nothing says what %s is", r.name, name)
		}
		return schema, nil
	}
	r.made[name] = nil
	schema, err := r.fields(lines)
	if err != nil {
		return nil, err
	}
	r.made[name] = schema
	return schema, nil
}

// kinds returns a definition of each kind.
func (r *reader) kinds() ([]Kind, error) {
	all := make([]Kind, 0, len(r.heads))
	for _, h := range r.heads {
		k, err := r.kind(h)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

func (r *reader) kind(h head) (Kind, error) {
	words := strings.Fields(h.text)
	if len(words) == 0 {
		return Kind{}, r.refuse(h.line, "a kind without a name")
	}
	kind, group, _ := strings.Cut(words[0], ".")
	about := map[string]string{}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		about[key] = value
	}
	k := Kind{}
	if n := about["repo"]; n != "" {
		number, err := strconv.Atoi(n)
		if err != nil || number < 1 || number > len(r.sources) {
			return Kind{}, r.refuse(h.line, "no source %s is named", n)
		}
		k.Source = number - 1
	}
	schemas := map[string]map[string]any{}
	for _, v := range h.versions {
		name, other, same := strings.Cut(v.text, " =")
		schema, err := r.fields(v.fields)
		if err != nil {
			return Kind{}, err
		}
		if same {
			schema = schemas[other]
		}
		schemas[name] = schema
	}
	names := map[string]any{"kind": kind, "plural": about["plural"]}
	if short := about["short"]; short != "" {
		var list []any
		for s := range strings.SplitSeq(short, ",") {
			list = append(list, s)
		}
		names["shortNames"] = list
	}
	k.Definition = map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": about["plural"] + "." + group},
		"spec": map[string]any{
			"group": group, "names": names, "scope": about["scope"],
			"versions": versionsOf(about, schemas),
		},
	}
	return k, nil
}

// versionsOf returns the versions of a definition: versions=v1(stored,served),v1beta1(served).
func versionsOf(about map[string]string, schemas map[string]map[string]any) []any {
	var all []any
	status := strings.Split(about["status"], ",")
	for text := range strings.SplitSeq(strings.TrimSuffix(about["versions"], ")"), "),") {
		name, flags, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
		v := map[string]any{"name": name, "served": false, "storage": false}
		for f := range strings.SplitSeq(flags, ",") {
			switch f {
			case "served", "deprecated":
				v[f] = true
			case "stored":
				v["storage"] = true
			}
		}
		if schema := schemas[name]; schema != nil {
			v["schema"] = map[string]any{"openAPIV3Schema": schema}
		}
		subresources := map[string]any{}
		for _, s := range status {
			if s == "yes" || s == name {
				subresources["status"] = map[string]any{}
			}
		}
		if scale := scaleOf(about["scale"]); scale != nil {
			subresources["scale"] = scale
		}
		if len(subresources) > 0 {
			v["subresources"] = subresources
		}
		all = append(all, v)
	}
	return all
}

func scaleOf(text string) map[string]any {
	if text == "" {
		return nil
	}
	scale := map[string]any{}
	paths := strings.Split(text, ",")
	for i, key := range []string{"specReplicasPath", "statusReplicasPath", "labelSelectorPath"} {
		if i < len(paths) {
			scale[key] = "." + paths[i]
		}
	}
	return scale
}
