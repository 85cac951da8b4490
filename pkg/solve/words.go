package solve

import "strings"

func joined(words []string) string { return strings.Join(words, ", ") }
