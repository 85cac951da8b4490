package lint_test

import (
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/lint"
)

// TestBackup: each field that a backup reads or sets is looked up, of the object and of its backup.
func TestBackup(t *testing.T) {
	const text = `apiVersion: sysop.dev/v1alpha1
kind: Operator
name: pxc
title: Percona
description: Runs MySQL.
source: https://example.com
kinds:
- kind: PerconaXtraDBCluster.pxc.percona.com
  plural: perconaxtradbclusters
  versions: [v1]
  backup:
  - method: XtraBackup
    requires: spec.backup.storages.*
    object: {kind: PerconaXtraDBClusterBackup.pxc.percona.com, version: v1, spec: {pxcCluster: "{{name}}", storageName: "{{key.spec.backup.storages}}"}}
    handle: status.destination
    patch: {spec: {pause: false}}
    restore: {kind: PerconaXtraDBClusterRestore.pxc.percona.com, version: v1, spec: {pxcCluster: "{{name}}", backupSource: {destination: "{{backup.status.destination}}"}}}
    source: a
  copy: {remove: [spec.backup.pitr], patch: {spec: {pause: "{{object.spec.pause}}"}}, source: a}
relations: []
`
	for change, want := range map[string]string{
		"": "",
		"requires: spec.backup.storages.*=requires: spec.backups.storages.*": "PerconaXtraDBCluster.pxc.percona.com v1: backup: ",
		"storageName: =storage: ":                                "PerconaXtraDBClusterBackup.pxc.percona.com v1: backup: ",
		"key.spec.backup.storages=key.spec.backup.stores":        "PerconaXtraDBCluster.pxc.percona.com v1: backup: ",
		"handle: status.destination=handle: status.destinations": "PerconaXtraDBClusterBackup.pxc.percona.com v1: backup: ",
		"spec.backup.pitr=spec.backup.pit":                       "PerconaXtraDBCluster.pxc.percona.com v1: copy: ",
		"{{object.spec.pause}}={{object.spec.paused}}":           "PerconaXtraDBCluster.pxc.percona.com v1: copy: ",
		"pause: false=paused: false":                             "PerconaXtraDBCluster.pxc.percona.com v1: backup: ",
		"backupSource: {destination=backupSource: {destinations": "PerconaXtraDBClusterRestore.pxc.percona.com v1: restore: ",
		"{{backup.status.destination}}={{backup.status.place}}":  "PerconaXtraDBClusterBackup.pxc.percona.com v1: backup: ",
	} {
		from, to, _ := strings.Cut(change, "=")
		given := text
		if from != "" {
			given = strings.Replace(text, from, to, 1)
		}
		e, problems := catalog.Parse("pxc", []byte(given))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var got []string
		for _, f := range lint.Entry(known(t), &e, lint.ReadDocument([]byte(given))) {
			got = append(got, f.Message)
		}
		if all := strings.Join(got, "\n"); want == "" && all != "" || !strings.HasPrefix(all, want) {
			t.Errorf("%s\n got %s\nwant %s", change, all, want)
		}
	}
}
