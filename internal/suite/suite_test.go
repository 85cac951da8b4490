package suite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

const manifest = "../../plugins.yaml"

func TestRead(t *testing.T) {
	s, err := suite.Read(manifest)
	if err != nil {
		t.Fatal(err)
	}
	linux, windows := suite.Platform{OS: "linux", Arch: "amd64"}, suite.Platform{OS: "windows", Arch: "arm64"}
	if got, want := s.URI("v0.1.0", linux), s.Homepage+"/releases/download/v0.1.0/kubectl-sysop_v0.1.0_linux_amd64.tar.gz"; got != want {
		t.Errorf("address %s, want %s", got, want)
	}
	if got := s.Archive("v0.1.0", windows); got != "kubectl-sysop_v0.1.0_windows_arm64.zip" {
		t.Errorf("archive %s", got)
	}
	if got := s.Executable(windows); got != "kubectl-sysop.exe" {
		t.Errorf("executable %s", got)
	}
	if all := s.Plugins(); len(all) != 1+len(s.Aliases) || all[0].Name != "sysop" || all[0].Caveats == "" {
		t.Errorf("plugins %+v", all)
	}
}

func TestReadRefuses(t *testing.T) {
	good, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for old, spoiled := range map[string]struct{ text, want string }{
		"homepage:":                   {"homepagez:", `unknown field "homepagez"`},
		"license: Apache-2.0":         {"", "license is missing"},
		"- linux/arm64":               {"- linux", `platform "linux": expected OS/ARCH`},
		"command: graph,":             {"command: grahp,", `"grahp" is not a command`},
		"name: sysop-graph,":          {"name: graph,", "expected sysop-graph"},
		"  - name: path\n    short: ": {"  - name: path\n    longer: ", `unknown field`},
		"  - name: impact":            {"  - name: path", "commands[4]: expected a name of its own"},
	} {
		if !strings.Contains(string(good), old) {
			t.Fatalf("%s has no %q", manifest, old)
		}
		file := filepath.Join(t.TempDir(), "plugins.yaml")
		if err := os.WriteFile(file, []byte(strings.Replace(string(good), old, spoiled.text, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := suite.Read(file); err == nil || !strings.Contains(err.Error(), spoiled.want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q instead of %q: error %v, want %s: %s", spoiled.text, old, err, file, spoiled.want)
		}
	}
}

func TestCheckVersion(t *testing.T) {
	for _, good := range []string{"v0.1.0", "v1.20.3", "v0.1.0-rc.1", "v0.1.0-rc.1+build.5"} {
		if err := suite.CheckVersion(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "0.1.0", "v0.1", "v1", "v01.2.3", "v1.2.3.4", "latest", "v1.2.3 "} {
		if err := suite.CheckVersion(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
