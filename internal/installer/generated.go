package installer

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Generated returns a System of generated objects with its manifest. A command that creates objects
// of its own installs them as such a System: the plan, the journal, the undo, the history and the
// removal are those of every System.
func Generated(name, namespace, description, app string, objects []*unstructured.Unstructured) (*system.System, string, error) {
	sys := &system.System{
		Name: name, Namespace: namespace, Description: description, Apps: []system.App{{Name: app, Resources: objects}},
		Regulation: system.Regulation{HoldOff: system.DefaultHoldOff, MaxSignalsPerHour: system.DefaultMaxSignalsPerHour, Settle: system.DefaultSettle, GitOps: system.Refuse},
	}
	text, err := sys.YAML()
	if err != nil {
		return nil, "", err
	}
	// Reading it checks it, and adds the roots that its resources are.
	sys, problems := system.Parse(name, text)
	if len(problems) > 0 {
		return nil, "", &hint.Lines{Lines: hint.Placed(name, problems)}
	}
	return sys, string(text), nil
}
