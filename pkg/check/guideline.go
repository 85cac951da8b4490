package check

import (
	"fmt"
)

// Guideline is a principle that a rule comes from.
type Guideline struct {
	// Model is the list that has it, Year when that was published.
	Model string `json:"model"`
	Year  int    `json:"year"`
	// Number is its place in the list, from 1; Principle its words, shortened.
	Number    int    `json:"number"`
	Principle string `json:"principle"`
}

// The two models.
const (
	MaturityModel = "Operator Maturity Model"
	CoreOSModel   = "CoreOS operator principles"
)

func (g Guideline) String() string {
	return fmt.Sprintf("%s (%d) %d: %s", g.Model, g.Year, g.Number, g.Principle)
}

// MaturityGuideline returns a guideline of the Operator Maturity Model as KubePlus published it in
// 2020, by its number (1 to 24).
func MaturityGuideline(n int) Guideline {
	return Guideline{Model: MaturityModel, Year: 2020, Number: n, Principle: maturityPrinciples[n-1]}
}

// CoreOSGuideline returns one of the principles that Brandon Philips gave for operators in 2016, by
// its place (1 to 7) in "Introducing Operators: Putting Operational Knowledge into Software".
func CoreOSGuideline(n int) Guideline {
	return Guideline{Model: CoreOSModel, Year: 2016, Number: n, Principle: coreosPrinciples[n-1]}
}

var maturityPrinciples = [...]string{
	"design the custom resource as a declarative API, and avoid inputs that are actions",
	"make custom resource types compliant with Kube OpenAPI",
	"keep kubectl the primary way of interaction",
	"expose what the developer assumed (annotations on CRDs)",
	"take configuration by ConfigMap, annotation or spec",
	"define a service account for the operator's pod",
	"define a service account for custom resources",
	"define a security context, and follow pod security policies",
	"make controllers aware of namespaces",
	"define node affinity rules for custom resources",
	"define pod affinity rules for custom resources",
	"define network policies for custom resources",
	"set owner references on what is created for a custom resource",
	"define resource requests and limits for custom resources",
	"define validation rules in the CRD's YAML",
	"be robust against side-car injection",
	"define pod anti-affinity rules for custom resources",
	"define taint tolerations for custom resources",
	"define disruption budgets for custom resources",
	"enable audit logs for custom resources",
	"decide on a strategy for collecting metrics",
	"package the operator as a Helm chart",
	"register CRDs as YAML in the chart, not in the operator's code",
	"use the chart's hints for installing CRDs",
}

var coreosPrinciples = [...]string{
	"one deployment installs it, and no further action is needed",
	"it creates a type of its own when it is installed",
	"it uses built-in primitives such as Services and ReplicaSets",
	"it is backwards compatible, and understands objects of earlier versions",
	"instances continue unaffected when the operator is stopped or removed",
	"users declare the version they want, and the operator upgrades to it",
	"it is tested against failures of pods, configuration and network",
}
