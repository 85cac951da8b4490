package health_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// A custom resource that nobody has told the judge about.
func ExampleEvaluator_Evaluate() {
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"namespace": "shop", "name": "one"},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": "False", "reason": "InvalidSpec", "message": "size is not a number"},
		}},
	}}
	o := object.Object{Ref: object.Ref{Group: "example.com", Kind: "Widget", Namespace: "shop", Name: "one"}, Version: "v1", Meta: widget, Body: widget}

	h := health.NewEvaluator(time.Now()).Evaluate(o)
	fmt.Println(h.Status, h.Stage)
	fmt.Println(h.Message)

	// With a rule of its own.
	h = health.NewEvaluator(time.Now(), health.Rule{Kind: "Widget.example.com", Suspended: `status.condition("Ready").reason == "InvalidSpec"`}).Evaluate(o)
	fmt.Println(h.Status, h.Stage)
	// Output:
	// Degraded conditions
	// size is not a number
	// Suspended entry
}
