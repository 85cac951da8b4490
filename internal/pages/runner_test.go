//go:build unix

package pages

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tool is a plugin that says what it was asked.
func tool(t *testing.T) Runner {
	t.Helper()
	name := filepath.Join(t.TempDir(), "plugin")
	if err := os.WriteFile(name, []byte("#!/bin/sh\necho \"sysop $*\"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return Runner{Plugin: name}
}

func ran(t *testing.T, r Runner, p Page) Result {
	t.Helper()
	result, err := r.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestSession: what a block does is there for the next; the environment is closed.
func TestSession(t *testing.T) {
	t.Setenv("SECRET", "x")
	p := page(t, `# A

~~~yaml file=deep/a.yaml
a: 1
~~~

~~~sh
export NAME=value
mkdir -p there
cd there
f() { echo "f $1"; }
~~~

1. In a list:

   ~~~console
   $ echo "$NAME"; f x
   value
   f x
   $ cat ../deep/a.yaml
   a: 1

   $ kubectl sysop graph \
     moodle
   sysop graph moodle
   $ cat <<END
   > one
   > END
   one
   $ echo talk >&2; echo "${SECRET-none} ${COLUMNS-none} $TZ $NO_COLOR"
   talk
   none none UTC 1
   ~~~

~~~console fails
$ kubectl get pods
error: kubectl get: this page is run without a cluster: ...
~~~

~~~sh fails
true
false \
  x
~~~

~~~sh foreign=helm
helm install x | tee
~~~

~~~console
$ basename "$PWD"; test -d "$HOME" -a -d "$TMPDIR"
there
~~~
`)
	if len(p.Findings) > 0 {
		t.Fatal(p.Findings)
	}
	if result := ran(t, tool(t), p); len(result.Findings) > 0 || result.Ran != 10 {
		t.Errorf("%d ran, %v", result.Ran, result.Findings)
	}
}

// TestMistakes: each is found, at its line.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"output":      {"~~~console\n$ echo a\na\n$ echo b\nc\n~~~", "page.md:5: $ echo b\nnot found: c\ngot\n    b\nwant\n    c\n"},
		"more":        {"~~~console\n$ echo a; echo b\na\n~~~", "page.md:3: $ echo a; echo b\nthere is more output than the page has"},
		"less":        {"~~~console\n$ echo a\na\nb\n~~~", "page.md:4: $ echo a\nnot found: b"},
		"none":        {"~~~console\n$ true\nb\n~~~", "page.md:3: $ true\nnot found: b\ngot\n    (nothing)"},
		"order":       {"~~~console\n$ printf 'a\\nb\\nc\\n'\nb\n...\na\n~~~", "page.md:3: $ printf"},
		"elision":     {"~~~console\n$ printf 'a\\nb\\nc\\n'\na\n...\nd\n~~~", "page.md:5: $ printf 'a\\nb\\nc\\n'\nnot found: d"},
		"rest":        {"~~~console\n$ echo abc\nx ...\n~~~", "page.md:3: $ echo abc\nnot found: x ..."},
		"script":      {"~~~sh\ntrue\ncp no there\ntrue\n~~~", "page.md:3: cp no there: it ended the session with code 1; it wrote\ncp: "},
		"command":     {"~~~console\n$ echo a\na\n$ false\n$ echo b\nnot run\n~~~", "page.md:4: false: it ended the session with code 1"},
		"unset":       {"~~~sh\ntrue\necho \"$NOT_SET\"\n~~~", "page.md:2: true: it ended the session with code 1; it wrote\n"},
		"exit":        {"~~~sh\nexit 0\n~~~", "page.md:2: exit 0: it ended the session with code 0"},
		"no failure":  {"~~~sh fails\ntrue\n~~~", "page.md:2: true: it has to fail, and ended with 0"},
		"too early":   {"~~~sh fails\nfalse\nfalse\n~~~", "page.md:2: false: it ended the session with code 1"},
		"foreign":     {"~~~sh foreign=helm\nhelm (\n~~~", "page.md:2: bash cannot read it: "},
		"hidden code": {"~~~console\n$ false | true; (exit 3)\n~~~", "page.md:2: false | true; (exit 3): it ended the session with code 3"},
	} {
		t.Run(name, func(t *testing.T) {
			result := ran(t, tool(t), page(t, c.text))
			if len(result.Findings) != 1 || !strings.HasPrefix(result.Findings[0].String(), c.want) {
				t.Errorf("%v\nwant %s", result.Findings, c.want)
			}
		})
	}
}

// TestHangs: what does not end is ended, with what it started, and told of.
func TestHangs(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	r := tool(t)
	r.Timeout, r.Env = 300*time.Millisecond, []string{"PIDS=" + pids}
	result := ran(t, r, page(t, "~~~sh\nsleep 1000 & echo $! >\"$PIDS\"\n~~~\n\n~~~console\n$ echo begun; sleep 1000\nbegun\n$ echo never\nnever\n~~~"))
	if len(result.Findings) != 1 || !strings.HasPrefix(result.Findings[0].String(), "page.md:6: echo begun; sleep 1000: it has not ended after 300ms, and was ended; it wrote\nbegun") {
		t.Fatal(result.Findings)
	}
	b, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if !gone(pid) {
		t.Errorf("process %d runs", pid)
	}
}

// gone waits for the end of a process that was killed. One that nobody has reaped yet is in
// state Z.
func gone(pid int) bool {
	for range 1000 {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// TestUpdate writes outputs, and nothing else; elisions that still fit stay.
func TestUpdate(t *testing.T) {
	text := "# A\r\n\r\n1. B\r\n\r\n   ```console\r\n   $ printf 'a 1\\nb\\nc\\n'\r\n   a ...\r\n   x\r\n\r\n   $ printf '1\\n2\\n3\\n'\r\n   1\r\n   ...\r\n   $ printf '1\\n2\\n'\r\n   ...\r\n   3\r\n   ```\r\n\r\nEnd\r\n"
	want := "# A\r\n\r\n1. B\r\n\r\n   ```console\r\n   $ printf 'a 1\\nb\\nc\\n'\r\n   a ...\r\n   b\r\n   c\r\n\r\n   $ printf '1\\n2\\n3\\n'\r\n   1\r\n   ...\r\n   $ printf '1\\n2\\n'\r\n   1\r\n   2\r\n   ```\r\n\r\nEnd\r\n"
	root := checkout(t, map[string]string{"page.md": text})
	p, err := Parse(root, "page.md")
	if err != nil {
		t.Fatal(err)
	}
	r := tool(t)
	r.Update = true
	result := ran(t, r, p)
	if len(result.Findings) > 0 || len(result.Updated) != 2 || !strings.Contains(result.Updated[1].Message, `without its former lines "...": restore`) {
		t.Errorf("%v, updated %v", result.Findings, result.Updated)
	}
	got, err := os.ReadFile(filepath.Join(root, "page.md"))
	if err != nil || string(got) != want {
		t.Errorf("%q\nwant\n%q (%v)", got, want, err)
	}
	if p, err = Parse(root, "page.md"); err != nil {
		t.Fatal(err)
	}
	if result := ran(t, tool(t), p); len(result.Findings) > 0 {
		t.Error(result.Findings)
	}
}

// A page cannot write into the checkout.
func TestCheckoutStays(t *testing.T) {
	root := checkout(t, map[string]string{
		"catalog/a.yaml": "a", "examples/testdata/b": "b",
		"page.md": "```console\n$ cat catalog/a.yaml; echo b >catalog/a.yaml; ls examples\na\n```\n",
	})
	p, err := Parse(root, "page.md")
	if err != nil {
		t.Fatal(err)
	}
	if result := ran(t, tool(t), p); len(result.Findings) > 0 {
		t.Error(result.Findings)
	}
	if b, err := os.ReadFile(filepath.Join(root, "catalog", "a.yaml")); err != nil || string(b) != "a" {
		t.Errorf("%q, %v", b, err)
	}
}
