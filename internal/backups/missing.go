package backups

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// OnlyMissing reduces a restore to what does not exist.
func OnlyMissing(ctx context.Context, in *app.Input, r *backup.Restore) error {
	c, err := systems.Connect(ctx, in)
	if err != nil {
		return err
	}
	name := r.PartialName()
	var wrong error
	err = r.OnlyMissing(func(ref object.Ref) bool {
		o, err := cluster{c}.at(ctx, ref)
		wrong = errors.Join(wrong, err)
		// What an earlier run of this restore created is part of it.
		return o != nil && !strings.HasPrefix(o.GetAnnotations()[releaseName], name)
	})
	if err := errors.Join(wrong, err); err != nil {
		return err
	}
	if r.Apps == 0 {
		return hint.With(fmt.Errorf("nothing of %s is missing in %s", r.Backup, r.Namespace), "--namespace-map restores beside it")
	}
	return nil
}

// releaseName is the annotation of the objects of a Helm release.
const releaseName = "meta.helm.sh/release-name"

// at reads an object that may have no namespace; nil for one that does not exist, or whose kind is
// not served yet.
func (c cluster) at(ctx context.Context, ref object.Ref) (*unstructured.Unstructured, error) {
	kind, served := c.Kinds.Kind(ref.GroupKind())
	if !served {
		return nil, nil //nolint:nilnil // it does not exist, which is no error
	}
	if !kind.Namespaced {
		ref.Namespace = ""
	}
	o, err := c.get(ctx, ref)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // as above
	}
	return &unstructured.Unstructured{Object: o}, err
}
