package infer

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
)

// podKeys are the keys of an object that belong to a part of a pod.
type podKeys uint8

const (
	ofSpec podKeys = 1 << iota
	ofVolumes
	ofContainer
)

// has reports whether a field belongs to the part.
func (k podKeys) has(key string) bool {
	switch key {
	case "containers", "initContainers", "ephemeralContainers", "imagePullSecrets", "serviceAccountName", "serviceAccount", "priorityClassName", "runtimeClassName", "resourceClaims", "schedulingGroup":
		return k&ofSpec != 0
	case "volumes":
		return k&ofVolumes != 0
	case "env", "envFrom", "command", "args":
		return k&ofContainer != 0
	}
	return false
}

// podParts passes parts of pods to the pod rules: an object with containers, volumes or pull
// secrets, as a pod spec; one with variables, as a container. Names and shapes must be those of a
// pod.
func (w *walker) podParts(m, parent map[string]any) podKeys {
	var keys podKeys
	spec := eachIs(m["containers"], isContainer) || eachIs(m["initContainers"], isContainer) || eachIs(m["imagePullSecrets"], isName)
	if spec {
		keys |= ofSpec
	}
	if eachIs(m["volumes"], isVolume) {
		keys |= ofVolumes
	}
	if keys != 0 {
		w.part(m, parent, keys)
	}
	_, image := m["image"].(string)
	if eachIs(m["env"], isVariable) || eachIs(m["envFrom"], isSource) || image && (eachIs(m["args"], isText) || eachIs(m["command"], isText)) {
		keys |= ofContainer
		w.pod(relation.PodPart{Path: w.field(""), Shape: relation.Container, Fields: m, Inferred: true})
	}
	return keys
}

// part passes on a pod spec, with its template. If it is no whole pod spec, it passes on the
// matching parts.
func (w *walker) part(m, parent map[string]any, keys podKeys) {
	if keys&ofSpec == 0 {
		m = map[string]any{"volumes": m["volumes"]}
	}
	last := w.path[len(w.path)-1]
	if _, template := parent["metadata"].(map[string]any); template && last.key == "spec" && len(w.path) > 1 {
		w.pop()
		w.pod(relation.PodPart{Path: w.field(""), Shape: relation.PodTemplate, Fields: parent, Inferred: true})
		w.push(last)
		return
	}
	w.pod(relation.PodPart{Path: w.field(""), Shape: relation.PodSpec, Fields: m, Inferred: true})
}

func (w *walker) pod(p relation.PodPart) {
	p.Links(w.self.Namespace, func(rule int, l relation.Link) {
		if validName(l.Target.Name) && (l.Target.Namespace == "" || validLabel(l.Target.Namespace)) {
			w.emit(pods+rule, l)
		}
	})
}

// eachIs reports whether a value is a list whose items all have a shape.
func eachIs(v any, match func(any) bool) bool {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return false
	}
	for i := range list {
		if !match(list[i]) {
			return false
		}
	}
	return true
}

func isText(v any) bool { _, ok := v.(string); return ok }

func isName(v any) bool {
	m, _ := v.(map[string]any)
	_, ok := m["name"].(string)
	return ok
}

// isContainer does not require an image: an operator may set it.
func isContainer(v any) bool {
	m, _ := v.(map[string]any)
	if !isName(v) {
		return false
	}
	for key := range m {
		switch key {
		case "image", "env", "envFrom", "command", "args", "volumeMounts", "resources", "ports", "securityContext":
			return true
		}
	}
	return false
}

func isVolume(v any) bool {
	m, _ := v.(map[string]any)
	if !isName(v) {
		return false
	}
	for key := range m {
		switch key {
		case "configMap", "secret", "emptyDir", "projected", "persistentVolumeClaim", "hostPath", "csi", "downwardAPI", "nfs", "ephemeral", "image":
			return true
		}
	}
	return false
}

func isVariable(v any) bool {
	m, _ := v.(map[string]any)
	for key := range m {
		switch key {
		case "name", "value", "valueFrom":
		default:
			return false
		}
	}
	return isName(v)
}

func isSource(v any) bool {
	m, _ := v.(map[string]any)
	for key := range m {
		switch key {
		case "configMapRef", "secretRef", "prefix":
		default:
			return false
		}
	}
	return len(m) > 0
}
