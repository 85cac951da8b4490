package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// demand is an error that names every missing permission for a change of a System. If permissions
// cannot be reviewed, it warns: the writes will show them.
func (c *common) demand(ctx context.Context, config *rest.Config, name string, rights []regulate.Permission) error {
	missing, err := regulate.Review(ctx, config, rights)
	if undecided, ok := errors.AsType[*regulate.UnknownPermissionsError](err); ok {
		fmt.Fprintf(c.env.ErrOut, "warning: %s\n", safe(undecided.Error()))
	} else if err != nil {
		return err
	}
	for _, text := range regulate.OrderedNotes(missing) {
		fmt.Fprintf(c.env.ErrOut, "note: %s\n", safe(text))
	}
	if refused, ok := errors.AsType[*regulate.MissingPermissionsError](regulate.Refuse(missing)); ok {
		return hint.With(&hint.Lines{Lines: strings.Split(refused.Error(), "\n")}, refused.Hint(system.ParentName(name)))
	}
	return nil
}
