package crd

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// definition is a parsed CustomResourceDefinition.
type definition struct {
	name       string
	spec       map[string]any
	names      map[string]any
	conversion map[string]any
	strategy   string // of conversion: None, Webhook
	versions   []version
	storage    string
	// stored are the versions in which objects may be stored.
	stored []string
	// keepsAll is spec.preserveUnknownFields: nothing is pruned.
	keepsAll bool
}

// version is one of them. Its schema may be nil.
type version struct {
	name    string
	served  bool
	storage bool
	fields  map[string]any
	schema  map[string]any
}

func (d *definition) version(name string) (version, bool) {
	for _, v := range d.versions {
		if v.name == name {
			return v, true
		}
	}
	return version{}, false
}

// malformed returns the error for an invalid definition.
func malformed(name, at, format string, args ...any) error {
	return fmt.Errorf("read the CRD %s: %s %s", name, at, fmt.Sprintf(format, args...))
}

// readDefinition parses a definition. It refuses what the API server would refuse, but does not
// check everything.
func readDefinition(u *unstructured.Unstructured) (*definition, error) {
	if u == nil || u.Object == nil {
		return nil, fmt.Errorf("read a CRD: it is empty")
	}
	name := u.GetName()
	if name == "" {
		name = "without a name"
	}
	if u.GetAPIVersion() != "apiextensions.k8s.io/v1" || u.GetKind() != "CustomResourceDefinition" {
		return nil, malformed(name, "it", "is a %q of %q, not a CustomResourceDefinition of apiextensions.k8s.io/v1", u.GetKind(), u.GetAPIVersion())
	}
	d := &definition{name: u.GetName(), strategy: "None"}
	var err error
	if d.spec, err = mapAt(name, "spec", u.Object["spec"]); err != nil {
		return nil, err
	}
	if d.names, err = mapAt(name, "spec.names", d.spec["names"]); err != nil {
		return nil, err
	}
	if d.conversion, err = mapAt(name, "spec.conversion", d.spec["conversion"]); err != nil {
		return nil, err
	}
	if s, ok := d.conversion["strategy"].(string); ok && s != "" {
		d.strategy = s
	}
	d.keepsAll, _ = d.spec["preserveUnknownFields"].(bool)
	if err := d.readVersions(name); err != nil {
		return nil, err
	}
	return d, d.readStored(name, u)
}

func (d *definition) readVersions(name string) error {
	list, ok := d.spec["versions"].([]any)
	if !ok || len(list) == 0 {
		return malformed(name, "spec.versions", "is not a list of versions")
	}
	for i, item := range list {
		at := fmt.Sprintf("spec.versions[%d]", i)
		fields, ok := item.(map[string]any)
		if !ok {
			return malformed(name, at, "is not an object")
		}
		v := version{fields: fields}
		v.name, _ = fields["name"].(string)
		v.served, _ = fields["served"].(bool)
		v.storage, _ = fields["storage"].(bool)
		if v.name == "" {
			return malformed(name, at, "has no name")
		}
		if _, twice := d.version(v.name); twice {
			return malformed(name, at, "is %s a second time", v.name)
		}
		schema, err := mapAt(name, at+".schema", fields["schema"])
		if err != nil {
			return err
		}
		if v.schema, err = mapAt(name, at+".schema.openAPIV3Schema", schema["openAPIV3Schema"]); err != nil {
			return err
		}
		if v.storage && d.storage != "" {
			return malformed(name, at, "is a second storage version, besides %s", d.storage)
		}
		if v.storage {
			d.storage = v.name
		}
		d.versions = append(d.versions, v)
	}
	if d.storage == "" {
		return malformed(name, "spec.versions", "has no storage version")
	}
	return nil
}

// readStored reads status.storedVersions, or the storage version of a definition without a status.
func (d *definition) readStored(name string, u *unstructured.Unstructured) error {
	status, err := mapAt(name, "status", u.Object["status"])
	if err != nil {
		return err
	}
	list, ok := status["storedVersions"].([]any)
	if !ok && status["storedVersions"] != nil {
		return malformed(name, "status.storedVersions", "is not a list")
	}
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return malformed(name, "status.storedVersions", "has %s, which is not a version name", short(item))
		}
		d.stored = append(d.stored, s)
	}
	if !slices.Contains(d.stored, d.storage) {
		d.stored = append(d.stored, d.storage)
	}
	return nil
}

// mapAt returns an object, and nil for an absent one.
func mapAt(name, at string, v any) (map[string]any, error) {
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, malformed(name, at, "is %s, which is not an object", short(v))
	}
	return m, nil
}
