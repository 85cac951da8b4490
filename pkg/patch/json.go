package patch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// MarshalJSON keeps a value of null, which omitempty would lose.
func (o operation) MarshalJSON() ([]byte, error) {
	m := map[string]any{"op": o.Op, "path": o.Path}
	if o.Op != "remove" {
		m["value"] = o.Value
	}
	return json.Marshal(m)
}

// JSONPatch returns the JSON patch (RFC 6902) from live to want. It requires that live is unchanged:
// else the API server returns 409. It is nil if there is nothing to write.
func JSONPatch(live, want map[string]any) ([]byte, error) {
	var ops []operation
	patchMappings(&ops, nil, live, want)
	if len(ops) == 0 {
		return nil, nil
	}
	version, ok := Lookup(live, []string{"metadata", "resourceVersion"})
	if !ok {
		return nil, fmt.Errorf("the object has no resourceVersion, by which a write could be made safe")
	}
	return json.Marshal(append([]operation{{Op: "replace", Path: "/metadata/resourceVersion", Value: version}}, ops...))
}

func patchMappings(ops *[]operation, at []string, live, want map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(live)) {
		if _, ok := want[k]; !ok {
			*ops = append(*ops, operation{Op: "remove", Path: Pointer(append(slices.Clip(at), k))})
		}
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		to := append(slices.Clip(at), k)
		if current, ok := live[k]; ok {
			patchValues(ops, to, current, want[k])
			continue
		}
		*ops = append(*ops, operation{Op: "add", Path: Pointer(to), Value: want[k]})
	}
}

func patchValues(ops *[]operation, at []string, live, want any) {
	if l, ok := live.(map[string]any); ok {
		if w, ok := want.(map[string]any); ok {
			patchMappings(ops, at, l, w)
			return
		}
	}
	if l, ok := live.([]any); ok {
		if w, ok := want.([]any); ok && len(l) == len(w) {
			for i := range l {
				patchValues(ops, append(slices.Clip(at), strconv.Itoa(i)), l[i], w[i])
			}
			return
		}
	}
	if !Equal(live, want) {
		*ops = append(*ops, operation{Op: "replace", Path: Pointer(at), Value: want})
	}
}

// Merge applies a merge patch (RFC 7386) to fields that it may change.
func Merge(fields, patch map[string]any) map[string]any {
	if fields == nil {
		fields = map[string]any{}
	}
	for key, value := range patch {
		deeper, ok := value.(map[string]any)
		switch {
		case value == nil:
			delete(fields, key)
		case ok:
			children, _ := fields[key].(map[string]any)
			fields[key] = Merge(children, deeper)
		default:
			fields[key] = CopyValue(value)
		}
	}
	return fields
}
