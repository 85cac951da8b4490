package definition

import (
	"slices"
	"strings"
)

var (
	// enumerationWords introduce a list of all values in a description; the second group
	// matches where the words name values, and not something else.
	enumerationWords = pattern(`(?i)(?:\bone of|\beither|(\b(?:valid|allowed|possible|supported|accepted|permitted|available|legal) (?:values?|options?|choices?|settings?)(?: for [a-z]+)?(?: are| is| include)?(?: one of| either)?))(?: the following)?(?: values?| options?)?(?: are| is)?:? +`)
	// enumerationValue is one value, in quotes or plain, with or without a note in brackets.
	enumerationValue = pattern("^[\\s(\\[{]*(?:\"([^\" ]{1,40})\"|'([^' ]{1,40})'|`([^` ]{1,40})`|([A-Za-z][A-Za-z0-9_-]{0,39}))(?:\\s*\\([^)]*\\))?[)\\]}]*")
	// enumerationNext is the separator of two values, enumerationEnd what follows the last
	// plain one.
	enumerationNext = pattern(`^\s*(?:,\s*(?:and|or)\s+|\s(?:and|or)\s+|,|\||/)\s*`)
	enumerationEnd  = pattern(`^\s*(?:[.;)]|$)`)
	// enumerationOpen are words of a list that is incomplete or only an example.
	enumerationOpen = pattern(`(?i)e\.g\.|i\.e\.|for example|for instance|such as|\betc\b|\bcustom|any other|\bother values|regex|expression|plugin|among others|https?://|case[- ]insensitive|additional|extension|implementation|depends on|provider`)
)

// enumerationOf returns the values of a text field that its description lists; nil where it
// lists none, leaves the list open, or is ambiguous. False negatives are preferred.
func enumerationOf(description string) []string {
	// Most descriptions have none of these words, and the expressions are slow.
	if !enumerationHint(description) {
		return nil
	}
	text := strings.Join(strings.Fields(description), " ")
	if enumerationOpen().MatchString(text) {
		return nil
	}
	for _, at := range enumerationWords().FindAllStringSubmatchIndex(text, -1) {
		if values := enumerationList(text[at[1]:], at[2] >= 0); len(values) > 1 {
			return values
		}
	}
	return nil
}

// enumerationList reads a list of values. Plain words must be the whole sentence, and look
// like values (Always, HTTP2, round-robin), unless the description announced values.
func enumerationList(rest string, values bool) []string {
	var out []string
	quoted := true
	for {
		v := enumerationValue().FindStringSubmatch(rest)
		if v == nil {
			return nil
		}
		if plain := v[4]; plain != "" {
			quoted = false
			if !values && strings.ToLower(plain) == plain {
				return nil
			}
		}
		out = append(out, v[1]+v[2]+v[3]+v[4])
		rest = rest[len(v[0]):]
		next := enumerationNext().FindString(rest)
		if next == "" {
			break
		}
		rest = rest[len(next):]
	}
	if !quoted && !enumerationEnd().MatchString(rest) {
		return nil
	}
	return out
}

func enumerationHint(description string) bool {
	lower := strings.ToLower(description)
	return slices.ContainsFunc([]string{"one of", "either", "value", "option", "choice", "setting"}, func(w string) bool { return strings.Contains(lower, w) })
}
