package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// impactDocument is the JSON of the impact command, as far as tests look at it.
type impactDocument struct {
	Object, Summary, AppliesWhen string
	Finalizers, Deleted          []string
	RecreatedBy                  *impactRemaker
	Deletions, MayBeDeleted      []impactDeletion
	Retained                     []impactKept
	Direct, Indirect, Served     []impactDependent
	UnreadKinds                  []string
	Gaps                         []gap
}

type impactRemaker struct {
	ID    string
	Known bool
}

type impactDeletion struct {
	ID, Cause, Removal string
	Blocks             bool
	Finalizers         []string
}

type impactKept struct{ ID, Cause, Reason string }

type impactDependent struct {
	ID, Effect, Cause, Consequence string
	Inferred                       bool
	Controlled                     []string
	Remaining, Total               int
}

// lines are all that is foretold, one a line: EFFECT[?] OBJECT, with a question mark for a
// guess.
func (d impactDocument) lines() (lines []string) {
	guess := map[bool]string{true: "?"}
	for _, x := range d.Deletions {
		lines = append(lines, "deleted "+x.ID+" by "+x.Removal)
	}
	for _, x := range d.MayBeDeleted {
		lines = append(lines, "deleted? "+x.ID+" by "+x.Removal)
	}
	for _, x := range d.Retained {
		lines = append(lines, "kept "+x.ID+": "+x.Reason)
	}
	for _, x := range slices.Concat(d.Direct, d.Indirect, d.Served) {
		line := x.Effect + guess[x.Inferred] + " " + x.ID
		if x.Total > 0 {
			line += fmt.Sprintf(": %d of %d left", x.Remaining, x.Total)
		}
		lines = append(lines, line)
	}
	if d.RecreatedBy != nil {
		lines = append(lines, "anew"+guess[!d.RecreatedBy.Known]+" by "+d.RecreatedBy.ID)
	}
	return lines
}

// differences are the lines that no pattern has, and the patterns that no line has.
func (d impactDocument) differences(patterns []string) (out []string) {
	lines := d.lines()
	for _, l := range lines {
		if !slices.ContainsFunc(patterns, func(p string) bool { return matches(p, l) }) {
			out = append(out, "too much: "+l)
		}
	}
	for _, p := range patterns {
		if !slices.ContainsFunc(lines, func(l string) bool { return matches(p, l) }) {
			out = append(out, "missing: "+p)
		}
	}
	return out
}

// foretell runs the impact command, and returns what it said on stderr as well.
func foretell(t *testing.T, kubeconfig string, args ...string) (impactDocument, string) {
	t.Helper()
	r := sysop(t, kubeconfig, append([]string{"impact", "-o", "json"}, args...)...).succeeds(t)
	var d impactDocument
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("%v: %v in:\n%s", args, err, r.stdout)
	}
	return d, r.stderr
}
