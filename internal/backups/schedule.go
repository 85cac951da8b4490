package backups

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // time zones are checked where none are installed

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/incluster"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// CronJob backs up by a schedule.
type CronJob struct {
	// Cron says when, as the spec.schedule of a CronJob, in the TimeZone; empty for that of the
	// kube-controller-manager.
	Cron, TimeZone string
	// Name is that of the CronJob; empty for one after what is saved. Image is that of kubectl-sysop.
	Name, Image string
	// Options are those of backup run.
	Options []string
}

// maxCronJobName is how long the name of a CronJob may be: those of its Jobs are longer.
const maxCronJobName = 52

// Check refuses a schedule that no CronJob may have, or that never fires.
func (s *CronJob) Check(now time.Time) error {
	if err := incluster.CheckImage(s.Image); err != nil {
		return err
	}
	next, err := nextRun(s.Cron, s.TimeZone, now)
	if err == nil && next.IsZero() {
		err = hint.With(fmt.Errorf("--schedule %q: there is no such day", s.Cron), "the fields are minute, hour, day of month, month, day of week")
	}
	return err
}

// Schedules lists the CronJobs that back up in a namespace, or in all, with their next runs.
func Schedules(ctx context.Context, in *app.Input) ([]backup.Schedule, error) {
	c, err := systems.Connect(ctx, in)
	if err != nil {
		return nil, err
	}
	list, err := c.Objects.Resource(batchv1.SchemeGroupVersion.WithResource("cronjobs")).Namespace(c.Namespace).List(ctx, metav1.ListOptions{LabelSelector: backup.SourceLabel})
	if apierrors.IsForbidden(err) {
		in.Report.Note("the next run is unknown: " + err.Error())
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the CronJobs that back up: %w", err)
	}
	var out []backup.Schedule
	for i := range list.Items {
		found, err := scheduleOf(&list.Items[i], in.Now())
		if err != nil { // one that is wrong must not hide the others
			in.Report.Warn(fmt.Sprintf("the next run of %s is unknown: %v", object.RefOf(&list.Items[i]), err))
		}
		out = append(out, found)
	}
	slices.SortFunc(out, func(a, b backup.Schedule) int { return object.Compare(a.CronJob, b.CronJob) })
	return out, nil
}

// scheduleOf reads a CronJob; with an error, its next run is unknown.
func scheduleOf(o *unstructured.Unstructured, now time.Time) (backup.Schedule, error) {
	s, job := backup.Schedule{CronJob: object.RefOf(o)}, &batchv1.CronJob{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, job); err != nil {
		return s, err
	}
	s.Source, s.Cron = job.Labels[backup.SourceLabel], job.Spec.Schedule
	if job.Spec.TimeZone != nil {
		s.TimeZone = *job.Spec.TimeZone
	}
	if s.Suspended = job.Spec.Suspend != nil && *job.Spec.Suspend; s.Suspended {
		return s, nil
	}
	next, err := nextRun(s.Cron, s.TimeZone, now)
	s.Next = next.UTC()
	return s, err
}

// nextRun is when a CronJob runs next; zero for never. It is read as its controller does.
func nextRun(schedule, zone string, after time.Time) (time.Time, error) {
	at := time.UTC
	if strings.EqualFold(zone, "Local") {
		return time.Time{}, fmt.Errorf("--time-zone %s: expected a name as Europe/Vienna, or UTC", zone)
	}
	if zone != "" {
		var err error
		if at, err = time.LoadLocation(zone); err != nil {
			return time.Time{}, fmt.Errorf("--time-zone %s: expected a name as Europe/Vienna, or UTC", zone)
		}
	}
	if strings.Contains(schedule, "TZ") {
		return time.Time{}, hint.With(fmt.Errorf("--schedule %q: a CronJob takes no time zone in it", schedule), "name it with --time-zone")
	}
	when, err := cron.ParseStandard(schedule)
	if err != nil {
		return time.Time{}, hint.With(fmt.Errorf("--schedule %q: %w", schedule, err), `the fields are minute, hour, day of month, month, day of week: "0 2 * * *" is at two every night`)
	}
	return when.Next(after.In(at)), nil
}

// Manifests returns the CronJob that runs a backup like the planned one, with its account and its
// least roles. The permissions are those of the planned run; what the next one creates has other names.
func (s *CronJob) Manifests(ctx context.Context, in *app.Input, r Request, p *backup.Plan, permissions []permission.Permission) ([]incluster.Manifest, error) {
	if err := s.setName(p); err != nil {
		return nil, err
	}
	q := systems.Query{Name: r.System}
	roots, err := q.Read(ctx, in, r.Roots)
	if err != nil {
		return nil, err
	}
	args, err := s.arguments(ctx, in, &q, r.Roots, p.Namespace)
	if err != nil {
		return nil, err
	}
	session, state, err := read(ctx, in, roots)
	if err != nil {
		return nil, err
	}
	var members []object.Ref
	for _, id := range state.Members {
		members = append(members, state.Graph.Ref(id))
	}
	members = slices.AppendSeq(members, maps.Keys(state.Whole))
	for _, gk := range []schema.GroupKind{backup.StorageClassKind, backup.SnapshotClassKind, backup.GroupSnapshotClassKind, {Group: backup.StorageClassKind.Group, Kind: "CSIDriver"}} {
		members = append(members, object.Ref{Group: gk.Group, Kind: gk.Kind})
	}
	everywhere := readEverywhere
	if slices.ContainsFunc(p.Parts, func(part backup.Part) bool { return part.IsGroup() }) {
		everywhere = append(slices.Clone(everywhere), object.Ref{Group: backup.SnapshotGroup, Kind: "VolumeSnapshot"}) // those of a group
	}
	reads, err := incluster.Reads(session, p.Namespace, members, everywhere)
	if err != nil {
		return nil, err
	}
	return s.manifests(p, in.Version, args, reads, permissions), nil
}

// setName names the CronJob after what it saves, unless it has a name.
func (s *CronJob) setName(p *backup.Plan) error {
	if s.Name == "" {
		s.Name = system.BackupName(p.Source)
	}
	if wrong := validation.IsDNS1123Label(s.Name); len(wrong) > 0 || len(s.Name) > maxCronJobName {
		if len(wrong) == 0 {
			wrong = []string{fmt.Sprintf("the name of a CronJob has at most %d characters", maxCronJobName)}
		}
		return hint.With(fmt.Errorf("%s: %s", s.Name, wrong[0]), "give the CronJob another name with --name")
	}
	return nil
}

// manifests are those of a CronJob with a name.
func (s *CronJob) manifests(p *backup.Plan, version string, args []string, reads []incluster.Resource, permissions []permission.Permission) []incluster.Manifest {
	program := incluster.Program{
		Name: s.Name, Namespace: p.Namespace, Image: s.Image, Version: version,
		Component: "backup", Labels: map[string]string{backup.SourceLabel: p.Source},
	}
	program.Account("The account that backs up " + p.Source + ". Only the pods of the CronJob below get its token.")
	permissions = append(unnamed(p, permissions), permission.Permission{Verb: "get", Group: backup.SnapshotGroup, Resource: "volumesnapshotcontents"}) // has the handle
	program.Roles("the backup", "what it creates, and what --keep and --keep-for delete.", reads, permissions)
	program.Add(s.comment(p), s.cronJob(&program, args))
	return program.Manifests
}

// readEverywhere is what holds state, in each namespace that has a member: it may come at any time.
var readEverywhere = []object.Ref{
	{Kind: backup.ClaimKind.Kind},
	{Group: "apps", Kind: "StatefulSet"},
}

// arguments are those of the container.
func (s *CronJob) arguments(ctx context.Context, in *app.Input, q *systems.Query, roots []string, namespace string) ([]string, error) {
	args := append([]string{"backup", "run"}, roots...)
	if q.System != nil {
		// The manifest is not in the cluster, unless the System was adopted.
		if _, err := systems.Named(ctx, in, namespace+"/"+q.System.Name); err != nil {
			return nil, fmt.Errorf("the CronJob finds the System by its name: %w", err)
		}
		args = append(args, "--system="+q.System.Name)
	}
	return append(append(args, "--namespace="+namespace, "--yes"), s.Options...), nil
}

// unnamed returns permissions without the names that only the planned run has: each run names its
// objects after its time.
func unnamed(p *backup.Plan, permissions []permission.Permission) []permission.Permission {
	stamp := p.Time.UTC().Format(backup.StampFormat)
	out := make([]permission.Permission, len(permissions))
	for i, r := range permissions {
		if strings.Contains(r.Name, stamp) {
			r.Name = ""
		}
		out[i] = r
	}
	return out
}

// comment describes the CronJob.
func (s *CronJob) comment(p *backup.Plan) string {
	lines := []string{"The same program as on the command line. A run that fails deletes what it created, and is tried again twice."}
	if own := ownSchedules(p); own != "" {
		lines = append(lines, own)
	}
	return strings.Join(lines, "\n")
}

func (s *CronJob) cronJob(program *incluster.Program, args []string) *batchv1.CronJob {
	pod, tries, history, grace := program.Pod("backup", args...), int32(2), int32(3), int64(120)
	pod.RestartPolicy = corev1.RestartPolicyNever
	pod.TerminationGracePeriodSeconds = &grace // recovers the apps that are stopped
	job := &batchv1.CronJob{
		TypeMeta: metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "CronJob"}, ObjectMeta: program.Meta(program.Namespace, s.Name),
		Spec: batchv1.CronJobSpec{
			Schedule: s.Cron, ConcurrencyPolicy: batchv1.ForbidConcurrent, SuccessfulJobsHistoryLimit: &history, FailedJobsHistoryLimit: &history,
			JobTemplate: batchv1.JobTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: program.AllLabels()},
				Spec: batchv1.JobSpec{
					BackoffLimit: &tries,
					Template:     corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: program.AllLabels()}, Spec: pod},
				},
			},
		},
	}
	if s.TimeZone != "" {
		job.Spec.TimeZone = &s.TimeZone
	}
	return job
}

// ownSchedules says that the operators can back up by schedules of their own, where these save all
// parts; empty where they do not.
func ownSchedules(p *backup.Plan) string {
	var own []string
	for i := range p.Parts {
		part := &p.Parts[i]
		way := backup.ScheduleOf(part)
		if way == "" {
			return ""
		}
		own = append(own, way+" for "+part.Object.String())
	}
	if len(own) == 0 || len(p.Unsaved) > 0 {
		return ""
	}
	return "The operators have schedules of their own, which save all of these parts, without the manifests: " + strings.Join(own, "; ") + "."
}
