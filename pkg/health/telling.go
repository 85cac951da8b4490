package health

import (
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// variables returns what the expressions of a rule see of an object; nil if only metadata was read.
func (s *subject) variables() map[string]any {
	if s.asked == nil {
		s.asked = s.readVariables()
	}
	return s.asked
}

func (s *subject) readVariables() map[string]any {
	fields := Fields(s.Object)
	if fields == nil {
		return nil
	}
	fields = withoutNulls(fields)
	return map[string]any{"self": fields, "metadata": mapAt(fields, "metadata"), "spec": mapAt(fields, "spec"), "status": mapAt(fields, "status")}
}

// Fields returns an object as maps, which must not be changed; nil if it was not read whole. A
// built-in kind is converted from its Go type.
func Fields(o object.Object) map[string]any {
	if fields := o.Fields(); fields != nil {
		return fields
	}
	if _, partial := o.Body.(*metav1.PartialObjectMetadata); partial || o.Body == nil {
		return nil
	}
	converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o.Body)
	if err != nil {
		return nil
	}
	return converted
}

// mapAt returns the map at a key; an empty one if it is absent.
func mapAt(m map[string]any, key string) map[string]any {
	if at, ok := m[key].(map[string]any); ok {
		return at
	}
	return map[string]any{}
}

// conditionOf returns the condition of a type in the list of conditions of a map, or nil.
func conditionOf(vars map[string]any, name string) map[string]any {
	list, _ := vars["conditions"].([]any)
	for _, item := range list {
		if c, ok := item.(map[string]any); ok && c["type"] == name {
			return c
		}
	}
	return nil
}

// verdict returns the health for a true expression. Its reason and message come from the rule, else
// from the conditions that the expression names, else from the status if it reads that. The error
// is that of the message expression, and does not change the status.
func verdict(x *expression, vars map[string]any, message cel.Program, budget meter) (Health, error) {
	var h Health
	if x.silent != nil {
		h = wordsFor(mapAt(vars, "status"), x.conditions)
	}
	h.Status = x.status
	if h.Reason == "" {
		h.Reason = string(x.status)
	}
	if message == nil {
		return h, nil
	}
	text, err := say(message, vars, budget)
	if text != "" {
		h.Message = text
	}
	return h, err
}

// wordsFor returns the reason and message in a status. The names are of relevant conditions; of the
// existing ones, one with a message is best.
func wordsFor(status map[string]any, names []string) Health {
	var h Health
	for _, name := range slices.Concat(names, []string{"Ready"}) {
		c := conditionOf(status, name)
		if c == nil || h.Message != "" {
			continue
		}
		h.Reason, h.Message = texted(c, "reason"), texted(c, "message")
		if at, err := time.Parse(time.RFC3339, texted(c, "lastTransitionTime")); err == nil {
			h.Since = at
		}
	}
	for _, key := range []string{"reason", "phase", "state"} {
		if h.Reason == "" {
			h.Reason = oneWord(texted(status, key))
		}
	}
	for _, key := range []string{"message", "statusMessage", "reason"} {
		if h.Message == "" {
			h.Message = texted(status, key)
		}
	}
	if h.Message == h.Reason {
		h.Message = ""
	}
	return h
}

// oneWord returns a text that can be a reason, or "" for a sentence.
func oneWord(s string) string {
	if strings.ContainsAny(s, " \n\t") {
		return ""
	}
	return s
}

func texted(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}
