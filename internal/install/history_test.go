package install

import (
	"slices"
	"testing"
)

// Without a revision a rollback goes to the last one that was whole before the live one, and
// never forward.
func TestHistoryTarget(t *testing.T) {
	run := func(revision int, a Action, result string, to int, version string) RunRecord {
		return RunRecord{Revision: revision, Action: a, Result: result, To: to, Releases: []ReleaseState{{Release: "a", Namespace: "n", Version: version}}}
	}
	first, second := run(1, Install, ResultDone, 0, "1"), run(2, Upgrade, ResultDone, 0, "2")
	for name, c := range map[string]struct {
		past []RunRecord
		want int // 0 for none
	}{
		"nothing":              {nil, 0},
		"one":                  {[]RunRecord{first}, 0},
		"an upgrade":           {[]RunRecord{first, second}, 1},
		"after a rollback":     {[]RunRecord{first, second, run(3, Rollback, ResultDone, 1, "1")}, 0},
		"of three, then again": {[]RunRecord{first, second, run(3, Upgrade, ResultDone, 0, "3"), run(4, Rollback, ResultDone, 2, "2")}, 1},
		"upgraded since":       {[]RunRecord{first, second, run(3, Rollback, ResultDone, 1, "1"), run(4, Upgrade, ResultDone, 0, "3")}, 3},
		"back and back":        {[]RunRecord{first, second, run(3, Rollback, ResultDone, 1, "1"), run(4, Upgrade, ResultDone, 0, "3"), run(5, Rollback, ResultDone, 3, "1")}, 0},
		"one that was undone":  {[]RunRecord{first, second, run(3, Upgrade, ResultUndone, 0, "2")}, 1},
		"only half undone":     {[]RunRecord{first, run(2, Upgrade, ResultPartlyUndone, 0, "2"), run(3, Upgrade, ResultDone, 0, "3")}, 1},
		"of an older version":  {[]RunRecord{first, second, run(3, Rollback, ResultDone, 0, "1")}, 0},
		"kept no more":         {[]RunRecord{run(12, Upgrade, ResultDone, 0, "9"), run(13, Rollback, ResultDone, 2, "2")}, 0},
		"installed anew":       {[]RunRecord{first, second, run(3, Uninstall, ResultDone, 0, ""), run(4, Install, ResultDone, 0, "2")}, 0},
		"uninstalled":          {[]RunRecord{first, second, run(3, Uninstall, ResultDone, 0, "")}, 0},
		"failed at first":      {[]RunRecord{run(1, Install, ResultUndone, 0, ""), run(2, Install, ResultDone, 0, "1")}, 0},
	} {
		got, err := History{Past: c.past}.Target(0)
		if got.Revision != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s: revision %d (%v), want %d", name, got.Revision, err, c.want)
		}
	}
}

// What a run lost is kept as sentences.
func TestHistorySaysWhatIsLost(t *testing.T) {
	f, p, _ := oneInstall()
	f.put(newNamespace("apps", "", nil), "kubectl")
	if _, err := f.runner().Do(t.Context(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	gone := away(f, p.Installation)
	gone.Steps[0].Irreversible = "the data of PersistentVolumeClaim/apps/a goes with it"
	gone.Steps[1].Irreversible = "definitions come back only with their package"
	if _, err := f.runner().Do(t.Context(), gone, Options{}); err != nil {
		t.Fatal(err)
	}
	j, err := f.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a was removed: the data of PersistentVolumeClaim/apps/a goes with it", "the definitions of a were deleted"}
	if got := j.Runs[len(j.Runs)-1].Lost; !slices.Equal(got, want) {
		t.Errorf("lost %q, want %q", got, want)
	}
}
