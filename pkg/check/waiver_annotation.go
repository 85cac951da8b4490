package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// MalformedWaiver is a piece of an annotation that waives nothing.
type MalformedWaiver struct {
	Object object.Ref `json:"object"`
	// Why is the problem, in one sentence without a full stop.
	Why string `json:"message"`
}

func waiverOrigin(file string, n *yaml.Node) string { return fmt.Sprintf("%s:%d", file, n.Line) }

func quoteShort(text string) string { return strconv.Quote(field.Shorten(text)) }

// waiversOf parses the annotation of an object, and returns its problems.
func waiversOf(ref object.Ref, text string, rules []Rule) (waivers []Waiver, wrong []string) {
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		if piece = strings.TrimSpace(piece); piece == "" {
			continue
		}
		id, reason, _ := strings.Cut(piece, "=")
		id, reason = strings.TrimSpace(id), strings.TrimSpace(reason)
		unknown := waiverUnknownRule(id, rules)
		switch {
		case reason == "" && unknown != "":
			wrong = append(wrong, fmt.Sprintf("%s is not a waiver: write id=reason", quoteShort(piece)))
		case reason == "":
			wrong = append(wrong, fmt.Sprintf("the waiver of %s gives no reason: write %s=reason", id, id))
		case unknown != "":
			wrong = append(wrong, unknown)
		case slices.ContainsFunc(waivers, func(w Waiver) bool { return w.Rule == id }):
			wrong = append(wrong, fmt.Sprintf("a second waiver of %s: the first one applies", id))
		default:
			waivers = append(waivers, Waiver{Rule: id, Object: ref, Reason: reason, Origin: "annotation of " + ref.String(), InSource: true})
		}
	}
	return waivers, wrong
}

// annotatedWaivers returns the waivers that objects carry, in the order of the objects, and
// the problems in the annotations of wanted objects.
func (w *ClusterState) annotatedWaivers(rules []Rule, wanted func(object.Ref) bool) (waivers []Waiver, malformed []MalformedWaiver) {
	if w == nil || w.Facts == nil {
		return nil, nil
	}
	for _, ref := range w.Facts.annotated(WaiveAnnotation) {
		text, _ := w.Facts.Annotation(ref, WaiveAnnotation)
		if w.copiedWaiver(ref, text) {
			continue
		}
		parsed, wrong := waiversOf(ref, text, rules)
		waivers = append(waivers, parsed...)
		if !wanted(ref) {
			continue
		}
		for _, problem := range wrong {
			malformed = append(malformed, MalformedWaiver{Object: ref, Why: problem})
		}
	}
	return waivers, malformed
}

// copiedWaiver reports whether an annotation is a copy, which does not apply to its object:
// Deployments copy theirs to their ReplicaSets, many operators to the objects they make, and
// Services to their Endpoints.
func (w *ClusterState) copiedWaiver(ref object.Ref, text string) bool {
	from := w.Owners(ref)
	if ref.Group == "" && ref.Kind == "Endpoints" {
		from = append(from, object.Ref{Kind: "Service", Namespace: ref.Namespace, Name: ref.Name})
	}
	return slices.ContainsFunc(from, func(o object.Ref) bool {
		ownerText, _ := w.Facts.Annotation(o, WaiveAnnotation)
		return ownerText == text
	})
}
