package view

// Page is text for people in sections, as a manual page has it.
type Page struct {
	Sections []Section
}

// Section is a part of a page under a title.
type Section struct {
	Title  string
	Blocks []Block
}

// Block is a piece of a section; one of its fields is set.
type Block struct {
	// Text is a paragraph, which is wrapped.
	Text string
	// Pairs are terms with what is to be said of each, side by side.
	Pairs []Pair
	// Items are headed texts, one under the other.
	Items []Item
	Table *Table
	// Verbatim is laid out by its author, and not wrapped.
	Verbatim string
}

// Pair is a term and what is to be said of it.
type Pair struct{ Term, Text string }

// Item is a head, what is to be said beside it, and a text below it.
type Item struct{ Head, Note, Text string }

// PairsOf is a block of terms, each with its text after it; it leaves out terms of which there
// is nothing to say, and is empty for none.
func PairsOf(termsAndTexts ...string) []Block {
	var pairs []Pair
	for i := 0; i+1 < len(termsAndTexts); i += 2 {
		if text := termsAndTexts[i+1]; text != "" {
			pairs = append(pairs, Pair{termsAndTexts[i], text})
		}
	}
	if pairs == nil {
		return nil
	}
	return []Block{{Pairs: pairs}}
}
