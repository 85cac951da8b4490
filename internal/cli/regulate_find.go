package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// beginApp finds the System of a command whose argument is an app: the one that is named,
// that of a manifest, or the only one of the namespace.
func (o *regulateOptions) beginApp(ctx context.Context, name string) (*systemSession, error) {
	if name != "" || o.file != "" || o.From != "" {
		return o.begin(ctx, name)
	}
	single, err := o.onlySystem(ctx)
	if err != nil {
		return nil, err
	}
	return o.begin(ctx, single)
}

// onlySystem is the name of the only System of the namespace.
func (o *regulateOptions) onlySystem(ctx context.Context) (string, error) {
	k, err := systems.OpenAdopted(ctx, &o.Input)
	if err != nil {
		return "", err
	}
	names, err := k.Names(ctx, k.Namespace)
	switch {
	case err != nil && hint.For(err) != "":
		return "", err
	case err != nil:
		return "", hint.With(err, "name the manifest with -f FILE")
	case len(names) == 0:
		return "", hint.With(errors.New("no System was adopted"+inNamespace(k.Namespace)), "name its manifest with -f FILE")
	case len(names) > 1:
		return "", hint.With(fmt.Errorf("there are several Systems%s: %s", inNamespace(k.Namespace), strings.Join(names, ", ")), "name one before the app, or with --system")
	}
	return names[0], nil
}

// requireApp is an error if the System has no app of a name.
func (b *systemSession) requireApp(app string) error {
	if _, ok := b.System.App(app); ok {
		return nil
	}
	return hint.With(
		fmt.Errorf("the System %s has no app %q%s", b.System.Name, app, object.DidYouMean(object.Nearest(app, b.System.AppNames()))),
		"its apps are "+strings.Join(b.System.AppNames(), ", "))
}
