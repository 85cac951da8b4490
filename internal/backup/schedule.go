package backup

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Schedule is a CronJob that backs up.
type Schedule struct {
	CronJob  object.Ref `json:"cronJob"`
	Source   string     `json:"source"` // what it saves
	Cron     string     `json:"schedule"`
	TimeZone string     `json:"timeZone,omitempty"`
	// Next is when it runs next; zero while it is suspended.
	Next      time.Time `json:"next,omitzero"`
	Suspended bool      `json:"suspended,omitempty"`
}

// Text says when it runs next.
func (s *Schedule) Text() string {
	if s.Suspended {
		return s.Source + ": " + s.CronJob.String() + " is suspended"
	}
	zone := ""
	if s.TimeZone == "" {
		zone = ", if the kube-controller-manager is in UTC"
	}
	return s.Source + ": the next backup is at " + s.Next.Format(time.RFC3339) + " (" + s.CronJob.String() + ")" + zone
}
