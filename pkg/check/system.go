package check

import (
	"slices"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// System is what a System manifest declares, as far as rules read it.
type System struct {
	Name, Namespace string
	Apps            []SystemApp
	Connections     []SystemConnection
	// BackupAge is how old the last good backup may be; 0 for DefaultBackupAge.
	BackupAge time.Duration
}

// SystemApp is an app, with its roots that exist.
type SystemApp struct {
	Name  string
	Roots []object.Ref
	// Missing are the roots that do not exist, and Unread those that could not be read, as the
	// manifest names them.
	Missing, Unread []string
	// Contained are the roots that the manifest contains, and Operator is the operator that it names
	// for the app; empty for none.
	Contained []object.Ref
	Operator  string
	// NotMonitored and NotScaled say that the manifest excludes the app from these.
	NotMonitored, NotScaled bool
}

// SystemConnection says that the app To uses From: a port of it by name or number, or a value of a
// field if Port is empty.
type SystemConnection struct {
	From, To, Port string
	// Consumer is the workload of To that uses it; zero for all of them.
	Consumer object.Ref
}

// App returns the app that has a root; nil for none.
func (s *System) App(has func(object.Ref) bool) *SystemApp {
	if s == nil {
		return nil
	}
	for i := range s.Apps {
		if slices.ContainsFunc(s.Apps[i].Roots, has) {
			return &s.Apps[i]
		}
	}
	return nil
}
