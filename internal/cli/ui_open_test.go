package cli

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
)

// TestOpenHandsOverByFile has a browser that notes its arguments. The token is in none of them,
// but in a file that nobody else may read, and which is gone once the page was opened.
func TestOpenHandsOverByFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the stand-in of the browser is a script that is called xdg-open")
	}
	bin, temporary := t.TempDir(), t.TempDir()
	seen := filepath.Join(bin, "seen")
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"" + seen + ".part\" && mv \"" + seen + ".part\" \"" + seen + "\"\n"
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	t.Setenv("TMPDIR", temporary)
	t.Setenv("KUBECONFIG", filepath.Join(bin, "none"))

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		env := command.Env{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: w, ErrOut: io.Discard}, Getenv: func(string) string { return "" }, Demo: demotest.FS(), Now: time.Now}
		ended <- Main(ctx, env, []string{"ui", "--open", "-o", "json", "--from", "demo"})
	}()
	var said struct{ URL string }
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	base, token, _ := strings.Cut(said.URL, "/#token=")

	args := waitForFile(t, seen)
	name := strings.TrimSpace(args)
	if token == "" || strings.Contains(args, token) || filepath.Dir(filepath.Dir(name)) != temporary {
		t.Fatalf("the browser was given %q of %s", args, said.URL)
	}
	for path, want := range map[string]os.FileMode{name: 0o600, filepath.Dir(name): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, not %v", path, info, err, want)
		}
	}
	if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), "url="+said.URL+`"`) {
		t.Errorf("the file leads elsewhere: %s %v", text, err)
	}
	if status := openSession(t, base, token); status != http.StatusOK {
		t.Fatalf("session: %d", status)
	}
	if _, err := os.Stat(filepath.Dir(name)); !os.IsNotExist(err) {
		t.Errorf("the file is there after it was used: %v", err)
	}
	cancel()
	<-ended
}

// waitForFile returns the content of a file that another process makes.
func waitForFile(t *testing.T, name string) string {
	t.Helper()
	for {
		text, err := os.ReadFile(name)
		if err == nil {
			return string(text)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// openSession exchanges a token, as the page does.
func openSession(t *testing.T, base, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/session", strings.NewReader(`{"token":"`+token+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", base)
	r.Header.Set("X-Sysop", "1")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	http.DefaultClient.CloseIdleConnections()
	return answer.StatusCode
}

// TestTypedFlags are those that the commands of the page carry, without a secret.
func TestTypedFlags(t *testing.T) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range []string{"from", "prices", "prometheus", "port", "as", "context", "server", "token"} {
		f.String(name, "", "")
	}
	f.StringArray("as-group", nil, "")
	o := &uiOptions{flags: f}
	for _, c := range []struct {
		args []string
		want map[string]string
	}{
		{[]string{"--from", "../a.json", "--port", "1", "--prometheus", "svc:monitoring/prometheus:9090"}, map[string]string{"from": "../a.json", "prometheus": "svc:monitoring/prometheus:9090"}},
		{[]string{"--prometheus", "https://me:secret@x"}, map[string]string{"from": "../a.json"}},
		{[]string{"--prometheus", "https://x?token=secret"}, map[string]string{"from": "../a.json"}},
		{[]string{"--from", "-", "--prometheus", "-", "--as", "ada", "--as-group", "a", "--as-group", "b", "--context", "ada@one:6443", "--server", "https://me:secret@x", "--token", "secret"}, map[string]string{"as": "ada", "as-group": "a\nb", "context": "ada@one:6443"}},
	} {
		if err := f.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		if got := o.typed(); !maps.Equal(got, c.want) {
			t.Errorf("%v: %v, expected %v", c.args, got, c.want)
		}
	}
	if got := shellFlags(o.typed(), connectionFlags...); got != " --context='ada@one:6443' --as='ada' --as-group='a' --as-group='b'" {
		t.Errorf("the command has%s", got)
	}
}
