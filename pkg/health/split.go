package health

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// join joins words that have one meaning together, in place.
func join(words []string) []string {
	out := words[:0]
	for _, w := range words {
		if n := len(out); n > 0 {
			if one, ok := joined[[2]string{out[n-1], w}]; ok {
				out[n-1] = one
				continue
			}
		}
		out = append(out, w)
	}
	return out
}

// split appends the words of s in lower case, as far as there is room. It splits CamelCase,
// snake_case, and words with spaces and signs between them; HTTPRoute is two words, and n't is not.
func split(words []string, s string) []string {
	start := 0
	for start < len(s) && len(words) < cap(words) {
		r, size := utf8.DecodeRuneInString(s[start:])
		if !letter(r) {
			start += size
			continue
		}
		end := start + size
		prev := r
		for end < len(s) {
			next, size := utf8.DecodeRuneInString(s[end:])
			if !letter(next) || boundary(prev, next, s[end+size:]) {
				break
			}
			prev = next
			end += size
		}
		words = append(words, strings.ToLower(s[start:end]))
		start = end
	}
	return words
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// boundary reports whether a new word starts at next: a capital after a small letter, or the last
// of several capitals before a small letter.
func boundary(prev, next rune, rest string) bool {
	if !unicode.IsUpper(next) {
		return false
	}
	if !unicode.IsUpper(prev) {
		return true
	}
	after, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLower(after)
}
