package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	helm "helm.sh/helm/v4/pkg/chart/v2"
)

// metaSchemas are the ones that the validator includes.
const metaSchemas = "http://json-schema.org/draft-04/schema http://json-schema.org/draft-06/schema http://json-schema.org/draft-07/schema " +
	"https://json-schema.org/draft/2019-09/schema https://json-schema.org/draft/2020-12/schema"

// closeSchemas removes external references from the schemas of a chart and its subcharts: Helm
// would fetch them, from anywhere, or read files. What they refer to is not validated; the warnings
// say so.
func closeSchemas(c *helm.Chart) ([]string, error) {
	var warnings []string
	if len(c.Schema) > 0 {
		dec := json.NewDecoder(bytes.NewReader(c.Schema))
		dec.UseNumber()
		var schema any
		if err := dec.Decode(&schema); err != nil {
			return nil, fmt.Errorf("%s/values.schema.json: %w", c.ChartFullPath(), err)
		}
		found := map[string]bool{}
		closeSchema(schema, found)
		if len(found) > 0 {
			for _, address := range slices.Sorted(maps.Keys(found)) {
				warnings = append(warnings, fmt.Sprintf("%s/values.schema.json refers to %s, which is not fetched: values are not checked against it", c.ChartFullPath(), address))
			}
			closed, err := json.Marshal(schema)
			if err != nil {
				return nil, err
			}
			c.Schema = closed
		}
	}
	for _, sub := range c.Dependencies() {
		subWarnings, err := closeSchemas(sub)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, subWarnings...)
	}
	return warnings, nil
}

// closeSchema removes references at any place: a default or an enum can be used as a schema, too.
func closeSchema(v any, found map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef", "$schema"} {
			address, ok := v[key].(string)
			if !ok || strings.HasPrefix(address, "#") || builtinSchema(address) {
				continue
			}
			found[address] = true
			delete(v, key)
		}
		for _, e := range v {
			closeSchema(e, found)
		}
	case []any:
		for _, e := range v {
			closeSchema(e, found)
		}
	}
}

func builtinSchema(address string) bool {
	return slices.Contains(strings.Fields(metaSchemas), strings.TrimSuffix(address, "#"))
}
