package manual

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// hints are realistic values for fields, by the suffix of their name.
var hints = []struct{ end, value string }{
	{"schedule", "0 3 * * *"},
	{"cron", "0 3 * * *"},
	{"image", "registry.example.com/image:tag"},
	{"email", "admin@example.com"},
	{"url", "https://example.com"},
	{"uri", "https://example.com"},
	{"host", "example.com"},
	{"hostname", "example.com"},
	{"domain", "example.com"},
	{"size", "1Gi"},
	{"storage", "1Gi"},
	{"memory", "1Gi"},
	{"cpu", "500m"},
	{"interval", "1m"},
	{"timeout", "1m"},
	{"duration", "1h"},
	{"ttl", "1h"},
}

var formats = map[string]string{
	"date-time": "2026-01-31T12:00:00Z", "date": "2026-01-31", "duration": "1h", "email": "admin@example.com", "uri": "https://example.com",
	"hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "cidr": "192.0.2.0/24", "uuid": "11111111-2222-4333-8444-555555555555",
	"byte": "ZXhhbXBsZQ==", "password": "example",
}

// sample returns a text that the schema accepts, for a field of the name. If it finds none,
// validation reports the text.
func sample(name string, schema map[string]any) string {
	var tries []string
	if f := formats[textOf(schema, "format")]; f != "" {
		tries = append(tries, f)
	}
	lower := strings.ToLower(name)
	for _, h := range hints {
		if strings.HasSuffix(lower, h.end) {
			tries = append(tries, h.value)
		}
	}
	tries = append(tries, "example", "1Gi", "1", "10s", "1h", "1.0.0", "v1.0.0", "example.com", "example.com/example", "https://example.com")
	if pattern := textOf(schema, "pattern"); pattern != "" {
		if s, ok := matching(pattern); ok {
			tries = append(tries, s)
		}
	}
	for _, s := range tries {
		for _, fitted := range []string{s, fit(s, schema)} {
			c := &checker{}
			c.value("", schema, fitted, false)
			if len(c.problems) == 0 {
				return fitted
			}
		}
	}
	return "example"
}

// fit adjusts the length of a text.
func fit(s string, schema map[string]any) string {
	const longest = 1 << 12
	if n, ok := numberOf(schema, "minLength"); ok && utf8.RuneCountInString(s) < int(n) {
		s += strings.Repeat("x", min(int(n), longest)-min(utf8.RuneCountInString(s), longest))
	}
	if n, ok := numberOf(schema, "maxLength"); ok && n >= 0 && utf8.RuneCountInString(s) > int(n) {
		s = string([]rune(s)[:int(n)])
	}
	return s
}

// matching returns a short text that a regular expression matches.
func matching(pattern string) (string, bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	write(&b, re)
	whole, err := regexp.Compile(pattern)
	return b.String(), err == nil && whole.MatchString(b.String())
}

// write generates a text for an expression: the first alternative, and the fewest repetitions.
func write(b *strings.Builder, re *syntax.Regexp) {
	const enough = 1 << 12
	if b.Len() > enough {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(among(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture, syntax.OpPlus:
		write(b, re.Sub[0])
	case syntax.OpRepeat:
		for range re.Min {
			write(b, re.Sub[0])
		}
	case syntax.OpConcat:
		for _, s := range re.Sub {
			write(b, s)
		}
	case syntax.OpAlternate:
		write(b, re.Sub[0])
	}
}

// among returns a character of a class: a letter or a digit if possible.
func among(ranges []rune) rune {
	for _, want := range "ax1A" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}
