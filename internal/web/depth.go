package web

import "fmt"

// maxBodyDepth limits the nesting of JSON in a request: values in a manifest are read a hundred
// deep, and other code is recursive.
const maxBodyDepth = 200

// checkDepth refuses JSON that is nested deeper than maxBodyDepth, before it is decoded. It accepts
// any bytes.
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
