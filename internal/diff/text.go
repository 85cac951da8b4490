package diff

import (
	"encoding/base64"
	"fmt"
	"io"

	"github.com/aymanbagabas/go-udiff"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// secretData returns the content of a Secret in the form of data.
func secretData(u *unstructured.Unstructured) map[string]string {
	out := map[string]string{}
	if u == nil {
		return out
	}
	if data, ok := u.Object["data"].(map[string]any); ok {
		for k, v := range data {
			out[k] = fmt.Sprint(v)
		}
	}
	if texts, ok := u.Object["stringData"].(map[string]any); ok {
		for k, v := range texts {
			out[k] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(v)))
		}
	}
	return out
}

// Write writes differences as a unified diff of YAML, object by object.
func Write(w io.Writer, all []Difference) error {
	for i := range all {
		d := &all[i]
		from, to := "a/"+d.Object.String(), "b/"+d.Object.String()
		switch d.What {
		case Added:
			from = "/dev/null"
		case Removed:
			to = "/dev/null"
		}
		if _, err := io.WriteString(w, udiff.Unified(from, to, text(d.live), text(d.want))); err != nil {
			return err
		}
	}
	return nil
}

func text(u *unstructured.Unstructured) string {
	if u == nil {
		return ""
	}
	out, err := yaml.Marshal(u.Object)
	if err != nil {
		return "# it cannot be written: " + err.Error() + "\n"
	}
	return string(out)
}
