package backups

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/incluster"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

func TestNextRun(t *testing.T) {
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ schedule, zone, want string }{
		{"0 2 * * *", "", "2026-09-02T02:00:00Z"},
		{"0 2 * * *", "Europe/Vienna", "2026-09-02T00:00:00Z"},
		{"@daily", "UTC", "2026-09-02T00:00:00Z"},
		{"*/20 * * * *", "", "2026-09-01T12:20:00Z"},
		{"0 0 30 2 *", "", "0001-01-01T00:00:00Z"},
		{"0 2 * *", "", "--schedule"},
		{"61 2 * * *", "", "--schedule"},
		{"CRON_TZ=UTC 0 2 * * *", "", "--time-zone"},
		{"0 2 * * *", "Vienna", "--time-zone"},
		{"0 2 * * *", "Local", "--time-zone"},
	} {
		next, err := nextRun(tt.schedule, tt.zone, now)
		got := next.UTC().Format(time.RFC3339)
		if err != nil {
			got = err.Error()
		}
		if strings.HasPrefix(tt.want, "--") != (err != nil) || !strings.HasPrefix(got, tt.want) && err == nil {
			t.Errorf("%q in %q: %s, %v; want %s", tt.schedule, tt.zone, got, err, tt.want)
		}
	}
}

func TestCronJobManifests(t *testing.T) {
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	db := object.Ref{Group: "postgresql.cnpg.io", Kind: "Cluster", Namespace: "shop", Name: "db"}
	p := &backup.Plan{Name: "shop-backup-20260901-120000", Source: "shop", Namespace: "shop", Time: at, Parts: []backup.Part{{Object: db, Method: backup.ByOperator, Provider: "Barman object store"}}}
	s := &CronJob{Cron: "0 2 * * *", TimeZone: "Europe/Vienna", Image: "registry.example.com/kubectl-sysop:v1"}
	if err := s.setName(p); err != nil || s.Name != "sysop-shop-backup" {
		t.Fatalf("the name is %q, %v", s.Name, err)
	}
	rights := []permission.Permission{
		{Verb: "delete", Group: "postgresql.cnpg.io", Resource: "backups", Namespace: "shop", Name: "db-20260901-120000"},
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"},
	}
	var text strings.Builder
	job := &batchv1.CronJob{}
	for _, m := range s.manifests(p, "v1", []string{"backup", "run", "--system=shop"}, []incluster.Resource{{Resource: "secrets", Namespace: "shop"}, {Resource: "persistentvolumeclaims", Namespace: "shop"}}, rights) {
		out, err := yaml.Marshal(m.Object.Object)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(m.Comment + "\n" + string(out))
		if m.Object.GetKind() == "CronJob" {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.Object.Object, job); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, words := range []string{"20260901", "secrets"} {
		if strings.Contains(text.String(), words) {
			t.Errorf("%s is in\n%s", words, text.String())
		}
	}
	for _, words := range []string{"ScheduledBackup.postgresql.cnpg.io for Cluster.postgresql.cnpg.io/shop/db", "- web\n", "delete of backups"} {
		if !strings.Contains(text.String(), words) {
			t.Errorf("no %q in\n%s", words, text.String())
		}
	}
	if spec := job.Spec; spec.ConcurrencyPolicy != batchv1.ForbidConcurrent || spec.Schedule != s.Cron || *spec.TimeZone != s.TimeZone || spec.JobTemplate.Spec.Template.Spec.ServiceAccountName != s.Name {
		t.Errorf("the CronJob is %+v", spec)
	}
	// Where one part is not saved by an operator with a schedule, the CronJob is needed.
	p.Parts = append(p.Parts, backup.Part{Method: backup.BySnapshot, Provider: "fast"})
	if own := ownSchedules(p); own != "" {
		t.Errorf("it says %q", own)
	}
	if err := (&CronJob{}).setName(&backup.Plan{Source: strings.Repeat("x", 50)}); err == nil || !strings.Contains(err.Error(), "at most 52") {
		t.Errorf("a name that is too long: %v", err)
	}
	if err := (&CronJob{Name: "Shop"}).setName(p); err == nil {
		t.Error("a name that no object may have is accepted")
	}
}

// A CronJob with a schedule that cannot be read is listed, and its next run is unknown.
func TestScheduleOf(t *testing.T) {
	t.Parallel()
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "CronJob",
		"metadata": map[string]any{"name": "nightly", "namespace": "shop", "labels": map[string]any{backup.SourceLabel: "shop"}},
		"spec":     map[string]any{"schedule": "61 2 * * *"},
	}}
	s, err := scheduleOf(o, time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC))
	if err == nil || !s.Next.IsZero() || s.Source != "shop" || s.CronJob.Name != "nightly" {
		t.Errorf("%+v, %v", s, err)
	}
}
