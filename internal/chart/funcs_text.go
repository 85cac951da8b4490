package chart

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// textFuncs returns the functions whose result may be far larger than their arguments. Each
// computes the size first, and then calls Helm's function.
func textFuncs() template.FuncMap {
	all := sprig.TxtFuncMap()
	funcs := template.FuncMap{"printf": printf, "seq": seq, "fromYaml": fromYAML, "fromYamlArray": fromYAMLArray}
	checks := map[string]any{
		"join": checkJoin, "wrapWith": checkWrap,
		"split": checkSplit, "splitList": checkSplit, "splitn": checkSplitN,
		"regexReplaceAll": checkRegexReplace, "mustRegexReplaceAll": checkRegexReplace,
		"regexReplaceAllLiteral": checkRegexReplace, "mustRegexReplaceAllLiteral": checkRegexReplace,
		"regexFindAll": checkRegexItems, "mustRegexFindAll": checkRegexItems,
		"regexSplit": checkRegexItems, "mustRegexSplit": checkRegexItems,
	}
	for name, check := range checks {
		funcs[name] = checked(check, all[name])
	}
	return funcs
}

// checked returns a function that calls f, unless check, with the same arguments, returns an error.
func checked(check, f any) any {
	c, g := reflect.ValueOf(check), reflect.ValueOf(f)
	t := g.Type()
	in := make([]reflect.Type, 0, t.NumIn())
	for p := range t.Ins() {
		in = append(in, p)
	}
	failure := reflect.TypeFor[error]()
	wrapped := reflect.FuncOf(in, []reflect.Type{t.Out(0), failure}, t.IsVariadic())
	return reflect.MakeFunc(wrapped, func(args []reflect.Value) []reflect.Value {
		if err := c.Call(args)[0]; !err.IsNil() {
			return []reflect.Value{reflect.Zero(t.Out(0)), err}
		}
		out := g.Call(args)
		if len(out) == 1 {
			out = append(out, reflect.Zero(failure))
		}
		return out
	}).Interface()
}

var (
	errText  = fmt.Errorf("the text exceeds the limit of %d bytes", maxTextBytes)
	errItems = fmt.Errorf("more than %d items are requested", maxItems)
)

func checkJoin(sep string, v any) error {
	list := reflect.ValueOf(v)
	if k := list.Kind(); k != reflect.Slice && k != reflect.Array {
		return nil
	}
	size := 0
	for i := range list.Len() {
		size += len(sep)
		switch item := list.Index(i).Interface().(type) {
		case string:
			size += len(item)
		case []byte:
			size += len(item)
		}
		if size > maxTextBytes {
			return errText
		}
	}
	return nil
}

func checkWrap(width int, sep, text string) error {
	lines := 2*len(text)/max(width, 1) + strings.Count(text, "\n") + 2
	if len(sep) > 0 && lines > maxTextBytes/len(sep) {
		return errText
	}
	return nil
}

func checkSplit(sep, text string) error {
	if len(text) >= maxItems && strings.Count(text, sep) >= maxItems {
		return errItems
	}
	return nil
}

func checkSplitN(sep string, n int, text string) error {
	if n >= 0 && n <= maxItems {
		return nil
	}
	return checkSplit(sep, text)
}

// checkRegexReplace limits the result: each match is replaced, and each $ in the replacement may be
// the whole match.
func checkRegexReplace(regex, text, with string) error {
	most := func(matches int) bool {
		return len(with) > 0 && matches > maxTextBytes/len(with) || strings.Count(with, "$") > maxTextBytes/(len(text)+1)
	}
	if !most(len(text) + 1) {
		return nil
	}
	re, err := regexp.Compile(regex)
	if err != nil {
		return fmt.Errorf("%s: %w", strconv.Quote(regex), err)
	}
	if most(len(re.FindAllStringIndex(text, maxItems))) {
		return errText
	}
	if len(re.FindAllStringIndex(text, maxItems+1)) > maxItems {
		return errItems
	}
	return nil
}

func checkRegexItems(regex, text string, n int) error {
	if len(text) < maxItems || n >= 0 && n <= maxItems {
		return nil
	}
	re, err := regexp.Compile(regex)
	if err != nil {
		return fmt.Errorf("%s: %w", strconv.Quote(regex), err)
	}
	if len(re.FindAllStringIndex(text, maxItems+1)) > maxItems {
		return errItems
	}
	return nil
}

// maxWidth is the largest width or precision that fmt accepts.
const maxWidth = 1_000_000

var formatNumber = regexp.MustCompile(`[0-9]+|\*`)

// printf limits the result by the widths in a format, and by the number of times that the longest
// argument may occur.
func printf(format string, args ...any) (string, error) {
	longest := 0
	for _, a := range args {
		switch a := a.(type) {
		case string:
			longest = max(longest, len(a))
		case []byte:
			longest = max(longest, len(a))
		}
	}
	size := len(format)
	for i, part := range strings.Split(format, "%") {
		if i == 0 {
			continue
		}
		verb := part[:min(len(part), 64)]
		if end := strings.IndexFunc(verb, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }); end >= 0 {
			verb = verb[:end]
		}
		for _, number := range formatNumber.FindAllString(verb, -1) {
			if n, err := strconv.Atoi(number); err == nil && n <= maxWidth {
				size += n
			} else if number == "*" {
				size += maxWidth
			}
		}
		if size += longest; size > maxTextBytes {
			return "", errText
		}
	}
	return fmt.Sprintf(format, args...), nil
}

// seq is sprig's, which is a shell's.
func seq(params ...int) (string, error) {
	from, to, step := 1, 0, 1
	switch len(params) {
	case 1:
		to = params[0]
	case 2:
		from, to = params[0], params[1]
	case 3:
		from, step, to = params[0], params[1], params[2]
	}
	distance := uint64(max(from, to)) - uint64(min(from, to))
	if step != 0 && distance/uint64(max(step, -step)) >= maxItems {
		return "", fmt.Errorf("more than %d numbers are requested", maxItems)
	}
	original, ok := sprig.TxtFuncMap()["seq"].(func(...int) string)
	if !ok {
		return "", errors.New("sprig has no seq")
	}
	return original(params...), nil
}

// fromYAML is Helm's, which returns an error in the field Error.
func fromYAML(text string) (map[string]any, error) {
	m := map[string]any{}
	if err := strict.CheckBounds([]byte(text)); err != nil {
		return nil, err
	}
	if err := sigsyaml.Unmarshal([]byte(text), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m, nil
}

func fromYAMLArray(text string) ([]any, error) {
	a := []any{}
	if err := strict.CheckBounds([]byte(text)); err != nil {
		return nil, err
	}
	if err := sigsyaml.Unmarshal([]byte(text), &a); err != nil {
		a = []any{err.Error()}
	}
	return a, nil
}
