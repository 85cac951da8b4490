package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"helm.sh/helm/v4/pkg/strvals"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// valueOptions are the values of the command line, as helm takes them.
type valueOptions struct {
	valueFiles []string
	sets, text []string
}

func (o *valueOptions) valueFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.sets, "set", nil, "values, KEY=VALUE, as in helm: of the operator, or of the System's templates")
	f.StringArrayVar(&o.text, "set-string", nil, "the same, always as a string")
	f.StringArrayVar(&o.valueFiles, "values", nil, "values, from a YAML FILE; may be repeated")
}

// maxValuesBytes is more than any file of values has.
const maxValuesBytes = 4 << 20

// readValues lays the values over each other: files in their order, then --set, then --set-string.
// It is nil where none is given.
func (o *valueOptions) readValues(ctx context.Context) (map[string]any, error) {
	var all map[string]any
	for _, name := range o.valueFiles {
		data, err := app.ReadFile(ctx, name, maxValuesBytes, "file of values")
		if err != nil {
			return nil, fmt.Errorf("read the values: %w", err)
		}
		if err := strict.CheckBounds(data); err != nil {
			return nil, fmt.Errorf("read the values: %s: %w", name, err)
		}
		var values map[string]any
		if err := yaml.UnmarshalStrict(data, &values); err != nil {
			return nil, hint.With(fmt.Errorf("%s: %w", name, err), "expected a YAML mapping of values, as for helm")
		}
		all = system.Laid(all, values)
	}
	for _, given := range []struct {
		flag  string
		texts []string
		parse func(string, map[string]any) error
	}{{"--set", o.sets, strvals.ParseInto}, {"--set-string", o.text, strvals.ParseIntoString}} {
		for _, text := range given.texts {
			if all == nil {
				all = map[string]any{}
			}
			if !strings.Contains(text, "=") {
				return nil, hint.With(fmt.Errorf("%s %s: expected KEY=VALUE", given.flag, text), given.flag+" replicas=2,image.tag=1.2")
			}
			if err := given.parse(text, all); err != nil {
				return nil, fmt.Errorf("%s %s: %w", given.flag, text, err)
			}
		}
	}
	return all, nil
}
