package system

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Bounds of filling in a template. A manifest may come from a cluster, and a short template could
// otherwise run forever, or use all memory.
const (
	maxRendered = 1 << 20         // bytes that come out
	maxProduced = 8 << 20         // bytes that functions return on the way
	maxSteps    = 200_000         // nodes of loops that are gone through
	callSteps   = 1000            // what a call of another template counts
	maxTime     = 5 * time.Second // behind the other bounds
)

// fill reads what a template is filled in to: YAML documents, an object each.
func (r *reader) fill(s scope, n *yaml.Node, app string) []*unstructured.Unstructured {
	text := s.text(n)
	if text == "" {
		return nil
	}
	out, err := render(text, templateInput(r.sys))
	if err != nil {
		s.add(templateProblem(n, app, err))
		return nil
	}
	docs, problem := strict.Documents(out)
	if problem != nil {
		s.report(n, "the template of app %s renders to %s (line %d of the output)", app, problem.Message, problem.Line)
		return nil
	}
	var all []*unstructured.Unstructured
	for i, doc := range docs {
		if doc.ShortTag() == "!!null" {
			continue // an empty document between two lines of dashes
		}
		inner := scope{&reader{sys: r.sys}, ""}
		if o := inner.resource(doc); o != nil {
			all = append(all, o)
		}
		for _, p := range inner.r.problems {
			s.report(n, "document %d of the template of app %s, line %d of the output: %s", i+1, app, p.Line, p.Message)
		}
	}
	return all
}

// templateInput is what a template knows.
func templateInput(sys *System) map[string]any {
	values := sys.Values
	if values == nil {
		values = map[string]any{}
	}
	return map[string]any{"Values": values, "System": sys.Name, "Namespace": sys.Namespace}
}

// inTemplate is where text/template says that something is wrong.
var inTemplate = lazyregexp.New(`^template: [^:]*:(\d+)(?::\d+)?: `)

// templateProblem finds the line of the manifest. A block of text begins on the line after
// its |; in quotes it is all on one line.
func templateProblem(n *yaml.Node, app string, err error) strict.Problem {
	p := strict.At(n, "the template of app %s: %s", app, err)
	found := inTemplate.FindStringSubmatch(err.Error())
	if found == nil {
		return p
	}
	line, _ := strconv.Atoi(found[1])
	p.Message = fmt.Sprintf("the template of app %s, line %d: %s", app, line, strings.TrimPrefix(err.Error(), found[0]))
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		p.Line, p.Column = n.Line+line, 1
	}
	return p
}

// render fills a template in, within the bounds.
func render(text string, input map[string]any) ([]byte, error) {
	b := &bounds{until: time.Now().Add(maxTime)}
	t, err := template.New("resources").Option("missingkey=error").Funcs(b.functions()).Parse(text)
	if err != nil {
		return nil, err
	}
	for _, one := range t.Templates() {
		if one.Tree != nil && one.Root != nil {
			b.watch(one.Root)
			b.prepend(one.Root, callSteps)
		}
	}
	out := &bounded{}
	if err := t.Execute(out, input); err != nil {
		return nil, err
	}
	return out.text, nil
}

// bounded keeps what is written, as far as there may be.
type bounded struct{ text []byte }

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > maxRendered {
		return 0, errors.New("its output has more than 1 MiB")
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

// bounds counts what a template does.
type bounds struct {
	steps, made int
	until       time.Time
}

// watch puts a count at the beginning of each turn of a loop: text/template itself cannot
// be stopped in one that writes nothing.
func (b *bounds) watch(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, inner := range n.Nodes {
			b.watch(inner)
		}
	case *parse.IfNode:
		b.watch(n.List)
		b.watch(n.ElseList)
	case *parse.WithNode:
		b.watch(n.List)
		b.watch(n.ElseList)
	case *parse.RangeNode:
		b.watch(n.List)
		b.watch(n.ElseList)
		b.prepend(n.List, 1+len(n.List.Nodes))
	}
}

// prepend makes a list count itself.
func (b *bounds) prepend(list *parse.ListNode, weight int) {
	t, err := parse.Parse("count", "{{"+countName+" "+strconv.Itoa(weight)+"}}", "{{", "}}", map[string]any{countName: b.count})
	if err != nil {
		panic("system: the count of a template does not parse: " + err.Error())
	}
	list.Nodes = append(slices.Clone(t["count"].Root.Nodes), list.Nodes...)
}

// countName is a function that a template gets in addition to those of a manifest.
const countName = "sysopCount"

func (b *bounds) count(n int) (string, error) {
	if b.steps += max(n, 1); b.steps > maxSteps {
		return "", errors.New("it does not terminate: it has a loop, or a template that calls itself")
	}
	if time.Now().After(b.until) {
		return "", errors.New("it takes too long")
	}
	return "", nil
}

// take accounts for text that a function makes.
func (b *bounds) take(size int) error {
	if b.made += size; b.made > maxProduced {
		return errors.New("its intermediate output is too large")
	}
	return nil
}

func (b *bounds) text(s string) (string, error) { return s, b.take(len(s)) }

// functions are the functions of a manifest. None of them reads a file, the environment or the
// network; print and its kin are those of text/template, within bounds, without the functions for
// web pages.
func (b *bounds) functions() template.FuncMap {
	all := template.FuncMap{
		countName:  b.count,
		"toYaml":   b.toYAML,
		"indent":   b.indent,
		"nindent":  func(n int, text string) (string, error) { s, err := b.indent(n, text); return "\n" + s, err },
		"quote":    b.quote,
		"default":  orDefault,
		"required": required,
		"print":    func(args ...any) (string, error) { return b.text(fmt.Sprint(args...)) },
		"println":  func(args ...any) (string, error) { return b.text(fmt.Sprintln(args...)) },
		"printf":   b.printf,
	}
	for _, name := range []string{"html", "js", "urlquery", "call"} {
		all[name] = func(...any) (string, error) { return "", errors.New("it is not available in a manifest") }
	}
	return all
}

func (b *bounds) toYAML(v any) (string, error) {
	out, err := yaml.Marshal(strict.ValueNode(v))
	if err != nil {
		return "", err
	}
	return b.text(strings.TrimSuffix(string(out), "\n"))
}

func (b *bounds) indent(n int, text string) (string, error) {
	if n < 0 || n > 100 {
		return "", fmt.Errorf("indent by %d: expected 0 to 100 columns", n)
	}
	if err := b.take(len(text) + n*(1+strings.Count(text, "\n"))); err != nil {
		return "", err
	}
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(text, "\n", "\n"+pad), nil
}

// quote writes a value as text in quotes, which YAML and JSON read alike.
func (b *bounds) quote(v any) (string, error) {
	text := ""
	if v != nil {
		text = fmt.Sprint(v)
	}
	if err := b.take(2 * len(text)); err != nil {
		return "", err
	}
	return quoted(text), nil
}

// wide are widths and positions by which a short format makes a long text.
var wide = lazyregexp.New(`[0-9]{4,}|%[^a-zA-Z%]*[*\[]`)

func (b *bounds) printf(format string, args ...any) (string, error) {
	if len(format) > 1000 || wide.MatchString(format) {
		return "", errors.New("printf requires a short format, with literal widths below 1000")
	}
	return b.text(fmt.Sprintf(format, args...))
}

// orDefault returns a value, or a default where it is empty.
func orDefault(fallback, value any) any {
	if truth, _ := template.IsTrue(value); !truth {
		return fallback
	}
	return value
}

// required returns a value, or fails with a message where it is empty.
func required(message string, value any) (any, error) {
	if truth, _ := template.IsTrue(value); !truth && value != false && value != int64(0) {
		return nil, errors.New(message)
	}
	return value, nil
}
