package health

import "strings"

// scheduled evaluates an object that starts runs on a schedule, and records the last one: the runs
// report their own health.
func (s *subject) scheduled() finding {
	if schedule, _ := s.spec()["schedule"].(string); schedule == "" && !clockwork(s.Kind) {
		return finding{}
	}
	last := firstTime(s.status, "lastScheduleTime", "lastScheduledTime", "lastRunTime")
	f := finding{whole: true}
	f.Since = last
	switch active, _ := s.status["active"].([]any); {
	case len(active) > 0:
		f.Status, f.Reason, f.Message = Progressing, "Running", "runs of it are active"
	case !last.IsZero() && firstTime(s.status, "lastSuccessfulTime").Before(last) && s.status["lastSuccessfulTime"] != nil:
		f.Status, f.Reason = Degraded, "LastRunFailed"
		f.Message = "its last run, of " + last.UTC().Format("2006-01-02 15:04:05") + ", has ended without success"
	case !last.IsZero():
		f.Status, f.Reason, f.Message = Healthy, "Scheduled", "it last started a run at "+last.UTC().Format("2006-01-02 15:04:05")
	}
	return f
}

// clockwork reports kinds that are named after a schedule.
func clockwork(kind string) bool {
	return strings.Contains(kind, "Schedule") || strings.Contains(kind, "Cron")
}
