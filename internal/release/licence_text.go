package release

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// texts are licences as they are written, a file each, named by its SPDX identifier; what
// comes after "-notice" or "-appendix" are texts that go with one. Case, punctuation and line
// ends do not count; what stands in {{ }} is a regular expression over lower-case words.
//
//go:embed licences/*.txt
var texts embed.FS

// classifier recognizes licences by their whole text.
type classifier struct {
	templates []template
	// headings and holders are what may surround a licence text.
	headings *regexp.Regexp
	// terms are words that grant, require or deny something: the rest of a file, without the known
	// texts, must have none of them.
	terms *regexp.Regexp
}

type template struct {
	// licence is an SPDX identifier, or empty for a part of another.
	licence string
	text    *regexp.Regexp
}

func newClassifier() (classifier, error) {
	c := classifier{
		headings: regexp.MustCompile(`\b(?:copyright notice|this notice|additional copyright|license terms|` +
			`end of terms and conditions|the mit license(?: mit)?|mit license(?: expat)?|bsd [23] clause license|isc license|apache license(?: version 2 0)?|mozilla public license version 2 0)\b`),
		terms: regexp.MustCompile(`\b(?:may|must|shall|should|not|provided|conditions?|restrict\w*|commercial\w*|grant\w*|permi\w+|prohibit\w*|` +
			`require\w*|agree\w*|warrant\w*|liab\w*|patents?|royalt\w*|fees?|unless|except|however|only|without|terminat\w*|evil|gpl|gnu|agpl|lgpl|creative|commons)\b`),
	}
	names, err := fs.Glob(texts, "licences/*.txt")
	if err != nil {
		return c, err
	}
	for _, name := range names {
		b, err := texts.ReadFile(name)
		if err != nil {
			return c, err
		}
		pattern, err := regexp.Compile(pattern(string(b)))
		if err != nil {
			return c, fmt.Errorf("%s: %w", name, err)
		}
		id := strings.TrimSuffix(path.Base(name), ".txt")
		id, _, _ = strings.Cut(id, "-notice")
		if strings.HasSuffix(id, "-appendix") {
			id = ""
		}
		c.templates = append(c.templates, template{id, pattern})
	}
	// Longest first: a text may be part of a longer one.
	slices.SortStableFunc(c.templates, func(a, b template) int { return len(b.text.String()) - len(a.text.String()) })
	return c, nil
}

// pattern returns the regular expression of a text, over words separated by one space.
func pattern(text string) string {
	var out strings.Builder
	for text != "" {
		plain, rest, found := strings.Cut(text, "{{")
		if w := words(plain); w != "" {
			out.WriteString(w + " ")
		}
		if !found {
			break
		}
		var raw string
		raw, text, _ = strings.Cut(rest, "}}")
		out.WriteString(raw)
		// An expression that may be empty includes its space.
		if !strings.HasSuffix(raw, " )?") && !strings.HasSuffix(raw, ")? )?") {
			out.WriteString(" ")
		}
	}
	return strings.TrimRight(out.String(), " ")
}

// words returns the letters and digits of a text in lower case, with one space between words.
func words(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), " ")
}

// classify returns the SPDX identifiers of all licences whose text is in a file, sorted. A file
// with other text than these, names and headings is an error.
func (c classifier) classify(text string) ([]string, error) {
	rest := words(text)
	var found []string
	for _, t := range c.templates {
		if !t.text.MatchString(rest) {
			continue
		}
		if t.licence != "" {
			found = append(found, t.licence)
		}
		rest = t.text.ReplaceAllString(rest, "|")
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no licence is known by this text (%.80q...)", words(text))
	}
	if at := c.terms.FindStringIndex(c.headings.ReplaceAllString(rest, "|")); at != nil {
		rest = c.headings.ReplaceAllString(rest, "|")
		return nil, fmt.Errorf("has the text of %s, and terms besides (...%s...)", strings.Join(found, ", "), strings.TrimSpace(rest[max(0, at[0]-60):min(len(rest), at[1]+60)]))
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
