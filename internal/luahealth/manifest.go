package luahealth

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// manifest is what is read of an object, or a list of them.
type manifest struct {
	APIVersion string      `yaml:"apiVersion"`
	Kind       string      `yaml:"kind"`
	Data       yaml.Node   `yaml:"data"`
	Items      []yaml.Node `yaml:"items"`
}

// OfManifest returns the customizations of the ConfigMaps in a file, which name names. The
// set is nil for a file that has no ConfigMap: it is something else.
func OfManifest(name string, text []byte) (*Set, []string, error) {
	documents, problem := strict.Documents(text)
	if problem != nil {
		return nil, nil, nil
	}
	data, found := map[string]string{}, false
	for len(documents) > 0 {
		node := documents[0]
		documents = documents[1:]
		var m manifest
		if node.Kind != yaml.MappingNode || node.Decode(&m) != nil || m.APIVersion != "v1" {
			continue
		}
		switch m.Kind {
		case "List", "ConfigMapList":
			for i := range m.Items {
				documents = append(documents, &m.Items[i])
			}
		case "ConfigMap":
			found = true
			var values map[string]string
			if err := m.Data.Decode(&values); err != nil {
				return nil, nil, fmt.Errorf("%s:%d: the data of the ConfigMap: %s", name, m.Data.Line, oneLine(strings.TrimPrefix(err.Error(), "yaml: ")))
			}
			for key, value := range values {
				if strings.HasPrefix(key, Prefix) {
					data[key] = value
				}
			}
		}
	}
	if !found {
		return nil, nil, nil
	}
	s, notes := OfConfigMap(name, data)
	return s, notes, nil
}
