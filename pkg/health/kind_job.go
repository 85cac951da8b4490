package health

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

func jobKinds() []kindRule {
	return []kindRule{
		typed("batch", "v1", "Job", jobHealth),
		typed("batch", "v1", "CronJob", cronJobHealth),
	}
}

// jobHealth: a Job is meant to end, so a running one is Progressing.
func jobHealth(_ *subject, job *batchv1.Job) Health {
	state := func(kind batchv1.JobConditionType) stated { return find(job.Status.Conditions, kind, saidOfJob) }
	count := jobCount(job)
	begun := time.Time{}
	if job.Status.StartTime != nil {
		begun = job.Status.StartTime.Time
	}
	for _, kind := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobFailureTarget} {
		if failed := state(kind); failed.yes() {
			h := failed.as(Degraded, string(batchv1.JobFailed), "it has failed")
			h.Message = count + "; " + h.Message
			return ended(h)
		}
	}
	if done := state(batchv1.JobComplete); done.yes() {
		return ended(newHealth(Healthy, done.since, "Completed", "%s", count))
	}
	held := state(batchv1.JobSuspended)
	switch {
	case job.Spec.Suspend != nil && *job.Spec.Suspend, held.yes():
		return newHealth(Suspended, held.since, "JobSuspended", "it is suspended; %s", count)
	case job.Spec.Parallelism != nil && *job.Spec.Parallelism == 0:
		// The API calls it paused until parallelism is raised.
		return newHealth(Suspended, begun, "NoParallelism", "it may run no pods; %s", count)
	case job.Status.StartTime == nil:
		return newHealth(Progressing, job.CreationTimestamp.Time, "NotStarted", "it has not started")
	case state(batchv1.JobSuccessCriteriaMet).yes():
		return newHealth(Progressing, begun, "Completing", "%s; its last pods are terminating", count)
	}
	return newHealth(Progressing, begun, "Running", "%s", count)
}

// jobCount describes the results of a Job's pods.
func jobCount(job *batchv1.Job) string {
	have := job.Status
	text := fmt.Sprintf("%d succeeded", have.Succeeded)
	if job.Spec.Completions != nil {
		text = fmt.Sprintf("%d/%d succeeded", have.Succeeded, *job.Spec.Completions)
	}
	if have.Active > 0 {
		text += fmt.Sprintf(", %d active", have.Active)
	}
	if have.Failed > 0 {
		text += fmt.Sprintf(", %d failed", have.Failed)
	}
	return text
}

// cronJobHealth: a CronJob is Healthy if its Jobs succeed. Its controller removes an ended Job from
// the active ones, and records in the same write when the last one succeeded: if none is active and
// that was before the last start, the last one failed. While one is active the status says nothing
// about the run before.
func cronJobHealth(_ *subject, c *batchv1.CronJob) Health {
	last, success := c.Status.LastScheduleTime, c.Status.LastSuccessfulTime
	if c.Spec.Suspend != nil && *c.Spec.Suspend {
		return newHealth(Suspended, time.Time{}, "CronJobSuspended", "it is suspended")
	}
	switch {
	case len(c.Status.Active) > 0:
		return newHealth(Healthy, time.Time{}, "Scheduled", "%d jobs run", len(c.Status.Active))
	case last == nil:
		return newHealth(Healthy, c.CreationTimestamp.Time, "Scheduled", "it has not run yet")
	case success == nil, success.Before(last):
		return newHealth(Degraded, last.Time, "LastRunFailed", "its last run, of %s, has ended without success", last.UTC().Format(time.RFC3339))
	}
	return newHealth(Healthy, success.Time, "Scheduled", "its last run, of %s, has succeeded", last.UTC().Format(time.RFC3339))
}
