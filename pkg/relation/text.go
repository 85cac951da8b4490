package relation

import "strings"

// number reports whether s consists of decimal digits.
func number(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// isKey reports whether s may be the key of a pair: words, with no punctuation but that of names.
func isKey(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && !isDigit(c) && c != '_' && c != '-' && c != ' ' {
			return false
		}
	}
	return strings.TrimSpace(s) != ""
}

func inScheme(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '+' || c == '-' || c == '.' || c == ':'
}

func isLetter(c byte) bool { return isLower(c) || isUpper(c) }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// isSeparator reports whether c may surround a URL or a host.
func isSeparator(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ';', '|', '"', '\'', '[', ']', '{', '}', '<', '>':
		return true
	}
	return false
}

// trim removes the separators on both ends; strings.Trim is too slow here.
func trim(s string) string {
	for len(s) > 0 && isSeparator(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSeparator(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func authorityEnd(text string) int {
	for i := range len(text) {
		if c := text[i]; c == '/' || c == '?' || c == '#' || c == ';' {
			return i
		}
	}
	return len(text)
}

func pathEnd(text string) int {
	for i := range len(text) {
		if c := text[i]; c == '?' || c == '#' || c == ';' {
			return i
		}
	}
	return len(text)
}

// spaced reports whether a text has white space inside.
func spaced(text string) bool {
	for i := range len(text) {
		if c := text[i]; c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			return true
		}
	}
	return false
}
