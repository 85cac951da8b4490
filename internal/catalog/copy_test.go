package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
)

// TestCopiesHaveNoSchedule: what has an operator back up by a schedule is taken out of a copy: a field
// is removed, an object of a kind is left out.
func TestCopiesHaveNoSchedule(t *testing.T) {
	t.Parallel()
	for _, e := range catalog.All() {
		for _, k := range e.Kinds {
			for _, way := range k.Backup {
				if scheduled := catalog.CopyOf(declare.GroupKind(way.Schedule)); scheduled != nil && scheduled.Omit || way.Schedule == "" {
					continue
				}
				general := strings.ReplaceAll(way.Schedule, "[0]", "[]")
				if k.Copy == nil || !slices.ContainsFunc(k.Copy.Remove, func(path string) bool { return path == general || strings.HasPrefix(general, path+".") }) {
					t.Errorf("%s: a copy has %s", k.Kind, way.Schedule)
				}
			}
		}
	}
}

// TestSeparate: a copy of each kind has nothing that writes to the store of the original, and all else.
func TestSeparate(t *testing.T) {
	t.Parallel()
	const patched = "spec: {backup: {barmanObjectStore: {serverName: db-new}}}"
	for _, c := range []struct{ kind, given, patch, want, changed string }{
		{
			"PerconaXtraDBCluster.pxc.percona.com",
			"spec: {pxc: {size: 3}, backup: {storages: {s3: {type: s3}}, schedule: [{name: daily}], pitr: {enabled: true, storageName: s3}}}", "",
			"spec: {pxc: {size: 3}, backup: {storages: {s3: {type: s3}}}}", "[spec.backup.schedule spec.backup.pitr]",
		},
		{
			"PerconaServerMongoDB.psmdb.percona.com",
			"spec: {backup: {enabled: true, storages: {s3: {type: s3}}, tasks: [{name: daily}], pitr: {enabled: true}}}", "",
			"spec: {backup: {enabled: true, storages: {s3: {type: s3}}}}", "[spec.backup.tasks spec.backup.pitr]",
		},
		{
			"PerconaPGCluster.pgv2.percona.com",
			"spec: {backups: {pgbackrest: {repos: [{name: repo1, schedules: {full: '0 0 * * 6'}, s3: {bucket: b}}, {name: repo2, volume: {}}], global: {repo1-retention-full: '2', repo1-path: /there}}}}", "",
			"spec: {backups: {pgbackrest: {repos: [{name: repo1, s3: {bucket: b}}, {name: repo2, volume: {}}], global: {repo1-retention-full: '2', repo1-path: /pgbackrest/repo1/db-now, repo2-path: /pgbackrest/repo2/db-now}}}}",
			"[spec.backups.pgbackrest.repos[].schedules spec.backups.pgbackrest.global.repo1-path spec.backups.pgbackrest.global.repo2-path]",
		},
		{
			"Cluster.postgresql.cnpg.io", "spec: {instances: 3, backup: {barmanObjectStore: {destinationPath: 's3://b', serverName: db-new}}}", "",
			"spec: {instances: 3}", "[spec.backup]",
		},
		{
			"Cluster.postgresql.cnpg.io", "spec: {instances: 3, backup: {barmanObjectStore: {destinationPath: 's3://b', serverName: db-new}}, plugins: [{name: another}]}", patched,
			"spec: {instances: 3, backup: {barmanObjectStore: {destinationPath: 's3://b', serverName: db-new}}}", "[spec.plugins]",
		},
		{"MysqlCluster.mysql.presslabs.org", "spec: {backupSchedule: '0 0 * * *', backupURL: 's3://b'}", "", "spec: {backupURL: 's3://b'}", "[spec.backupSchedule]"},
		{"MariaDB.k8s.mariadb.com", "spec: {replicas: 1, pointInTimeRecoveryRef: {name: pitr}}", "", "spec: {replicas: 1}", "[spec.pointInTimeRecoveryRef]"},
		{"K8ssandraCluster.k8ssandra.io", "spec: {cassandra: {}, medusa: {storageProperties: {bucketName: b}}}", "", "spec: {cassandra: {}}", "[spec.medusa]"},
		{
			"StackConfigPolicy.stackconfigpolicy.k8s.elastic.co", "spec: {elasticsearch: {snapshotLifecyclePolicies: {a: {}}, snapshotRepositories: {b: {}}, clusterSettings: {}}}", "",
			"spec: {elasticsearch: {clusterSettings: {}}}", "[spec.elasticsearch.snapshotLifecyclePolicies spec.elasticsearch.snapshotRepositories]",
		},
		{"Elasticsearch.elasticsearch.k8s.elastic.co", "spec: {version: 9.0.0, secureSettings: [{secretName: s3}]}", "", "spec: {version: 9.0.0}", "[spec.secureSettings]"},
		{"InnoDBCluster.mysql.oracle.com", "spec: {backupSchedules: [{name: daily}], backupProfiles: [{name: s3}]}", "", "spec: {backupProfiles: [{name: s3}]}", "[spec.backupSchedules]"},
		{"PostgresCluster.postgres-operator.crunchydata.com", "spec: {instances: [{name: a}]}", "", "spec: {instances: [{name: a}]}", "[]"},
		{"VitessCluster.planetscale.com", "spec: {backup: {locations: [{name: s3}]}}", "", "spec: {}", "[spec.backup]"},
	} {
		fields, want, patch := fieldsOf(t, c.given), fieldsOf(t, c.want), fieldsOf(t, c.patch)
		rule := catalog.CopyOf(declare.GroupKind(c.kind))
		if rule == nil {
			t.Errorf("%s: no rule", c.kind)
			continue
		}
		removed, set := rule.Separate(fields, patch, catalog.BackupValues{Name: "db", Stamp: "now", Object: fieldsOf(t, c.given)})
		if fmt.Sprint(fields) != fmt.Sprint(want) || fmt.Sprint(append(removed, set...)) != c.changed {
			t.Errorf("%s\n got %v\nwant %v\n%v", c.kind, fields, want, removed)
		}
	}
}

func fieldsOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
