// Package standin installs plugins as krew does, for tests that have no krew: the same
// folders, links and receipts, the same checks and refusals, the same lines. It knows the
// commands that a user of one plugin needs, and it fetches nothing but what a manifest or an
// index says.
//
// A root is the folder of everything that is installed. In it are bin, which users have on
// their PATH; store/NAME/VERSION with what was unpacked; receipts/NAME.yaml with the manifest
// that it was installed from; and index/NAME, a clone of each index.
package standin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

// Krew is the stand-in for one root.
type Krew struct {
	// Root is the folder of everything that is installed.
	Root string
	// Platform is the one that is installed for.
	Platform suite.Platform
	// DefaultIndex is the git repository that update clones where there is no index.
	// There is none on a test's machine if it is empty.
	DefaultIndex string
	// Out is told answers, Err everything else.
	Out, Err io.Writer
}

// New is the stand-in that the environment asks for: KREW_ROOT, KREW_OS, KREW_ARCH and
// KREW_DEFAULT_INDEX_URI are krew's own variables.
func New(getenv func(string) string, out, errOut io.Writer) (*Krew, error) {
	k := &Krew{
		Root: getenv("KREW_ROOT"), DefaultIndex: getenv("KREW_DEFAULT_INDEX_URI"), Out: out, Err: errOut,
		Platform: suite.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH},
	}
	if k.Root == "" {
		if getenv("HOME") == "" {
			return nil, errors.New("neither KREW_ROOT nor HOME is set")
		}
		k.Root = filepath.Join(getenv("HOME"), ".krew")
	}
	if v := getenv("KREW_OS"); v != "" {
		k.Platform.OS = v
	}
	if v := getenv("KREW_ARCH"); v != "" {
		k.Platform.Arch = v
	}
	return k, nil
}

func (k *Krew) bin() string { return filepath.Join(k.Root, "bin") }

func (k *Krew) store(name string) string { return filepath.Join(k.Root, "store", name) }

func (k *Krew) receipt(name string) string {
	return filepath.Join(k.Root, "receipts", name+".yaml")
}

func (k *Krew) index(name string) string { return filepath.Join(k.Root, "index", name) }

// link is where users find the executable of a plugin: kubectl takes dashes for spaces.
func (k *Krew) link(name string) string {
	file := "kubectl-" + strings.ReplaceAll(name, "-", "_")
	if k.Platform.OS == "windows" {
		file += ".exe"
	}
	return filepath.Join(k.bin(), file)
}

// Run runs a command: install, upgrade, uninstall, list, search, info, update or index.
func (k *Krew) Run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("want a command: install, upgrade, uninstall, list, search, info, update or index")
	}
	for _, dir := range []string{"bin", "store", "receipts", "index"} {
		if err := os.MkdirAll(filepath.Join(k.Root, dir), 0o755); err != nil {
			return err
		}
	}
	command, rest := args[0], args[1:]
	switch command {
	case "install":
		return k.runInstall(ctx, rest)
	case "upgrade":
		return k.runUpgrade(ctx, rest)
	case "index":
		return k.runIndex(ctx, rest)
	case "update":
		return k.update(ctx)
	}
	byName := map[string]func([]string) error{
		"uninstall": k.runUninstall, "list": k.runList, "search": k.runSearch, "info": k.runInfo,
	}
	run, ok := byName[command]
	if !ok {
		return fmt.Errorf("unknown command %q for the stand-in of krew", command)
	}
	// krew refuses even what needs no index.
	indexes, err := k.indexes()
	if err != nil {
		return err
	}
	if len(indexes) == 0 {
		return errors.New(`krew local plugin index is not initialized (run "kubectl krew update")`)
	}
	return run(rest)
}

// parse takes flags and names in any order.
func parse(flags *flag.FlagSet, args []string) ([]string, error) {
	flags.SetOutput(io.Discard)
	var names []string
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		args = flags.Args()
		if len(args) > 0 {
			names, args = append(names, args[0]), args[1:]
		}
	}
	return names, nil
}

// entriesOf are the names in a folder, in order.
func entriesOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}
