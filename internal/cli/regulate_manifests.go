package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/regulator"
)

type regulateManifestsOptions struct {
	*regulateOptions
	image    string
	replicas int32
}

func newRegulateManifests(env Env) *cobra.Command {
	o := &regulateManifestsOptions{regulateOptions: newRegulating(env, "yaml", "json")}
	cmd := o.ofSystem("manifests [SYSTEM]", o.run)
	o.naming(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", o.formats[0], "output format: "+strings.Join(o.formats, ", "))
	f.StringVar(&o.image, "image", "", "the image with the binary kubectl-sysop as its entry point")
	f.Int32Var(&o.replicas, "replicas", 1, "number of replicas; one acts, the others stand by")
	must(cmd.MarkFlagRequired("image"))
	offer(cmd, "output", o.formats...)
	return cmd
}

func (o *regulateManifestsOptions) run(ctx context.Context, name string) error {
	switch {
	case o.image == "" || strings.ContainsAny(o.image, " \t\n"):
		return fmt.Errorf("--image %q: expected the name of an image", o.image)
	case o.replicas < 1:
		return fmt.Errorf("--replicas %d: expected at least 1", o.replicas)
	}
	list, err := regulator.Manifests(ctx, &o.Input, o.request(name), o.image, o.replicas)
	if err != nil {
		return err
	}
	text, err := manifestText(list, o.output)
	if err != nil {
		return err
	}
	_, err = o.env.Out.Write(text)
	return err
}

// manifestText writes manifests: YAML documents with their comments, or a List.
func manifestText(list []regulator.Manifest, format string) ([]byte, error) {
	var out bytes.Buffer
	if format == "json" {
		items := make([]any, 0, len(list))
		for _, m := range list {
			items = append(items, m.Object.Object)
		}
		enc := json.NewEncoder(&out)
		enc.SetIndent("", "  ")
		err := enc.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
		return out.Bytes(), err
	}
	for _, m := range list {
		text, err := yaml.Marshal(m.Object.Object)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		for line := range strings.Lines(m.Comment) {
			// Names that a manifest brought in stay in their comment.
			fmt.Fprintf(&out, "# %s\n", safe(strings.TrimSuffix(line, "\n")))
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}
