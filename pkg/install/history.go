package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// History is what is known of an installation.
type History struct {
	Installation Installation `json:"installation"`
	// Run is not ended.
	Run *Run `json:"run,omitempty"`
	// Past are the runs that ended, the latest last.
	Past []Past `json:"past"`
	// Releases are the revisions that Helm knows of the releases that runs touched.
	Releases []ReleaseHistory `json:"releases"`
	// Manifest is the text of the System as it was installed last.
	Manifest string `json:"manifest,omitempty"`
}

// ReleaseHistory are the revisions of a release, the latest last.
type ReleaseHistory struct {
	Release   string     `json:"release"`
	Namespace string     `json:"namespace"`
	Revisions []Revision `json:"revisions"`
	// Error says why they could not be read.
	Error string `json:"error,omitempty"`
}

// Revision is a revision of a release as Helm keeps it.
type Revision struct {
	Revision    int    `json:"revision"`
	Status      string `json:"status"`
	Chart       string `json:"chart"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	// Run is the id of the run that made it, empty for one that helm made.
	Run string `json:"run,omitempty"`
}

// History reads the past of an installation; it writes nothing and needs no lock.
func (r *Runner) History(ctx context.Context) (History, error) {
	j, err := r.Store.Load(ctx)
	if err != nil {
		return History{}, err
	}
	h := History{Installation: j.Installation, Run: j.Run, Past: j.Past, Manifest: j.Manifest}
	var names []ReleaseName
	for _, p := range j.Past {
		for _, s := range p.Releases {
			names = append(names, ReleaseName{s.Release, s.Namespace})
		}
	}
	names = append(names, Found{Journal: j}.Touches()...)
	for i, n := range names {
		if slices.Index(names, n) != i {
			continue
		}
		rh := ReleaseHistory{Release: n.Name, Namespace: n.Namespace}
		list, err := r.Engine.History(ctx, n)
		if err != nil {
			rh.Error = err.Error()
		}
		for _, v := range list {
			rh.Revisions = append(rh.Revisions, Revision{Revision: v.Revision, Status: v.Status, Chart: v.Chart, Version: v.Version, Description: v.Description, Run: v.Marks.Run})
		}
		h.Releases = append(h.Releases, rh)
	}
	return h, nil
}

var errNoFormer = errors.New("there is no former state to go back to")

// Target is the run whose releases a rollback goes back to: that of a revision of the
// history, or for 0 the one before the last that was done.
func (h History) Target(revision int) (Past, error) {
	var done []Past
	for _, p := range h.Past {
		switch {
		case p.Revision == revision && (p.Result != ResultDone || p.Action == Uninstall):
			return Past{}, fmt.Errorf("revision %d cannot be gone back to: it is an %s that was %s", revision, p.Action, p.Result)
		case p.Revision == revision:
			return p, nil
		case p.Result == ResultDone && p.Action != Uninstall:
			done = append(done, p)
		}
	}
	switch {
	case revision != 0 && len(h.Past) == 0:
		return Past{}, fmt.Errorf("revision %d is not known: %w", revision, errNoFormer)
	case revision != 0:
		return Past{}, fmt.Errorf("revision %d is not known: the history has %d to %d", revision, h.Past[0].Revision, h.Past[len(h.Past)-1].Revision)
	case len(done) < 2:
		return Past{}, errNoFormer
	}
	return done[len(done)-2], nil
}
