package strict

import "fmt"

// MaxNodes is how many nodes YAML may have that is parsed as a whole, as CountNodes counts
// them. A node takes about 200 bytes, and its text two.
const MaxNodes = 2_000_000

// CheckNodes refuses a text that could have more nodes than MaxNodes.
func CheckNodes(text []byte) error {
	if len(text) <= MaxNodes { // no node is shorter than a byte
		return nil
	}
	if n := CountNodes(text); n > MaxNodes {
		return fmt.Errorf("it has about %d nodes (keys, values, items): at most %d are read", n, MaxNodes)
	}
	return nil
}

// CountNodes counts, without parsing, how many nodes a text could have as YAML. It is never
// less than what there is: every node but the first has an indicator of its own, and an
// indicator within text counts as if it were one.
func CountNodes(text []byte) int {
	nodes := 2
	for i, c := range text {
		switch c {
		case ':', ',', '?':
			nodes += 2 // a key and its value, or null
		case '[', '{':
			nodes += 3 // itself, and the first pair in it
		case '-':
			// Blanks and breaks, those of Unicode and the zeros of UTF-16 among them.
			if i+1 == len(text) || text[i+1] <= ' ' || text[i+1] >= 0x80 {
				nodes += 2 // an item, or a sequence with one
			}
		}
	}
	return nodes
}
