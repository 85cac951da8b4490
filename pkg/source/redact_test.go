package source

import (
	"bytes"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestRedact(t *testing.T) {
	container := corev1.Container{Name: "c", Env: []corev1.EnvVar{{Name: "A", Value: "hidden"}, {Name: "B", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}}
	b, _ := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "X",
		"metadata": map[string]any{"managedFields": []any{"hidden"}, "annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": "hidden"}},
		"spec": map[string]any{
			"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"keep": "kept", "kapp.k14s.io/original": "hidden"}}, "spec": corev1.PodSpec{Containers: []corev1.Container{container}}},
			"envVars":  map[string]any{"A": "hidden", "B": 7, "C": map[string]any{"value": "hidden", "from": "kept"}},
			"extraEnv": []any{"A=hidden", "kept"},
			"env":      "kept",
		},
		"objects": []any{map[string]any{"apiVersion": "v1", "kind": "Secret", "data": "hidden", "stringData": "hidden", "type": "kept"}, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "binaryData": "hidden"}},
	})
	fields := func() map[string]any {
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := fields()
	Redact(m, false)
	out, _ := json.Marshal(m)
	if bytes.Contains(out, []byte("hidden")) || bytes.Contains(out, []byte("7")) || bytes.Count(out, []byte("kept")) != 5 || !bytes.Contains(out, []byte("metadata.name")) {
		t.Errorf("%s", out)
	}
	m = fields()
	Redact(m, true)
	out, _ = json.Marshal(m)
	if bytes.Count(out, []byte("hidden")) != 4 {
		t.Errorf("%s", out)
	}
}

// FuzzRedact plants a value as an environment variable somewhere in an object.
func FuzzRedact(f *testing.F) {
	f.Add([]byte(`{"spec":{"env":[{"name":"A","value":"v"}]}}`), uint8(3))
	f.Add([]byte(`{"env":{"A":"v","B":{"env":["C=v"]}},"metadata":{"annotations":{"a":"b"}}}`), uint8(9))
	f.Add([]byte(`{"apiVersion":"v1","kind":"Secret","data":{"a":"b"},"env":[[{"env":{}}]]}`), uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, at uint8) {
		var m map[string]any
		if json.Unmarshal(b, &m) != nil || m == nil || bytes.Contains(b, []byte("planted")) {
			return
		}
		plant(m, int(at))
		Redact(m, false)
		first, _ := json.Marshal(m)
		if bytes.Contains(first, []byte("planted")) {
			t.Fatalf("%s", first)
		}
		Redact(m, false)
		if twice, _ := json.Marshal(m); !bytes.Equal(first, twice) {
			t.Fatalf("once %s\ntwice %s", first, twice)
		}
	})
}

// plant puts an environment where the walk of n steps down ends.
func plant(m map[string]any, n int) {
	for ; n > 0; n-- {
		for _, v := range m {
			if child, ok := v.(map[string]any); ok {
				m = child
				break
			}
		}
	}
	m["env"] = []any{map[string]any{"name": "A", "value": "planted"}, "B=planted", map[string]any{"value": map[string]any{"x": "planted"}}}
	m["envVars"] = map[string]any{"A": "planted", "B": map[string]any{"value": "planted"}}
}
