package cli

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/document"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

type systemValidateOptions struct {
	*command.Common
	catalogueOptions
}

func newSystemValidate(env command.Env) *cobra.Command {
	o := &systemValidateOptions{Common: command.NewCommon(env, "text", "json", "yaml")}
	cmd := o.NewCommand("validate FILE...", command.RangeArgs(1, math.MaxInt, "a FILE, or several"), command.CompleteManifests, o.run)
	o.AddReadFlags(cmd)
	o.AddOutputFlags(cmd)
	o.findingFlags(cmd)
	cmd.Flags().BoolVar(&o.Offline, "offline", false, "send no request: check only the manifest")
	return cmd
}

func (o *systemValidateOptions) run(ctx context.Context, files []string) error {
	if o.Offline && o.From != "" {
		return errors.New("--offline and --from exclude each other")
	}
	cats, err := o.catalogued(ctx, o.Common)
	if err != nil {
		return err
	}
	var checked []document.CheckedSystem
	var wrong []string
	for _, file := range files {
		doc, err := systems.Validate(ctx, &o.Input, systems.ValidateRequest{File: file, Catalogue: cats.Catalogue, Offline: o.Offline})
		if err != nil {
			return err
		}
		checked = append(checked, doc)
		wrong = append(wrong, hint.Placed(doc.File, doc.Problems)...)
	}
	if o.Output != "text" {
		if err := o.Write(view.SystemsChecked(checked, o.Offline)); err != nil {
			return err
		}
		if len(wrong) > 0 {
			return fmt.Errorf("%s in %s", object.Count(len(wrong), "problem"), object.Count(len(files), "file"))
		}
		return nil
	}
	for _, doc := range checked {
		if len(doc.Problems) == 0 {
			fmt.Fprintf(o.Env.Out, "%s: valid: the System %s of %s\n", command.Safe(doc.File), command.Safe(doc.System), object.Count(len(doc.Apps), "app"))
		}
	}
	if len(wrong) > 0 {
		return hint.With(&hint.Lines{Lines: wrong}, "docs/system.md is the format")
	}
	return nil
}
