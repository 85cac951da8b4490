package preflight

import "github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"

// outcome is the effect of a missing reference on its object. What Kubernetes itself refuses, or
// waits for, is impossible; what other controllers do is unknown.
type outcome struct {
	verdict schedule.Verdict
	reason  string
	message string
}

const refusesPods = "the API server refuses every pod"

// outcomes are those of the built-in rules, by name. A rule that is not here is unknown; one
// with no verdict is evaluated elsewhere, or does not matter.
var outcomes = map[string]outcome{
	"pod-env-configmap":           {impossible, "CreateContainerConfigError", "containers cannot start"},
	"pod-env-secret":              {impossible, "CreateContainerConfigError", "containers cannot start"},
	"pod-envfrom-configmap":       {impossible, "CreateContainerConfigError", "containers cannot start"},
	"pod-envfrom-secret":          {impossible, "CreateContainerConfigError", "containers cannot start"},
	"pod-volume-configmap":        {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-volume-secret":           {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-projected-configmap":     {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-projected-secret":        {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-trust-bundle":            {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-csi-secret":              {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-legacy-volume-secret":    {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-secret-provider":         {impossible, "FailedMount", "the volume cannot be mounted, and containers do not start"},
	"pod-csi-driver":              {verdictUnknown, "DriverUnknown", "a driver may work without such an object, but most have one"},
	"pod-volume-claim":            {impossible, "ClaimMissing", "pods stay Pending"},
	"pod-resource-claim":          {impossible, "ClaimMissing", "pods stay Pending"},
	"pod-resource-claim-template": {impossible, "ClaimMissing", "pods stay Pending"},
	"pod-service-account":         {impossible, "ServiceAccountMissing", refusesPods},
	"pod-priority-class":          {impossible, "PriorityClassMissing", refusesPods},
	"pod-runtime-class":           {impossible, "RuntimeClassMissing", refusesPods},
	"pod-node":                    {impossible, "NodeMissing", "the pod is removed"},
	"pod-pull-secret":             {verdictUnknown, "PullSecretMissing", "images that need it cannot be pulled; others can"},
	"statefulset-service":         {verdictUnknown, "ReferenceMissing", "pods start, but have no names in DNS"},
	"claim-class":                 {}, // storage.go knows volumes that suit without it
	"claim-volume":                {},
	"volume-class":                {},
	"pod-ephemeral-claim":         {},
	"statefulset-claim":           {},
	"pod-nominated-node":          {},
	"claim-node":                  {},
	"claim-provisioner":           {},
	"claim-data-source":           {impossible, "DataSourceMissing", "no volume is created, and the claim stays Pending"},
	"ingress-class":               {verdictUnknown, "IngressClassMissing", "no controller serves it, unless one uses the name only"},
}

// refuses says that the pods are not made at all.
func (w outcome) refuses() bool {
	return w.message == refusesPods
}
