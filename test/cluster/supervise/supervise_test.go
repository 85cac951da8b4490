package supervise

import (
	"bytes"
	"encoding/json"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

func TestParseStat(t *testing.T) {
	const tail = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20"
	for _, name := range []string{"(etcd)", "(a b) c)", "()"} {
		start, state, err := parseStat([]byte("42 " + name + tail))
		if err != nil || start != 4711 || state != 'S' {
			t.Errorf("%s: start %d, state %c, error %v", name, start, state, err)
		}
	}
	for _, bad := range []string{"", "42 (x", "42 (x) S 1", "42 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 soon"} {
		if _, _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestIdentityTellsProcessesApart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("start times are read on Linux only")
	}
	me, err := Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if !me.Alive() {
		t.Error("this process is not alive")
	}
	later := Identity{PID: me.PID, Start: me.Start + 1}
	if later.Alive() {
		t.Error("another process with this PID is alive")
	}
	if err := later.Signal(os.Kill); err != os.ErrProcessDone { //nolint:errorlint // it is this very value
		t.Errorf("signalled another process: %v", err) // it was not this one, at least
	}
}

func TestDeadProcessIsNotAlive(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("process states are read on Linux only")
	}
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := Identify(cmd.Process.Pid)
	if err != nil || !id.Alive() {
		t.Fatalf("a new process is not alive: %v", err)
	}
	if err := id.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if id.Alive() {
		t.Error("a killed process is alive")
	}
}

func TestServeEndsItsChildrenWhenThePipeCloses(t *testing.T) {
	in, toServe := io.Pipe()
	fromServe, out := io.Pipe()
	done := make(chan error)
	go func() { done <- Serve(t.Context(), in, out) }()
	commands, events := json.NewEncoder(toServe), json.NewDecoder(fromServe)
	dir := t.TempDir()
	next := func(c Command) (e event) {
		t.Helper()
		if err := commands.Encode(c); err != nil {
			t.Fatal(err)
		}
		if err := events.Decode(&e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	sleep := next(Command{Name: "sleep", Path: "/bin/sleep", Args: []string{"1000"}, Dir: dir, Log: filepath.Join(dir, "log")})
	if sleep.Error != "" || !sleep.Identity.Alive() {
		t.Fatalf("not started: %+v", sleep)
	}
	if e := next(Command{Name: "nothing", Path: "/does/not/exist", Dir: dir, Log: filepath.Join(dir, "log")}); e.Error == "" {
		t.Errorf("started what does not exist: %+v", e)
	}
	if err := toServe.Close(); err != nil {
		t.Fatal(err)
	}
	var exit event
	if err := events.Decode(&exit); err != nil || exit.Name != "sleep" || exit.Exit == "" {
		t.Errorf("exit told as %+v, error %v", exit, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if sleep.Identity.Alive() {
		t.Error("it still runs")
	}
}

func TestServeRefusesNonsense(t *testing.T) {
	if err := Serve(t.Context(), bytes.NewBufferString("nonsense"), io.Discard); err == nil {
		t.Error("no error")
	}
}

func TestParseAddress(t *testing.T) {
	for in, want := range map[string]string{
		"0100007F:1F90":                         "127.0.0.1:8080",
		"00000000:0050":                         "0.0.0.0:80",
		"00000000000000000000000001000000:0050": "[::1]:80",
		"0000000000000000FFFF00000100007F:0050": "127.0.0.1:80",
	} {
		if got, err := parseAddress(in); err != nil || got != netip.MustParseAddrPort(want) {
			t.Errorf("%s: %v, %v, want %s", in, got, err, want)
		}
	}
}
