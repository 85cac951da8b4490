package source

import (
	"slices"
	"strings"
)

// copies are annotations with a copy of the object, including its data and environment, for the
// next apply of the tool that wrote them.
const copies = `
kubectl.kubernetes.io/last-applied-configuration
kapp.k14s.io/original
objectset.rio.cattle.io/applied
banzaicloud.com/last-applied
`

func isCopy(annotation string) bool {
	return slices.Contains(strings.Fields(copies), annotation)
}

// withoutCopies returns the annotations without copies of the object.
func withoutCopies(notes map[string]string) map[string]string {
	for key := range notes {
		if isCopy(key) {
			delete(notes, key)
		}
	}
	return notes
}

// Redact removes from an object's fields, at any depth, what a snapshot must not contain: managed
// fields, the copies of kubectl apply and similar tools, the data of Secrets and ConfigMaps, and
// the values of environment variables unless withEnv is set. It changes its argument.
//
// Environment variables are in a field named env, or in one of a few names that charts use: a list
// of names and values, a list of NAME=value, or a map. Values elsewhere (an argument, a URL with a
// password) stay.
func Redact(fields map[string]any, withEnv bool) {
	redact(fields, withEnv)
}

func redact(v any, withEnv bool) {
	switch v := v.(type) {
	case map[string]any:
		redactMetadata(v)
		if v["apiVersion"] == "v1" && (v["kind"] == "Secret" || v["kind"] == "ConfigMap") {
			for _, key := range []string{"data", "stringData", "binaryData"} {
				delete(v, key)
			}
		}
		for key, child := range v {
			if !withEnv && isEnv(key) {
				dropValues(child)
			}
			redact(child, withEnv)
		}
	case []any:
		for _, child := range v {
			redact(child, withEnv)
		}
	}
}

func redactMetadata(object map[string]any) {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return
	}
	delete(meta, "managedFields")
	notes, ok := meta["annotations"].(map[string]any)
	if !ok {
		return
	}
	for key := range notes {
		if isCopy(key) {
			delete(notes, key)
		}
	}
	if len(notes) == 0 {
		delete(meta, "annotations")
	}
}

func isEnv(key string) bool {
	return slices.Contains([]string{"env", "envs", "extraenv", "extraenvs", "envvars", "extraenvvars", "environmentvariables"}, strings.ToLower(key))
}

// dropValues removes the values of environment variables; names and valueFrom stay.
func dropValues(env any) {
	switch env := env.(type) {
	case []any:
		for i, item := range env {
			switch item := item.(type) {
			case map[string]any:
				delete(item, "value")
			case string:
				if name, _, ok := strings.Cut(item, "="); ok {
					env[i] = name
				}
			}
		}
	case map[string]any:
		for name, value := range env {
			switch value := value.(type) {
			case map[string]any:
				delete(value, "value")
			case []any:
			default:
				env[name] = nil
			}
		}
	}
}
