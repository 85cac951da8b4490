package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// What deletes data is done with its name alone, whatever the command: --yes and y never are enough.
func TestConsent(t *testing.T) {
	losing := &install.Plan{Steps: []install.Step{{Data: []object.Ref{{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "db"}}}}}
	harmless := &install.Plan{Steps: []install.Step{{}}}
	for name, c := range map[string]struct {
		planned   *install.Plan
		yes       bool
		confirmed string
		crds      bool
		dry       string
		typed     string
		terminal  bool
		goOn      bool
		wrong     string
	}{
		"yes":                      {planned: losing, yes: true, wrong: "1 object would be deleted with all data, which --yes does not confirm"},
		"yes at a terminal":        {planned: losing, yes: true, terminal: true, typed: "shop\n", wrong: "which --yes does not confirm"},
		"asked without a terminal": {planned: losing, yes: true, confirmed: askName, wrong: "no terminal to type the name"},
		"y typed":                  {planned: losing, yes: true, confirmed: askName, terminal: true, typed: "y\n"},
		"name typed":               {planned: losing, confirmed: askName, terminal: true, typed: "shop\n", goOn: true},
		"definitions, name typed":  {planned: losing, crds: true, terminal: true, typed: "shop\n", goOn: true},
		"definitions, yes":         {planned: losing, crds: true, yes: true, wrong: "which --yes does not confirm"},
		"named":                    {planned: losing, yes: true, confirmed: "shop", goOn: true},
		"named and asked":          {planned: losing, confirmed: "shop", terminal: true, typed: "n\n"},
		"dry run":                  {planned: losing, yes: true, dry: "client"},
		"nothing lost":             {planned: harmless, yes: true, goOn: true},
		"nothing lost, asked":      {planned: harmless, terminal: true, typed: "y\n", goOn: true},
	} {
		var said bytes.Buffer
		o := newInstallOptions(command.Env{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(c.typed), Out: &said, ErrOut: &said}, Ask: c.terminal}, install.Upgrade)
		o.yes, o.confirmed, o.deleteDefinitions, o.dryRun = c.yes, c.confirmed, c.crds, "none"
		if c.dry != "" {
			o.dryRun = c.dry
		}
		goOn, err := o.consent(t.Context(), install.Installation{Name: "shop", Namespace: "shop"}, c.planned, "Do it?")
		if goOn != c.goOn || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %t, %v; want %t, %q", name, goOn, err, c.goOn, c.wrong)
		}
		if hint := new(hint.Error); errors.As(err, &hint) && !strings.Contains(hint.Text, "--delete-data=shop") {
			t.Errorf("%s: hint %q", name, hint.Text)
		}
		if listed := strings.Contains(said.String(), "deleted with its data: PersistentVolumeClaim/shop/db"); listed != (c.planned == losing) {
			t.Errorf("%s: what goes is listed: %t\n%s", name, listed, said.String())
		}
	}
}

func TestConsentNames(t *testing.T) {
	o := newInstallOptions(command.Env{}, install.Rollback)
	for given, want := range map[string]bool{"": true, askName: true, "shop": true, "sho": false, "cup": false} {
		if o.confirmed = given; (o.named("shop") == nil) != want {
			t.Errorf("--delete-data=%s for shop: %v", given, o.named("shop"))
		}
	}
}
