package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// Manifest is an object as it is applied, with a comment for its reader.
type Manifest struct {
	Object  map[string]any
	Comment string
}

// Manifests writes objects for kubectl apply: YAML documents with their comments, or in JSON a List.
func Manifests(w io.Writer, format string, all []Manifest) error {
	var out bytes.Buffer
	if format == "json" {
		items := make([]any, 0, len(all))
		for _, m := range all {
			items = append(items, m.Object)
		}
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	}
	for _, m := range all {
		text, err := yaml.Marshal(m.Object)
		if err != nil {
			return err
		}
		out.WriteString("---\n")
		for line := range strings.Lines(m.Comment) {
			// Names that a manifest brought in stay in their comment.
			fmt.Fprintf(&out, "# %s\n", clean(strings.TrimSuffix(line, "\n")))
		}
		out.Write(text)
	}
	_, err := w.Write(out.Bytes())
	return err
}
