package render_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// A strict reader of the OpenMetrics 1.0 text format, as far as gauges and counters
// without timestamps and exemplars need it: the ABNF, and the rules on names, units,
// order and uniqueness that stand beside it. A parser is laxer than the rules; this
// one has to find what a producer must not write.

func checkOpenMetrics(t *testing.T, text string) {
	t.Helper()
	if err := openMetricsError(text); err != nil {
		t.Errorf("OpenMetrics: %v in\n%s", err, text)
	}
}

var (
	omName      = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	omLabelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	omNumber    = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
)

type omFamily struct {
	name, kind, unit string
	help, sampled    bool
	labels           map[string]bool
}

func openMetricsError(text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("it is not UTF-8")
	}
	body, after, ended := strings.Cut(text, "# EOF\n")
	if !ended {
		return fmt.Errorf("it does not end in # EOF")
	}
	if after != "" {
		return fmt.Errorf("there is something after # EOF")
	}
	seen := map[string]bool{}
	var current *omFamily
	for n, line := range strings.SplitAfter(body, "\n") {
		if line == "" {
			continue
		}
		var err error
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "#") {
			current, err = omDescribe(line, current, seen)
		} else {
			err = omSample(line, current)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	return nil
}

// omDescribe reads a line # TYPE, # UNIT or # HELP.
func omDescribe(line string, current *omFamily, seen map[string]bool) (*omFamily, error) {
	parts := strings.SplitN(line, " ", 4)
	if len(parts) != 4 || parts[0] != "#" || !omName.MatchString(parts[2]) {
		return current, fmt.Errorf("%q is no line of TYPE, UNIT or HELP", line)
	}
	word, name, rest := parts[1], parts[2], parts[3]
	if current == nil || current.name != name {
		if seen[name] {
			return current, fmt.Errorf("family %s occurs twice", name)
		}
		seen[name] = true
		current = &omFamily{name: name, labels: map[string]bool{}}
	}
	if current.sampled {
		return current, fmt.Errorf("family %s is described twice or after its samples", name)
	}
	switch word {
	case "TYPE":
		if current.kind != "" || rest != "gauge" && rest != "counter" {
			return current, fmt.Errorf("the type %q of %s occurs twice or unknown", rest, name)
		}
		if current.kind = rest; rest == "counter" && strings.HasSuffix(name, "_total") {
			return current, fmt.Errorf("the family of a counter ends in _total: %s", name)
		}
	case "UNIT":
		if current.unit != "" || !strings.HasSuffix(name, "_"+rest) {
			return current, fmt.Errorf("the unit %q of %s occurs twice or no suffix of it", rest, name)
		}
		current.unit = rest
	case "HELP":
		if current.help {
			return current, fmt.Errorf("HELP of %s occurs twice", name)
		}
		current.help = true
		return current, omEscapes(rest)
	default:
		return current, fmt.Errorf("%q is no line of TYPE, UNIT or HELP", line)
	}
	return current, nil
}

// omEscapes: a backslash, a quote and a line end are escaped, and nothing else is.
func omEscapes(text string) error {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return fmt.Errorf("a quote without an escape in %q", text)
		case '\\':
			if i++; i == len(text) || !strings.ContainsRune(`\"n`, rune(text[i])) {
				return fmt.Errorf("an unknown escape in %q", text)
			}
		}
	}
	return nil
}

func omSample(line string, current *omFamily) error {
	end := strings.IndexAny(line, "{ ")
	if end < 0 {
		return fmt.Errorf("%q is no line of a sample", line)
	}
	name, rest := line[:end], line[end:]
	switch {
	case !omName.MatchString(name):
		return fmt.Errorf("%q is no name", name)
	case current == nil || current.kind == "":
		return fmt.Errorf("sample %s has no TYPE before it", name)
	case current.kind == "counter" && name != current.name+"_total":
		return fmt.Errorf("sample %s of the counter %s is not its _total", name, current.name)
	case current.kind == "gauge" && name != current.name:
		return fmt.Errorf("sample %s in the family %s", name, current.name)
	}
	labels := ""
	if strings.HasPrefix(rest, "{") {
		n, err := omLabels(rest)
		if err != nil {
			return err
		}
		labels, rest = rest[:n], rest[n:]
	}
	current.sampled = true
	if current.labels[labels] {
		return fmt.Errorf("sample %s%s occurs twice", name, labels)
	}
	current.labels[labels] = true
	if value := strings.TrimPrefix(rest, " "); value == rest || !omNumber.MatchString(value) {
		return fmt.Errorf("%q is no number", rest)
	}
	return nil
}

// omLabels returns how long the labels in braces are.
func omLabels(text string) (int, error) {
	seen := map[string]bool{}
	at := 1
	for {
		name, _, ok := strings.Cut(text[at:], `="`)
		if !ok || !omLabelName.MatchString(name) || seen[name] {
			return 0, fmt.Errorf("the label %q in %q is none, or there twice", name, text)
		}
		seen[name] = true
		at += len(name) + 2
		start := at
		for at < len(text) && text[at] != '"' {
			if text[at] == '\\' {
				at++
			}
			at++
		}
		if at >= len(text) {
			return 0, fmt.Errorf("a label value in %q does not end", text)
		}
		if err := omEscapes(text[start:at]); err != nil {
			return 0, err
		}
		switch at++; {
		case strings.HasPrefix(text[at:], "}"):
			return at + 1, nil
		case !strings.HasPrefix(text[at:], ","):
			return 0, fmt.Errorf("after a label value in %q there is neither a comma nor the end", text)
		}
		at++
	}
}
