package chart

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"text/template"
)

// maxTextBytes limits the result of one call of a template function, in bytes, and maxItems the
// number of items.
const (
	maxTextBytes = 64 << 20
	maxItems     = 1_000_000
)

// EngineFuncs returns the template functions that replace Helm's in a run
// (action.Configuration.CustomTemplateFuncs), so that a run renders as the plan did. They return
// what Helm's do, but refuse to create gigabytes in one call; and without lookup, lookup finds
// nothing.
func EngineFuncs(lookup bool) template.FuncMap {
	funcs := template.FuncMap{
		"until":     func(n int) ([]int, error) { return sequence(0, n, sign(n)) },
		"untilStep": sequence,
		"repeat":    repeat,
		"indent":    indent,
		"nindent": func(n int, s string) (string, error) {
			text, err := indent(n, s)
			return "\n" + text, err
		},
		"replace": replace,
		"randBytes": func(n int) (string, error) {
			if err := fits(n); err != nil {
				return "", err
			}
			b := make([]byte, n)
			_, err := rand.Read(b)
			return base64.StdEncoding.EncodeToString(b), err
		},
	}
	maps.Copy(funcs, randoms())
	maps.Copy(funcs, textFuncs())
	if !lookup {
		funcs["lookup"] = func(string, string, string, string) (map[string]any, error) { return map[string]any{}, nil }
	}
	return funcs
}

func randoms() template.FuncMap {
	const (
		digits  = "0123456789"
		letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	)
	var ascii strings.Builder
	for c := ' '; c <= '~'; c++ {
		ascii.WriteRune(c)
	}
	generate := func(alphabet string) func(int) (string, error) {
		return func(n int) (string, error) { return random(n, alphabet) }
	}
	return template.FuncMap{
		"randAlphaNum": generate(digits + letters), "randAlpha": generate(letters), "randNumeric": generate(digits), "randAscii": generate(ascii.String()),
	}
}

// random returns n characters of an alphabet, uniformly distributed.
func random(n int, alphabet string) (string, error) {
	if err := fits(n); err != nil {
		return "", err
	}
	// Larger bytes would favor the first characters.
	fair := 256 - 256%len(alphabet)
	out := make([]byte, 0, n)
	buf := make([]byte, 256)
	for len(out) < n {
		if _, err := rand.Read(buf); err != nil {
			return "", err
		}
		for _, b := range buf {
			if int(b) < fair && len(out) < n {
				out = append(out, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(out), nil
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

func fits(n int) error {
	if n < 0 || n > maxTextBytes {
		return fmt.Errorf("a text of %d bytes exceeds the limit of %d", n, maxTextBytes)
	}
	return nil
}

func sequence(start, stop, step int) ([]int, error) {
	v := []int{}
	down := stop < start
	if down && step >= 0 || !down && step <= 0 {
		return v, nil
	}
	for i := start; down && i > stop || !down && i < stop; i += step {
		if len(v) == maxItems {
			return nil, fmt.Errorf("more than %d numbers are requested", maxItems)
		}
		v = append(v, i)
	}
	return v, nil
}

func repeat(n int, s string) (string, error) {
	if n < 0 || len(s) > 0 && n > maxTextBytes/len(s) {
		return "", fmt.Errorf("a text of %d bytes repeated %d times exceeds the limit of %d bytes", len(s), n, maxTextBytes)
	}
	return strings.Repeat(s, n), nil
}

func indent(n int, s string) (string, error) {
	lines := strings.Count(s, "\n") + 1
	if n < 0 || n > maxTextBytes/lines {
		return "", fmt.Errorf("%d lines indented by %d exceed the limit of %d bytes", lines, n, maxTextBytes)
	}
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

func replace(old, with, s string) (string, error) {
	if n := strings.Count(s, old); len(with) > 0 && n > maxTextBytes/len(with) {
		return "", fmt.Errorf("%d replacements of %d bytes each exceed the limit of %d bytes", n, len(with), maxTextBytes)
	}
	return strings.ReplaceAll(s, old, with), nil
}
