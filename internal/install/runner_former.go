package install

import (
	"context"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
)

// forgetFormer deletes the records of releases that former runs removed and that the history does
// not name any more. A failure is only reported.
func (x *run) forgetFormer(ctx context.Context, runs []RunRecord) {
	named := map[helm.ReleaseName]bool{}
	if len(runs) < len(x.j.Runs) {
		for _, p := range x.j.Runs[len(runs):] {
			for _, r := range p.Releases {
				named[helm.ReleaseName{Name: r.Release, Namespace: r.Namespace}] = true
			}
		}
	}
	for _, p := range runs {
		for _, r := range p.Releases {
			name := helm.ReleaseName{Name: r.Release, Namespace: r.Namespace}
			if named[name] {
				continue
			}
			named[name] = true
			if err := x.forgetUninstalled(ctx, name); err != nil {
				x.emit(journal.EventNoted, fmt.Sprintf("the records of release %s, which was removed earlier, stay: %v", name, err))
			}
		}
	}
}

// forgetUninstalled deletes the records of a release that is uninstalled and of the installation.
func (x *run) forgetUninstalled(ctx context.Context, name helm.ReleaseName) error {
	list, err := x.Engine.History(ctx, name)
	if err != nil || len(list) == 0 {
		return err
	}
	last := list[len(list)-1]
	m := last.Marks
	if mine := m.System == x.of.Name && m.SystemNamespace == x.of.Namespace; x.of.System && !mine {
		return nil
	}
	if mine := m.Installation == x.of.Name && m.InstallationNamespace == x.of.Namespace; !x.of.System && !mine {
		return nil
	}
	if last.Status != helm.Uninstalled {
		return nil
	}
	return x.Engine.Forget(ctx, name)
}
