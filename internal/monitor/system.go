package monitor

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// appName is that of the one app of the System which has the objects of a plan.
const appName = "monitoring"

// System returns the System that has the objects of a plan, with its manifest, for the installer.
// It is an error where there is nothing to make.
func (p *Plan) System() (*system.System, string, error) {
	if len(p.Objects) == 0 {
		return nil, "", hint.With(fmt.Errorf("nothing can be made for %s", p.Name), "kubectl sysop monitor plan shows why")
	}
	app := system.App{Name: appName}
	for _, o := range p.Objects {
		app.Resources = append(app.Resources, &unstructured.Unstructured{Object: o})
	}
	sys := &system.System{
		Name: p.Installation, Namespace: p.Namespace, Description: "monitors, alerts and dashboard of " + p.Name,
		Apps:       []system.App{app},
		Regulation: system.Regulation{HoldOff: system.DefaultHoldOff, MaxSignalsPerHour: system.DefaultMaxSignalsPerHour, Settle: system.DefaultSettle, GitOps: system.Refuse},
	}
	text, err := sys.YAML()
	if err != nil {
		return nil, "", err
	}
	read, problems := system.Parse(p.Installation, text)
	if len(problems) > 0 {
		return nil, "", errors.Join(errors.New("the System of the monitors is malformed"), fmt.Errorf("%s", problems[0]))
	}
	return read, string(text), nil
}
