package web

import "fmt"

// maxBodyDepth is how deep the JSON of a request may be nested: free values of a manifest are
// read a hundred deep, and what reads them further calls itself.
const maxBodyDepth = 200

// checkDepth refuses JSON that is nested deeper than maxBodyDepth, before it is decoded. It
// takes any bytes.
func checkDepth(body []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxBodyDepth {
				return fmt.Errorf("it is nested more than %d deep", maxBodyDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}
