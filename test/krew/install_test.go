package krew_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// completes wants kubectl to complete "kubectl sysop gr", which it asks the plugin for.
func (h home) completes(when string) {
	h.t.Helper()
	r := h.try("kubectl __complete sysop gr")
	if r.code != 0 || !strings.HasPrefix(r.out, "graph") {
		h.t.Errorf("%s: kubectl sysop gr completes to %q (exit code %d, %s), want graph", when, r.out, r.code, r.errOut)
	}
}

// From an empty home, with the archive and the manifest alone and without a network: install
// as krew lays it out, run, complete, uninstall.
func TestInstallFromCleanHome(t *testing.T) {
	h := newHome(t)
	archive := h.archive(first)
	h.manifests(onlyHost(""), first, "manifests")
	h.refused("kubectl sysop version", "unknown command")

	h.run("kubectl krew install --manifest=manifests/sysop.yaml --archive=" + archive)
	executable := made.suite.Executable(made.host)
	if target, err := os.Readlink(h.path(".krew", "bin", "kubectl-sysop")); err != nil || target != h.path(".krew", "store", "sysop", first, executable) {
		t.Errorf("kubectl-sysop leads to %q, %v", target, err)
	}
	stored := h.files(".krew", "store", "sysop", first)
	if !slices.Contains(stored, executable) || !slices.Contains(stored, "LICENSE") {
		t.Errorf("installed %v, want the binary and the licence", stored)
	}
	if got := h.files(".krew", "receipts"); !slices.Equal(got, []string{"sysop.yaml"}) {
		t.Errorf("receipts %v", got)
	}

	if got := h.run("kubectl sysop version"); !strings.Contains(got, first) {
		t.Errorf("version %q, want %s", got, first)
	}
	if got := h.run("kubectl sysop stacks --from demo"); !strings.Contains(got, "moodle-1") {
		t.Errorf("stacks:\n%s", got)
	}
	if r := h.try("kubectl __complete sysop gr"); strings.HasPrefix(r.out, "graph") {
		t.Errorf("completes before there is a link: %q", r.out)
	}
	h.run("kubectl sysop completion install")
	h.completes("after completion install")
	// Twice is once.
	h.run("kubectl sysop completion install")
	h.completes("after completion install again")

	h.uninstall(t)
}

// uninstall does what docs/krew.md says, and wants nothing to be left.
func (h home) uninstall(t *testing.T) {
	t.Helper()
	// krew uninstalls only where there is an index, whatever is in it.
	h.run("git init --quiet empty")
	h.run("git -C empty commit --quiet --allow-empty -m empty")
	if len(h.files(".krew", "index")) == 0 {
		h.refused("kubectl krew uninstall sysop", "index is not initialized")
		h.run("kubectl krew index add empty " + h.path("empty"))
	}
	h.run("kubectl sysop completion uninstall")
	h.run("kubectl krew uninstall sysop")
	for _, folder := range []string{"bin", "store", "receipts"} {
		if left := h.files(".krew", folder); len(left) > 0 {
			t.Errorf("left in %s: %v", folder, left)
		}
	}
	h.refused("kubectl sysop version", "unknown command")
	if r := h.try("kubectl __complete sysop gr"); strings.HasPrefix(r.out, "graph") {
		t.Errorf("completes although it is uninstalled: %q", r.out)
	}
}

// An alias is a plugin of its own, with the same archive: one can be had without the other.
func TestInstallAlias(t *testing.T) {
	h := newHome(t)
	archive := h.archive(first)
	h.manifests(onlyHost(""), first, "manifests")
	h.run("kubectl krew install --manifest=manifests/sysop-graph.yaml --archive=" + archive)
	if got := h.files(".krew", "bin"); !slices.Equal(got, []string{"kubectl-sysop_graph"}) {
		t.Errorf("links %v: krew writes dashes as underscores", got)
	}
	alone := h.run("kubectl sysop-graph moodle/moodle-1 --from demo")
	h.refused("kubectl sysop version", "unknown command")
	h.run("kubectl krew install --manifest=manifests/sysop.yaml --archive=" + archive)
	if got := h.run("kubectl sysop graph moodle/moodle-1 --from demo"); got != alone || !strings.Contains(got, "Moodle/moodle-1") {
		t.Errorf("kubectl sysop-graph:\n%s\nkubectl sysop graph:\n%s", alone, got)
	}
	for _, a := range made.suite.Aliases {
		if a.Name != "sysop-graph" {
			h.run("kubectl krew install --manifest=manifests/" + a.Name + ".yaml --archive=" + archive)
		}
		if got := h.run("kubectl " + a.Name + " --help"); !strings.Contains(got, "kubectl "+a.Name) {
			t.Errorf("the help of %s does not say how it is called:\n%s", a.Name, got)
		}
	}
}

// From an index: install by name, look at it, upgrade. What completes goes on completing.
func TestUpgradeFromIndex(t *testing.T) {
	h := newHome(t)
	s := onlyHost(serve(t))
	h.publish(s, first, "index")
	h.run("kubectl krew index add sysop " + h.path("index"))
	h.run("kubectl krew install sysop/sysop sysop/sysop-graph")
	h.run("kubectl sysop completion install")
	h.completes("before the upgrade")
	if got, want := h.run("kubectl krew list"), "sysop/sysop\nsysop/sysop-graph\n"; got != want {
		t.Errorf("installed %q, want %q", got, want)
	}
	if got := h.run("kubectl krew search sysop-"); strings.Count(got, " no\n") != len(s.Aliases)-1 || strings.Count(got, " yes\n") != 1 {
		t.Errorf("search:\n%s", got)
	}
	h.refused("kubectl krew upgrade sysop", "newest version is already installed")

	h.publish(s, second, "index")
	h.run("kubectl krew upgrade")
	if got := h.run("kubectl sysop version"); !strings.Contains(got, second) {
		t.Errorf("version %q after the upgrade, want %s", got, second)
	}
	if _, err := os.Stat(h.path(".krew", "store", "sysop", first)); !os.IsNotExist(err) {
		t.Errorf("the old version is still there: %v", err)
	}
	h.completes("after the upgrade")
	if got := h.run("kubectl krew info sysop/sysop"); !strings.Contains(got, "VERSION: "+second) || !strings.Contains(got, s.Homepage) {
		t.Errorf("info:\n%s", got)
	}
	h.run("kubectl krew uninstall sysop-graph")
	h.uninstall(t)
}

// What is not what the manifest says is not installed, and leaves nothing.
func TestRefused(t *testing.T) {
	h := newHome(t)
	archive := h.archive(first)
	h.manifests(onlyHost(""), first, "manifests")
	h.write(h.path("other.tar.gz"), []byte("something else"))
	h.refused("kubectl krew install --manifest=manifests/sysop.yaml --archive=other.tar.gz", "checksum does not match")
	t.Run("platform", func(t *testing.T) {
		other := h
		other.t, other.env = t, append(slices.Clone(h.env), "KREW_OS=plan9")
		other.refused("kubectl krew install --manifest=manifests/sysop.yaml --archive="+archive, "does not offer installation for this platform")
	})
	for _, folder := range []string{"bin", "store", "receipts"} {
		if left := h.files(".krew", folder); len(left) > 0 {
			t.Errorf("left in %s: %v", folder, left)
		}
	}
}

// What the CI of krew's index does with a manifest: it holds it to krew's rules and installs it
// for its platforms. The manifests that are committed have archives that are not published yet.
func TestManifestsAreValid(t *testing.T) {
	h := newHome(t)
	h.manifests(onlyHost(serve(t)), first, "manifests")
	for _, p := range made.suite.Plugins() {
		h.run("validate-krew-manifest -manifest manifests/" + p.Name + ".yaml")
		text, err := os.ReadFile(filepath.Join("../../krew/plugins", p.Name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		h.write(h.path("committed", p.Name+".yaml"), text)
		h.run("validate-krew-manifest -skip-install -manifest committed/" + p.Name + ".yaml")
		h.write(h.path("broken", p.Name+".yaml"), []byte(strings.Replace(string(text), "version: v", "version: ", 1)))
		h.refused("validate-krew-manifest -skip-install -manifest broken/"+p.Name+".yaml", "failed to parse plugin version")
	}
}
