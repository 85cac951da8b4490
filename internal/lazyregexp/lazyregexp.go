// Package lazyregexp compiles a regular expression when it is first used: those of package
// variables would otherwise slow down every command.
package lazyregexp

import (
	"regexp"
	"sync"
	"testing"
)

// Regexp is a regular expression that is compiled by its first use.
type Regexp struct{ compiled func() *regexp.Regexp }

// New is regexp.MustCompile at the first use; in a test at once, so that a wrong expression
// is found.
func New(expression string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
	if testing.Testing() {
		r.compiled()
	}
	return r
}

// MatchString is Regexp.MatchString of package regexp, as are the methods below.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindStringSubmatch see MatchString.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindAllString see MatchString.
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

// ReplaceAllString see MatchString.
func (r *Regexp) ReplaceAllString(s, replacement string) string {
	return r.compiled().ReplaceAllString(s, replacement)
}

// ReplaceAllStringFunc see MatchString.
func (r *Regexp) ReplaceAllStringFunc(s string, replace func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, replace)
}
