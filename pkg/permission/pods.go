package permission

import (
	"fmt"
	"slices"
	"strings"
)

// podsResource are pods, which DeletePods are about.
const podsResource = "pods"

// DeletePods returns the permissions to delete a pod that blocks an OrderedReady StatefulSet
// after an undo: pods by name, or any pod of the namespace without names. They are optional:
// without them the pod is reported with the command that helps.
func DeletePods(namespace string, pods ...string) []Permission {
	right := Permission{Resource: podsResource, Namespace: namespace, Optional: true, Verb: "list"}
	out := []Permission{right}
	right.Verb = "delete"
	if len(pods) == 0 {
		return append(out, right)
	}
	for _, name := range pods {
		right.Name = name
		out = append(out, right)
	}
	return out
}

// PodNotes describes what is skipped after an undo without DeletePods: a line a
// namespace.
func PodNotes(missing []Missing) []string {
	verbs := map[string][]string{}
	var namespaces []string
	for _, m := range missing {
		if !m.Optional || m.Group != "" || m.Resource != podsResource || m.Verb != "list" && m.Verb != "delete" {
			continue
		}
		if !slices.Contains(namespaces, m.Namespace) {
			namespaces = append(namespaces, m.Namespace)
		}
		if !slices.Contains(verbs[m.Namespace], m.Verb) {
			verbs[m.Namespace] = append(verbs[m.Namespace], m.Verb)
		}
	}
	slices.Sort(namespaces)
	var out []string
	for _, ns := range namespaces {
		slices.Sort(verbs[ns])
		out = append(out, fmt.Sprintf("you may not %s pods in %s: a pod that its StatefulSet waits for after an undo (OrderedReady) is not deleted; the output then has the command", strings.Join(verbs[ns], ", "), ns))
	}
	return out
}
