package check

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// System is what a System manifest declares, as far as rules read it.
type System struct {
	Apps        []SystemApp
	Connections []SystemConnection
}

// SystemApp is an app, with its roots.
type SystemApp struct {
	Name  string
	Roots []object.Ref
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
