package system_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

func read(t testing.TB, name string) *system.System {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, name, data)
}

func parse(t testing.TB, name string, data []byte) *system.System {
	t.Helper()
	s, problems := system.Parse(name, data)
	for _, p := range problems {
		t.Errorf("%s:%d:%d: %s", name, p.Line, p.Column, p.Message)
	}
	if s == nil {
		t.Fatalf("%s is refused", name)
	}
	return s
}

// bare is a system without the places in its file.
func bare(s *system.System) *system.System {
	s.Origin = ""
	for i := range s.Apps {
		a := &s.Apps[i]
		a.Line = 0
		if a.Autoscaling != nil {
			a.Autoscaling.Target.Line = 0
		}
		bareRoots(a.Roots)
		for _, actions := range a.On {
			for i := range actions {
				bareAction(&actions[i])
			}
		}
	}
	for i := range s.Dependencies {
		s.Dependencies[i].Line = 0
	}
	for i := range s.Operators {
		s.Operators[i].Line = 0
	}
	for i := range s.Inputs {
		s.Inputs[i].Line = 0
	}
	for i := range s.Connections {
		c := &s.Connections[i]
		c.Line, c.From.Root.Line, c.To.Root.Line = 0, 0, 0
	}
	for i := range s.Regulation.Rules {
		s.Regulation.Rules[i].Line = 0
	}
	for i := range s.Waivers {
		s.Waivers[i].Origin = ""
	}
	return s
}

func bareRoots(roots []system.Root) {
	for i := range roots {
		roots[i].Line = 0
	}
}

func bareAction(a *system.Action) {
	a.Line = 0
	bareRoots(a.Targets)
	if a.Inverse != nil {
		bareAction(a.Inverse)
	}
}

// same checks that a system is written so that it reads the same, and in one form.
func same(t testing.TB, s *system.System) {
	t.Helper()
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again := parse(t, "written", text)
	twice, err := again.YAML()
	if err != nil || string(twice) != string(text) {
		t.Errorf("%v: written again it is\n%s\nnot\n%s", err, twice, text)
	}
	if !reflect.DeepEqual(bare(again), bare(s)) {
		t.Errorf("written as\n%s\nit reads\n%+v\nnot\n%+v", text, again, s)
	}
}

// TestManifests: those of testdata are read, and written so that they read the same.
func TestManifests(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.yaml")
	files = append(files, "../../examples/demo-system.yaml")
	if len(files) < 3 {
		t.Fatalf("there are %v", files)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) { same(t, read(t, name)) })
	}
}
