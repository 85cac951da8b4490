package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

// toolchain is a Go toolchain whose environment does not affect the binaries.
type toolchain struct {
	// dir is the source, module its module, and main the package to build.
	dir, module, main string
	// version is Go's, as in go1.26.1; root is its installation.
	version, root string
	// temporary is a directory for Go's temporary files.
	temporary string
	// linked are the linker flags.
	linked string
	jobs   int
	// settings are the user's, for module downloads and caches.
	settings map[string]string
}

// userSettings say where modules come from and where caches are. None affects the bytes of a
// binary: go.sum fixes the modules.
var userSettings = []string{"GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB", "GOINSECURE", "GOVCS", "GOAUTH", "GOMODCACHE", "GOCACHE", "GOPATH"}

// needed is what Go requires; online is what module downloads require in addition.
var (
	needed = []string{"PATH", "SystemRoot", "LOCALAPPDATA"}
	online = []string{
		"HOME", "USERPROFILE", "APPDATA", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NETRC", "SSH_AUTH_SOCK",
	}
)

func findToolchain(ctx context.Context, o Options, dir string) (toolchain, error) {
	t := toolchain{dir: dir, main: "./cmd/" + o.Suite.Binary, temporary: filepath.Dir(dir), jobs: o.Jobs, settings: map[string]string{}}
	cmd := exec.CommandContext(ctx, "go", "env", "-json")
	cmd.Dir = dir
	b, err := output(ctx, cmd, "go env")
	if err != nil {
		return t, err
	}
	var all map[string]string
	if err := json.Unmarshal(b, &all); err != nil {
		return t, fmt.Errorf("go env: %w", err)
	}
	t.version, t.root = all["GOVERSION"], all["GOROOT"]
	for _, name := range userSettings {
		if value, ok := all[name]; ok {
			t.settings[name] = value
		}
	}
	if o.Cache != "" {
		t.settings["GOCACHE"] = o.Cache
	}
	b, err = output(ctx, t.command(ctx, suite.Platform{OS: "linux", Arch: "amd64"}, nil, "list", "-m"), "go list -m")
	if err != nil {
		return t, err
	}
	t.module = strings.TrimSpace(string(b))
	// The same as in the Makefile's build.
	t.linked = "-s -w -X " + t.module + "/internal/cli.Version=" + o.Version
	return t, nil
}

// command returns a go command for a platform, whose environment is complete except for the
// variables of through.
func (t toolchain) command(ctx context.Context, p suite.Platform, through []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.dir
	// Compilers end when go has ended; go gets the time to clean up.
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err == nil {
			return nil
		}
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = []string{
		"GOENV=off", "GOFLAGS=", "GOWORK=off", "GO111MODULE=on", "GOTOOLCHAIN=local", "GOEXPERIMENT=", "GODEBUG=", "GOFIPS140=off", "GOTELEMETRY=off",
		"TMPDIR=" + t.temporary, "TEMP=" + t.temporary, "TMP=" + t.temporary,
		"CGO_ENABLED=0", "GOOS=" + p.OS, "GOARCH=" + p.Arch, "GOAMD64=v1", "GOARM64=v8.0",
	}
	for _, name := range userSettings {
		if value, ok := t.settings[name]; ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	for _, name := range slices.Concat(needed, through) {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}

// compile builds the binary of a platform.
func (t toolchain) compile(ctx context.Context, p suite.Platform, executable string) error {
	args := []string{"build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", t.linked, "-o", executable}
	if t.jobs > 0 {
		args = append(args, "-p", strconv.Itoa(t.jobs))
	}
	// go list has downloaded all modules, so the build needs no network and no home.
	cmd := t.command(ctx, p, nil, append(args, t.main)...)
	cmd.Env = append(cmd.Env, "GOPROXY=off", "HOME="+t.temporary)
	_, err := output(ctx, cmd, "go build "+t.main)
	return err
}

// goPackage is a package of a binary, in the output of go list.
type goPackage struct {
	ImportPath, Dir string
	Standard        bool
	Imports         []string
	Module          *goModule
}

type goModule struct {
	Path, Version, Dir string
	Main               bool
	Replace            *goModule
}

// packages returns those in the binary of a platform. It downloads absent modules.
func (t toolchain) packages(ctx context.Context, p suite.Platform) ([]goPackage, error) {
	b, err := output(ctx, t.command(ctx, p, online, "list", "-mod=readonly", "-deps", "-json=ImportPath,Dir,Standard,Imports,Module", t.main), "go list -deps "+t.main)
	if err != nil {
		return nil, err
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var one goPackage
		err := d.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list -deps: %w", err)
		}
		if m := one.Module; m != nil && m.Replace != nil {
			return nil, fmt.Errorf("go.mod replaces %s by %s: others could not build that; a release is made without replacements", m.Path, filepath.ToSlash(m.Replace.Path))
		}
		all = append(all, one)
	}
}
