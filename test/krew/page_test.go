package krew_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
	"github.com/kubectl-sysop/kubectl-sysop/internal/pages"
)

// Where the page has its index from.
const indexAddress = "https://github.com/kubectl-sysop/krew-index.git"

// Whoever types what docs/krew.md has, from its top, has what it says. Only the addresses lead
// elsewhere: that of the index to a folder, those of archives to a server here.
func TestKrewPage(t *testing.T) {
	page, err := pages.Parse("../..", "docs/krew.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range page.Findings {
		t.Error(f)
	}
	h := newHome(t)
	server := serve(t)
	h.write(h.path(".gitconfig"), []byte("[url \""+h.path("index")+"\"]\n\tinsteadOf = "+indexAddress+"\n"))
	h.publish(onlyHost(server), first, "index")

	done := map[string]string{}
	for _, b := range page.Blocks {
		if !b.Commands() {
			continue
		}
		if b.Elsewhere != t.Name() {
			t.Fatalf("%s:%d: this block is run by %q, not by this test", page.Path, b.Line, b.Elsewhere)
		}
		step := h.before(b.Text, server)
		out := h.script(b.Text, page.Path, b.Line)
		done[step] = out
	}
	for step, want := range map[string]string{
		"install": "moodle-1", "upgrade": "", "completion": "kubectl_complete-sysop", "alias": "Moodle/moodle-1",
		"uninstall": "", "archive": first, "archive uninstall": "",
	} {
		if out, ok := done[step]; !ok || !strings.Contains(out, want) {
			t.Errorf("step %s: done %t, want %q in\n%s", step, ok, want, out)
		}
	}
	for _, folder := range []string{"bin", "store", "receipts"} {
		if left := h.files(".krew", folder); len(left) > 0 {
			t.Errorf("left in %s: %v", folder, left)
		}
	}
}

// before makes what the page says is there when a block is run, and tells which step it is.
func (h home) before(block, server string) string {
	h.t.Helper()
	switch {
	case strings.Contains(block, "krew upgrade"):
		h.publish(onlyHost(server), second, "index")
		return "upgrade"
	case strings.Contains(block, "completion install"):
		if got := h.run("kubectl sysop version"); !strings.Contains(got, second) {
			h.t.Errorf("version %q after the upgrade, want %s", got, second)
		}
		return "completion"
	case strings.Contains(block, "sysop-graph"):
		h.completes("after completion install")
		return "alias"
	case strings.Contains(block, "completion uninstall"):
		return "uninstall"
	case strings.Contains(block, "--archive"):
		if left := h.files(".krew", "bin"); len(left) > 0 {
			h.t.Errorf("uninstalling left %v", left)
		}
		h.carried()
		return "archive"
	case strings.Contains(block, "krew uninstall sysop"):
		return "archive uninstall"
	}
	return "install"
}

// carried are the three files of a release that are carried to a machine without a network:
// nothing listens where the manifest says that the archive is.
func (h home) carried() {
	h.t.Helper()
	h.manifests(onlyHost("http://127.0.0.1:1"), first, "carried")
	if err := os.Rename(h.path("carried", "sysop"+krew.Extension), h.path("sysop"+krew.Extension)); err != nil {
		h.t.Fatal(err)
	}
	name := h.archive(first)
	h.write(h.path("checksums.txt"), []byte(made.versions[first].sums[name]+"  "+name+"\n"+strings.Repeat("0", 64)+"  another.tar.gz\n"))
}

// script runs a block as one script; it has the archive of one platform in its text.
func (h home) script(text, path string, line int) string {
	h.t.Helper()
	text = strings.ReplaceAll(text, "linux_amd64", made.host.OS+"_"+made.host.Arch)
	cmd := h.command("bash", "-euc", text)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		h.t.Fatalf("%s:%d: %v\n%s%s%s", filepath.ToSlash(path), line, err, text, &out, &errOut)
	}
	return out.String()
}
