package render

import (
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/view"
)

func asJSON(w io.Writer, a view.Answer, _ Options) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(a.Document)
}

func asYAML(w io.Writer, a view.Answer, _ Options) error {
	b, err := yaml.Marshal(a.Document)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
