package install

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
)

// History is the past of an installation.
type History struct {
	Installation Installation `json:"installation"`
	// Run is the run that has not ended.
	Run *Run `json:"run,omitempty"`
	// Past are the runs that ended, the latest last.
	Past []RunRecord `json:"past"`
	// Releases are the revisions of the releases that runs changed, as Helm has them.
	Releases []ReleaseHistory `json:"releases"`
	// Manifest is the text of the System as it was installed last.
	Manifest string `json:"manifest,omitempty"`
}

// ReleaseHistory are the revisions of a release, the latest last.
type ReleaseHistory struct {
	Release   string     `json:"release"`
	Namespace string     `json:"namespace"`
	Revisions []Revision `json:"revisions"`
	// Error is the reason why they could not be read.
	Error string `json:"error,omitempty"`
}

// Revision is a revision of a release in Helm's records.
type Revision struct {
	Revision    int    `json:"revision"`
	Status      string `json:"status"`
	Chart       string `json:"chart"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	// Run is the id of the run that created it, empty if the helm command did.
	Run string `json:"run,omitempty"`
}

// History reads the past of an installation; it writes nothing and needs no lock.
func (r *Runner) History(ctx context.Context) (History, error) {
	j, err := r.Store.Load(ctx)
	if err != nil {
		return History{}, err
	}
	h := History{Installation: j.Installation, Run: j.Run, Past: j.Runs, Manifest: j.Manifest}
	var names []helm.ReleaseName
	for _, p := range j.Runs {
		for _, s := range p.Releases {
			names = append(names, helm.ReleaseName{Name: s.Release, Namespace: s.Namespace})
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

var errNoFormer = errors.New("there is no earlier state to roll back to")

// Target returns the run that a rollback returns to: that of a revision of the history, or for 0
// the last complete run before the live one. After a rollback the live run is the one that it
// returned to, so that a second rollback never moves forward.
func (h History) Target(revision int) (RunRecord, error) {
	if revision == 0 {
		return h.former()
	}
	for _, p := range h.Past {
		switch {
		case p.Revision != revision:
		case p.Result != ResultDone || p.Action == Uninstall:
			return RunRecord{}, fmt.Errorf("cannot roll back to revision %d: it is an %s that was %s", revision, p.Action, p.Result)
		default:
			return p, nil
		}
	}
	if len(h.Past) == 0 {
		return RunRecord{}, fmt.Errorf("unknown revision %d: %w", revision, errNoFormer)
	}
	return RunRecord{}, fmt.Errorf("unknown revision %d: the history has %d to %d", revision, h.Past[0].Revision, h.Past[len(h.Past)-1].Revision)
}

// former returns the last complete run before the live one, since the installation.
func (h History) former() (RunRecord, error) {
	live, ok := h.live()
	if !ok {
		return RunRecord{}, errNoFormer
	}
	for _, p := range slices.Backward(h.Past) {
		switch {
		case p.Revision >= live.Revision || p.Result != ResultDone:
		case p.Action == Uninstall:
			return RunRecord{}, fmt.Errorf("%w: before revision %d it was uninstalled", errNoFormer, live.Revision)
		default:
			return p, nil
		}
	}
	return RunRecord{}, errNoFormer
}

// live returns the run whose releases are deployed; after a rollback, the run that it returned to.
func (h History) live() (RunRecord, bool) {
	at := len(h.Past) - 1
	for at >= 0 && h.Past[at].Result != ResultDone {
		at--
	}
	for at >= 0 && h.Past[at].Action == Rollback {
		next := h.wentBackTo(at)
		if next < 0 || next >= at {
			return RunRecord{}, false // the live run is no longer recorded, so nothing is known to precede it
		}
		at = next
	}
	if at < 0 || h.Past[at].Action == Uninstall {
		return RunRecord{}, false
	}
	return h.Past[at], true
}

// wentBackTo returns the index of the run that a rollback returned to; -1 if it is no longer
// recorded. Older versions did not record it: then it is the last run with the same releases in the
// same versions, before the run that precedes the rollback.
func (h History) wentBackTo(at int) int {
	if to := h.Past[at].To; to > 0 {
		return slices.IndexFunc(h.Past, func(p RunRecord) bool { return p.Revision == to })
	}
	for i := at - 2; i >= 0; i-- {
		if p := h.Past[i]; p.Result == ResultDone && p.Action != Uninstall && sameVersions(p.Releases, h.Past[at].Releases) {
			return i
		}
	}
	return -1
}

func sameVersions(a, b []ReleaseState) bool {
	key := func(all []ReleaseState) []string {
		var out []string
		for _, r := range all {
			out = append(out, r.Namespace+"/"+r.Release+"@"+r.Version)
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(key(a), key(b))
}
