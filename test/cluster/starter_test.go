package cluster_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// starterVariable makes this test binary a program that starts a cluster.
const starterVariable = "SYSOP_TEST_STARTER"

func contains(b []byte, s string) bool { return bytes.Contains(b, []byte(s)) }

// starter starts a cluster, reports its processes, and waits to be killed.
func starter() {
	c, err := cluster.Start(context.Background(), cluster.Options{ControllerManager: true, Dir: os.Getenv(starterVariable)})
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(c.Processes())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

func TestKilledStarterLeavesNoProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), starterVariable+"="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(errors.Join(err, cmd.Wait()))
	}
	var processes []supervise.Process
	if err := json.Unmarshal(line, &processes); err != nil {
		t.Fatal(err)
	}
	if len(processes) < 4 {
		t.Errorf("%d processes, want etcd, egress, API server, controller manager", len(processes))
	}
	for _, p := range processes {
		if !p.Alive() {
			t.Errorf("%s does not run before the kill", p.Name)
		}
	}
	if err := cmd.Process.Kill(); err != nil { // SIGKILL: it cannot clean up
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	cluster.Eventually(t, timeout.Scaled(20*time.Second), func() error {
		for _, p := range processes {
			if p.Alive() {
				return fmt.Errorf("%s (%d) still runs", p.Name, p.PID)
			}
		}
		return nil
	})
}
