package systems

import (
	"context"
	"errors"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// RequirePermissions is an error that names every missing permission for a change of a System. If
// permissions cannot be reviewed, it warns: the writes will show what is missing.
func RequirePermissions(ctx context.Context, in *app.Input, config *rest.Config, name string, rights []permission.Permission) error {
	missing, err := permission.Review(ctx, config, rights)
	if undecided, ok := errors.AsType[*permission.UnknownError](err); ok {
		in.Report.Warn(undecided.Error())
	} else if err != nil {
		return err
	}
	for _, text := range permission.PodNotes(missing) {
		in.Report.Note(text)
	}
	if refused, ok := errors.AsType[*permission.MissingError](permission.Refuse(missing)); ok {
		return hint.With(&hint.Lines{Lines: strings.Split(refused.Error(), "\n")}, refused.Hint(system.ParentName(name)))
	}
	return nil
}
