package object

import (
	"fmt"
	"strings"
)

// Count writes a number of things: 1 pod, 3 pods, 2 classes, 2 policies.
func Count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"):
		return fmt.Sprintf("%d %ses", n, noun)
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// AndList joins all of some words for a sentence: a, b and c.
func AndList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// ShortList joins words for a sentence, and counts what is beyond the first few: a, b, c and
// 3 more.
func ShortList(words []string) string {
	const shown = 4
	if len(words) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:shown-1], ", "), len(words)-shown+1)
	}
	return AndList(words)
}

// FirstWords writes the first n of a list as a value, not as part of a sentence: a, b, c. It
// counts the others, where there are at least two.
func FirstWords(words []string, n int) string {
	if len(words) <= n+1 {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}

// CountAre begins a sentence about a number of things: 1 pod is, 3 pods are.
func CountAre(n int, noun string) string {
	if n == 1 {
		return Count(n, noun) + " is"
	}
	return Count(n, noun) + " are"
}
