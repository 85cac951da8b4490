package backups

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// Expired returns the backups that a retention does not keep: those of the source of a backup, or of
// every source for nil. Only installed backups count: a record that another program wrote neither
// expires nor takes the place of a backup.
func Expired(ctx context.Context, in *app.Input, r backup.Retention, next *backup.Plan) ([]*backup.Plan, error) {
	connected, err := systems.Connect(ctx, in)
	if err != nil {
		return nil, err
	}
	c := cluster{connected}
	all, err := c.list(ctx, in)
	if err != nil {
		return nil, err
	}
	var counted []*backup.Plan
	for _, p := range all {
		if next != nil && !p.SameSource(next) {
			continue
		}
		err := c.checkInstalled(ctx, p)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			in.Report.Warn("left out: " + err.Error())
			continue
		}
		counted = append(counted, p)
	}
	return r.Expired(counted, in.Now()), nil
}

// Forget deletes the journal of a backup that is deleted: no other run has its name, and each backup would
// leave one.
func Forget(ctx context.Context, in *app.Input, p *backup.Plan) error {
	c, err := systems.Connect(ctx, in)
	if err != nil {
		return err
	}
	store, err := install.NewStore(c.Config, install.Installation{Name: p.Name, Namespace: p.Namespace, System: true})
	if err != nil {
		return err
	}
	j, err := store.Load(ctx)
	if err != nil {
		return err
	}
	if n := len(j.Runs); j.Run != nil || n == 0 || j.Runs[n-1].Action != install.Uninstall || j.Runs[n-1].Result != install.ResultDone {
		return nil // it was not deleted
	}
	if err := store.Remove(ctx, j); err != nil { // it stays, and does no harm
		in.Report.Note("the backup " + p.Name + " is deleted, and its journal is left: " + err.Error())
	}
	return nil
}

// RetentionRoles are the roles that deleting older backups needs beside those of the run that makes
// a new one: its permissions in namespaces without the names, since the objects of each backup have
// others.
func RetentionRoles(run string, permissions []permission.Permission) []*unstructured.Unstructured {
	var unnamed []permission.Permission
	for _, p := range permissions {
		if p.Namespace != "" && p.Name != "" {
			p.Name = ""
			unnamed = append(unnamed, p)
		}
	}
	return permission.Role(run+"-retention", unnamed)
}
