package krew_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
)

func TestInstalled(t *testing.T) {
	entries := []krew.Entry{
		{Name: "tea-v1", Mode: fs.ModeDir | 0o755},
		{Name: "tea-v1/LICENSE", Mode: 0o644},
		{Name: "tea-v1/bin/tea", Mode: 0o755},
		{Name: "README.md", Mode: 0o644},
	}
	for _, c := range []struct {
		name string
		// files are from=to, by commas.
		files, want string
	}{
		{"everything", "", "tea-v1/LICENSE=tea-v1/LICENSE,tea-v1/bin/tea=tea-v1/bin/tea,README.md=README.md"},
		{"a file", "README.md=.", "README.md=README.md"},
		{"a file under another name", "README.md=doc/tea.md", "README.md=doc/tea.md"},
		{"a folder", "tea-v1/bin=x", "tea-v1/bin/tea=x/tea"},
		{"a glob of a folder", "tea-*=.", "tea-v1/LICENSE=tea-v1/LICENSE,tea-v1/bin/tea=tea-v1/bin/tea"},
		{"a glob below a folder", "tea-*/*=.", "tea-v1/LICENSE=LICENSE,tea-v1/bin/tea=bin/tea"},
		{"the last of two at one place", "README.md=x,tea-v1/LICENSE=x", "tea-v1/LICENSE=x"},
		{"what was moved is gone", "README.md=.,*.md=y", `error: "*.md" finds nothing`},
		{"nothing", "*.txt=.", `error: "*.txt" finds nothing`},
		{"out of the directory", "README.md=../x", "error: leads out"},
		{"from above", "../../etc/passwd=x", "error: leads out"},
		{"to that is not clean", "README.md=./x", `error: must be written "x"`},
		{"not a glob", "[=.", "error: is not a glob"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p krew.Platform
			for rule := range strings.SplitSeq(c.files, ",") {
				if from, to, ok := strings.Cut(rule, "="); ok {
					p.Files = append(p.Files, krew.File{From: from, To: to})
				}
			}
			moves, err := p.Installed(entries)
			if want, ok := strings.CutPrefix(c.want, "error: "); ok {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, %v: want an error with %s", moves, err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range moves {
				got = append(got, m.From+"="+m.To)
			}
			if want := strings.Split(c.want, ","); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}
