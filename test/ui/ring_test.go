package ui

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// longest is how long a scenario may take.
var longest = timeout.Scaled(4 * time.Minute)

// deed is something that a scenario has done to the world outside the browser. What it returns
// is handed back as JSON.
type deed func(ctx context.Context, body []byte) (any, error)

// scenario runs a file of ui/ring. world is what it needs to know, deeds what it may have done.
func scenario(t *testing.T, name string, world map[string]any, deeds map[string]deed) {
	t.Helper()
	mux := http.NewServeMux()
	for path, do := range deeds {
		mux.HandleFunc("POST /"+path, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			var out any
			if err == nil {
				out, err = do(r.Context(), body)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			_ = json.NewEncoder(w).Encode(out)
		})
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	world["deeds"] = server.URL
	world["chromium"] = chromium()
	world["work"] = t.TempDir()
	world["update"] = ""
	if *update {
		pictures, err := filepath.Abs(filepath.Join(root, "docs/images"))
		if err != nil {
			t.Fatal(err)
		}
		world["update"] = pictures
	}
	text, err := json.Marshal(world)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "--test", "--test-reporter=spec", "ring/"+name+".test.mjs")
	node.Dir, node.Env = filepath.Join(root, "ui"), environment(t, "", "SYSOP_WORLD="+string(text))
	// The browser is a child of node's: all of them are one group, which ends as a whole.
	node.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	node.Cancel = func() error { return syscall.Kill(-node.Process.Pid, syscall.SIGKILL) }
	node.WaitDelay = 10 * time.Second
	out, err := node.CombinedOutput()
	_ = syscall.Kill(-node.Process.Pid, syscall.SIGKILL)
	if err != nil {
		t.Errorf("ui/ring/%s: %v\n%s", name, err, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
}

// served is a running kubectl sysop ui.
type served struct {
	// URL has the token, and works once.
	URL  string `json:"url"`
	cmd  *exec.Cmd
	talk *strings.Builder
}

// serve starts the page; it ends with the test at the latest.
func serve(t *testing.T, kubeconfig string, args ...string) *served {
	t.Helper()
	name, err := plugin()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &served{talk: &strings.Builder{}}
	s.cmd = exec.CommandContext(ctx, name, append([]string{"ui", "-o", "json"}, args...)...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = t.TempDir(), environment(t, kubeconfig), s.talk
	s.cmd.WaitDelay = 10 * time.Second
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = s.cmd.Wait()
		if t.Failed() {
			t.Logf("kubectl sysop ui said:\n%s", s.talk)
		}
	})
	got := make(chan error, 1)
	go func() { got <- json.NewDecoder(bufio.NewReader(out)).Decode(s) }()
	select {
	case err := <-got:
		if err != nil {
			t.Fatalf("kubectl sysop ui said no address: %v\n%s", err, s.talk)
		}
	case <-time.After(timeout.Scaled(time.Minute)):
		t.Fatal("kubectl sysop ui said no address in time")
	}
	return s
}

// interrupt ends it as Ctrl-C does, and returns its exit code.
func (s *served) interrupt() (int, error) {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			return 0, err
		}
		return s.cmd.ProcessState.ExitCode(), nil
	case <-time.After(timeout.Scaled(20 * time.Second)):
		return 0, fmt.Errorf("it did not end in time after an interrupt")
	}
}
