package annotations

import (
	"errors"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// expr is the text after "value:": literals[0] refs[0] literals[1] refs[1] ... literals[n].
type expr struct {
	literals []string
	refs     []ref
	// among is set if one of several names in the value must match: contains(...) and [{name:...}].
	among bool
}

// ref is one INSTANCE.<path>.
type ref struct {
	what refKind
	path field.Path
}

type refKind uint8

const (
	nameRef refKind = iota
	namespaceRef
	pathRef
)

// instanceWord is the placeholder of the custom resource in paths and values.
const instanceWord = "INSTANCE"

const nameExpr = instanceWord + ".metadata.name"

// parseExpr parses a value: a template, contains(template), [template] or [{name:template}].
func parseExpr(s span) (expr, *problem) {
	among := true
	rest, function := strings.CutPrefix(s.text, "contains")
	switch call := strings.TrimSpace(rest); {
	case function && strings.HasPrefix(call, "(") && strings.HasSuffix(call, ")"):
		open := strings.IndexByte(s.text, '(')
		s = s.to(len(s.text) - 1).from(open + 1).trim()
	case strings.HasPrefix(s.text, "[") && strings.HasSuffix(s.text, "]"):
		var err *problem
		if s, err = listItem(s.to(len(s.text) - 1).from(1).trim()); err != nil {
			return expr{}, err
		}
	default:
		among = false
	}
	e, err := parseTemplate(s)
	e.among = among
	return e, err
}

// listItem returns the template in the text between [ and ].
func listItem(s span) (span, *problem) {
	if !strings.HasPrefix(s.text, "{") || !strings.HasSuffix(s.text, "}") {
		return s.unquote()
	}
	const want = "expected [{name:" + nameExpr + "}]"
	fields, err := s.to(len(s.text) - 1).from(1).split(',')
	if err != nil {
		return span{}, err
	}
	var name *span
	for _, f := range fields {
		i := strings.IndexByte(f.text, ':')
		if i < 0 {
			return span{}, f.problem("%q is not a field: %s", field.Shorten(f.text), want)
		}
		key, err := f.to(i).trim().unquote()
		if err != nil {
			return span{}, err
		}
		value, err := f.from(i + 1).trim().unquote()
		switch {
		case err != nil:
			return span{}, err
		case key.text == "name" && name == nil:
			name = &value
		case key.text == "namespace" && value.text == instanceWord+".metadata.namespace":
			// The namespace of an item is parsed elsewhere.
		default:
			return span{}, key.problem("unexpected field %q: %s", field.Shorten(key.text), want)
		}
	}
	if name == nil {
		return span{}, s.problem("the name is missing: %s", want)
	}
	return *name, nil
}

// parseTemplate parses literal text with INSTANCE.<path> in it.
func parseTemplate(s span) (expr, *problem) {
	var e expr
	paths := 0
	for {
		i := strings.Index(s.text, instanceWord)
		if i < 0 {
			break
		}
		if err := checkLiteral(s.to(i)); err != nil {
			return expr{}, err
		}
		r, n, err := parseRef(s.from(i))
		if err != nil {
			return expr{}, err
		}
		if r.what == pathRef {
			if paths++; paths > 1 {
				return expr{}, s.from(i).problem("a second path: expected one at most, beside %s", nameExpr)
			}
		}
		e.literals, e.refs = append(e.literals, s.text[:i]), append(e.refs, r)
		s = s.from(i + n)
	}
	if err := checkLiteral(s); err != nil {
		return expr{}, err
	}
	if len(e.refs) == 0 {
		return expr{}, s.problem("the value does not use the instance: expected %s or another %s.<path>", nameExpr, instanceWord)
	}
	e.literals = append(e.literals, s.text)
	return e, nil
}

// parseRef parses INSTANCE.<path> at the start of s. Literal text may follow the name and the
// namespace without a separator, since they are strings without fields.
func parseRef(s span) (ref, int, *problem) {
	dot := len(instanceWord)
	if !strings.HasPrefix(s.text[dot:], ".") {
		return ref{}, 0, s.problem("%s has no path: expected %s or another %s.<path>", instanceWord, nameExpr, instanceWord)
	}
	text := s.text[dot+1:]
	for kind, known := range []string{nameRef: "metadata.name", namespaceRef: "metadata.namespace"} {
		if rest, ok := strings.CutPrefix(text, known); ok && (rest == "" || !field.InWord(rest[0]) && rest[0] != '[') {
			return ref{what: refKind(kind)}, dot + 1 + len(known), nil
		}
	}
	p, n, err := field.Read(text, field.InWord)
	if wrong, ok := errors.AsType[*field.Error](err); ok {
		return ref{}, 0, s.from(dot+1+wrong.Offset).problem("%s", wrong.Message)
	}
	return ref{what: pathRef, path: p}, dot + 1 + n, nil
}

func checkLiteral(s span) *problem {
	i := strings.IndexAny(s.text, "()[]{}\"' \t\r\n")
	if i < 0 {
		return nil
	}
	return s.from(i).problem("unexpected %s in the value: expected %s with literal text around it, contains(%s) or [{name:%s}]", firstRune(s.text[i:]), nameExpr, nameExpr, nameExpr)
}
