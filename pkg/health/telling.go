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

// variables are what the expressions of a rule see of an object; nil of one that was
// read as metadata only.
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

// Fields returns an object as maps, which are not to be written; nil where it was not read
// in full. A rule may be one for a built-in kind, which was read as a type.
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

// mapAt returns the map at a key; an empty one where there is none.
func mapAt(m map[string]any, key string) map[string]any {
	if at, ok := m[key].(map[string]any); ok {
		return at
	}
	return map[string]any{}
}

// conditionOf returns the condition of a type in the list of conditions that a map
// has; nil without one.
func conditionOf(of map[string]any, name string) map[string]any {
	list, _ := of["conditions"].([]any)
	for _, item := range list {
		if c, ok := item.(map[string]any); ok && c["type"] == name {
			return c
		}
	}
	return nil
}

// verdict is what follows from an expression that is true: the words for it are those
// of the rule, else of the conditions that the expression names, else of the status if
// that is what it looks at. The error is that of the expression of the message, and changes
// nothing of what was found.
func verdict(x *expression, of map[string]any, message cel.Program, by meter) (Health, error) {
	var h Health
	if x.silent != nil {
		h = wordsFor(mapAt(of, "status"), x.conditions)
	}
	h.Status = x.status
	if h.Reason == "" {
		h.Reason = string(x.status)
	}
	if message == nil {
		return h, nil
	}
	said, err := say(message, of, by)
	if said != "" {
		h.Message = said
	}
	return h, err
}

// wordsFor takes the words for people out of a status. The names are of conditions that
// matter; of those that are there, one with a message is the most telling.
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

// oneWord is a text that can be a reason; empty for one that is a sentence.
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
