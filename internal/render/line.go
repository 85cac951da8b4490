package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// JSONLine writes a document as JSON on a line of its own, in one piece. What a terminal
// would obey is escaped, as in every other format.
func JSONLine(w io.Writer, document any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(completer{}.completed(document)); err != nil {
		return fmt.Errorf("write a line of JSON: %w", err)
	}
	_, err := w.Write(escapeStrings(text.Bytes(), surrogates))
	return err
}
