package backups

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

// madeAt is a backup of one part, whose object is a ConfigMap: it is Healthy.
func madeAt(t *testing.T, at time.Time) (p *backup.Plan, record *unstructured.Unstructured) {
	t.Helper()
	p = &backup.Plan{Name: "shop-backup-" + at.Format(backup.StampFormat), Source: "shop", Namespace: "shop", Time: at, Specs: "specs"}
	p.Parts = []backup.Part{{Object: object.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "files"}, Method: backup.ByOperator, Backup: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "copy"}}}
	record, err := recordOf(p)
	if err != nil {
		t.Fatal(err)
	}
	return p, record
}

// install stores the signed journal of a backup, as the run that made it.
func installed(t *testing.T, in *app.Input, p *backup.Plan, manifest bool) {
	t.Helper()
	c, err := systems.Connect(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	target := install.Installation{Name: p.Name, Namespace: p.Namespace, System: true}
	store, err := install.NewStore(c.Config, target)
	if err != nil {
		t.Fatal(err)
	}
	j, err := store.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if manifest {
		_, j.Manifest, err = System(p)
	} else {
		j.Run = &install.Run{ID: "one", Action: install.Install}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Save(t.Context(), j); err != nil {
		t.Fatal(err)
	}
}

func copyOf() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "copy", "namespace": "shop"}}}
}

// A record that no installed backup has makes no backup expire: one that another program wrote, one
// of a run that was killed, one that was changed, and one of the future.
func TestExpiredCountsInstalled(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 9, n, 3, 0, 0, 0, time.UTC) }
	older, olderRecord := madeAt(t, day(1))
	newest, newestRecord := madeAt(t, day(2))
	_, forged := madeAt(t, day(3))
	half, halfRecord := madeAt(t, day(4))
	changed, changedRecord := madeAt(t, day(5))
	future, futureRecord := madeAt(t, day(20))
	_, in, said := newServer(t, copyOf(), olderRecord, newestRecord, forged, halfRecord, changedRecord, futureRecord)
	for _, p := range []*backup.Plan{older, newest, future} {
		installed(t, in, p, true)
	}
	changed.Specs = "other"
	installed(t, in, changed, true)
	installed(t, in, half, false)
	got, err := Expired(t.Context(), in, backup.Retention{Keep: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Name != older.Name {
		t.Errorf("expired: %v", names(got))
	}
	if got, err := Expired(t.Context(), in, backup.Retention{Keep: 1}, &backup.Plan{Namespace: "shop", Source: "shop", Roots: []object.Ref{{Kind: "system", Namespace: "shop", Name: "shop"}}}); err != nil || len(got) > 0 {
		t.Errorf("of another source: %v, %v", names(got), err)
	}
	text := strings.Join(said.warnings, "\n")
	for _, words := range []string{forged.GetName() + " says that it is a backup, and no backup of that name is installed", "the run that makes " + half.Name + " has not ended", changed.Name + " was changed after the backup was made"} {
		if !strings.Contains(text, words) {
			t.Errorf("it does not say %q:\n%s", words, text)
		}
	}
}

// A run that is continued takes the record of its first run, and none that another program wrote or
// changed.
func TestResumeTrustsTheJournal(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 9, n, 3, 0, 0, 0, time.UTC) }
	done, doneRecord := madeAt(t, day(1))
	half, halfRecord := madeAt(t, day(2))
	forged, forgedRecord := madeAt(t, day(3))
	changed, changedRecord := madeAt(t, day(4))
	_, in, _ := newServer(t, copyOf(), doneRecord, halfRecord, forgedRecord, changedRecord)
	installed(t, in, done, true)
	installed(t, in, half, false)
	changed.Specs = "other"
	installed(t, in, changed, true)
	for _, c := range []struct {
		of   *backup.Plan
		want string
	}{
		{done, ""},
		{half, ""},
		{forged, "no backup of that name is installed: another program wrote it"},
		{changed, "was changed after the backup was made"},
		{&backup.Plan{Name: "shop-backup-20260905-030000", Namespace: "shop"}, ""},
	} {
		p := &backup.Plan{Name: c.of.Name, Namespace: "shop", Source: "shop", Specs: "now"}
		err := resume(t.Context(), in, p)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || p.Record != "") {
			t.Errorf("%s: %v, want %q", c.of.Name, err, c.want)
		}
		if taken := p.Record != ""; taken != (c.of == done || c.of == half) || taken && p.Specs != "specs" {
			t.Errorf("%s: the record is %q, the manifests %q", c.of.Name, p.Record, p.Specs)
		}
	}
}

func names(all []*backup.Plan) (out []string) {
	for _, p := range all {
		out = append(out, p.Name)
	}
	return out
}

// The name, the time and the source in a record are those of its object.
func TestRecordOfAnotherBackup(t *testing.T) {
	t.Parallel()
	p, o := madeAt(t, time.Date(2026, 9, 1, 3, 0, 0, 0, time.UTC))
	if read, err := planOf(o); err != nil || read.Source != p.Source {
		t.Fatalf("the record is %+v, %v", read, err)
	}
	for want, change := range map[string]func(*unstructured.Unstructured){
		"has the record of another backup": func(o *unstructured.Unstructured) { o.SetName("shop") },
		"is a backup of web by its label, and of shop by its record": func(o *unstructured.Unstructured) {
			o.SetLabels(map[string]string{backup.SourceLabel: "web", backup.NameLabel: p.Name})
		},
		"has another time in its record, 2026-10-01": func(o *unstructured.Unstructured) {
			data := o.Object["data"].(map[string]any)
			data[backup.RecordKey] = strings.Replace(fmt.Sprint(data[backup.RecordKey]), "2026-09-01", "2026-10-01", 1)
		},
	} {
		other := o.DeepCopy()
		change(other)
		if _, err := planOf(other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Deleting older backups needs the rights of the run for objects of other names.
func TestRetentionRoles(t *testing.T) {
	t.Parallel()
	roles := RetentionRoles("run", []permission.Permission{
		{Verb: "get", Resource: "namespaces", Name: "shop"},
		{Verb: "create", Resource: "configmaps", Namespace: "shop"},
		{Verb: "delete", Resource: "configmaps", Namespace: "shop", Name: "one"},
		{Verb: "delete", Group: backup.SnapshotGroup, Resource: "volumesnapshots", Namespace: "data", Name: "one"},
		{Verb: "create", Resource: "secrets", Namespace: "empty"},
	})
	var got []string
	for _, role := range roles {
		got = append(got, fmt.Sprint(role.GetKind(), " ", role.GetNamespace(), " ", role.GetName(), " ", role.Object["rules"]))
	}
	want := []string{
		"Role data run-retention [map[apiGroups:[snapshot.storage.k8s.io] resources:[volumesnapshots] verbs:[delete]]]",
		"Role shop run-retention [map[apiGroups:[] resources:[configmaps] verbs:[delete]]]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the roles are\n%s", strings.Join(got, "\n"))
	}
}
