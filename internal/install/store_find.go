package install

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Found is a journal, or the reason why it could not be read.
type Found struct {
	Installation Installation
	Journal      *Journal
	Err          error
}

// Touches returns the releases that the open run of a journal changes: no other run should change
// them meanwhile.
func (f Found) Touches() []helm.ReleaseName {
	if f.Journal == nil || f.Journal.Run == nil {
		return nil
	}
	var out []helm.ReleaseName
	for _, s := range f.Journal.Run.Steps {
		if name := (helm.ReleaseName{Name: s.Release, Namespace: s.Namespace}); s.ofRelease() && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Find reads the journals of the installations of a name in the given namespaces, and reports those
// that could not be read. It ignores other namespaces, because write access to ConfigMaps elsewhere
// must not decide about the installation of a name.
func Find(ctx context.Context, config *rest.Config, name string, namespaces []string) ([]Found, error) {
	client, err := dynamic.NewForConfig(journal.Quiet(config))
	if err != nil {
		return nil, fmt.Errorf("reach the journals: %w", err)
	}
	return find(ctx, client, name, namespaces)
}

func find(ctx context.Context, client dynamic.Interface, name string, namespaces []string) ([]Found, error) {
	var out []Found
	for i, ns := range namespaces {
		if ns == "" || slices.Index(namespaces, ns) != i {
			continue
		}
		f := Found{Installation: Installation{Name: name, Namespace: ns}}
		f.Journal, f.Err = newStore(client, f.Installation).Load(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case f.Err == nil && f.Journal.Version() == "":
			continue
		case f.Err == nil:
			f.Installation = f.Journal.Installation
		}
		out = append(out, f)
	}
	return out, nil
}
