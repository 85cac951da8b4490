//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
)

// events is how many changes of pods are made while a follower is measured.
const events = 10

// followers measures what follows the cluster: its first result, and what an event takes on
// top, with CPU and memory from /proc.
func (b *bench) followers(ctx context.Context, objects int) error {
	for _, f := range []struct {
		name string
		args []string
		open func(ctx context.Context, out, messages io.Reader) error
	}{
		{"health -A --watch", []string{"health", "-A", "--watch"}, drain},
		{"ui -A", []string{"ui", "-A", "-o", "json"}, openPage},
	} {
		if !strings.Contains(f.name, b.only) {
			continue
		}
		first, event, peak, err := b.follow(ctx, f.args, f.open)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		fmt.Printf("| %s, first | %d | kubectl-sysop | | | %.3f | | |\n", f.name, objects, first)
		fmt.Printf("| %s, an event | %d | kubectl-sysop | | | %.3f | %.1f | |\n", f.name, objects, event, peak)
	}
	return nil
}

// follow returns the CPU seconds of the first result and of an event, and the peak in MB.
func (b *bench) follow(ctx context.Context, args []string, open func(ctx context.Context, out, messages io.Reader) error) (first, event, peak float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, b.programs.sysop, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+b.cluster.Kubeconfig, "KUBECACHEDIR="+b.dir+"/cache", "HOME="+b.dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return 0, 0, 0, err
	}
	messages, err := cmd.StderrPipe()
	if err != nil {
		cancel()
		return 0, 0, 0, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return 0, 0, 0, err
	}
	defer func() {
		cancel()
		_ = cmd.Wait()
	}()
	id, err := supervise.Identify(cmd.Process.Pid)
	if err != nil {
		return 0, 0, 0, err
	}
	if err := open(ctx, out, messages); err != nil {
		return 0, 0, 0, err
	}
	if first, err = settled(ctx, id.PID); err != nil {
		return 0, 0, 0, err
	}
	for i := range events {
		if err := b.change(ctx, i); err != nil {
			return 0, 0, 0, err
		}
		time.Sleep(time.Second) // one by one: a burst is taken together
	}
	after, err := settled(ctx, id.PID)
	if err != nil {
		return 0, 0, 0, err
	}
	_, high, err := id.Memory()
	return first, (after - first) / events, float64(high) / 1e6, err
}

// settled waits until a process rests for two seconds, a minute at most, and returns its CPU
// seconds.
func settled(ctx context.Context, pid int) (float64, error) {
	last, rest := -1.0, 0
	for begin := time.Now(); rest < 4 && time.Since(begin) < time.Minute; {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
		now, err := cpuSeconds(pid)
		if err != nil {
			return 0, err
		}
		if rest++; now-last > 0.05 || now < 0.02 {
			rest = 0
		}
		last = now
	}
	return last, nil
}

func cpuSeconds(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	var user, system float64
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if fields[0] == "Z" {
		return 0, errors.New("the program ended")
	}
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, err
	}
	return (user + system) / 100, nil
}

// change makes a pod unready, and ready again the next time.
func (b *bench) change(ctx context.Context, i int) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", b.cluster.Kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	ready := [...]string{"False", "True"}[i%2]
	_, err = client.CoreV1().Pods(fixed+"-0").Patch(ctx, "app-0-5d5f8b6c7f-00000", types.StrategicMergePatchType,
		[]byte(`{"status":{"conditions":[{"type":"Ready","status":"`+ready+`"}]}}`), metav1.PatchOptions{}, "status")
	return err
}

// drain waits for the first result, which a message sums up, and drops what comes.
func drain(_ context.Context, out, messages io.Reader) error {
	go func() { _, _ = io.Copy(io.Discard, out) }()
	lines := bufio.NewReader(messages)
	text, err := lines.ReadString('\n')
	if err != nil {
		return fmt.Errorf("wait for the first result: %w: %s", err, text)
	}
	go func() { _, _ = io.Copy(os.Stderr, lines) }()
	return nil
}

// openPage does what the page does: it changes the token of the address for a session, and
// reads the stream.
func openPage(ctx context.Context, out, messages io.Reader) error {
	go func() { _, _ = io.Copy(os.Stderr, messages) }()
	line, err := bufio.NewReader(out).ReadString('}')
	if err != nil {
		return fmt.Errorf("read the address: %w", err)
	}
	var at struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal([]byte(line), &at); err != nil {
		return fmt.Errorf("read the address: %w", err)
	}
	base, token, _ := strings.Cut(at.URL, "/#token=")
	opened, err := request(ctx, http.MethodPost, base, "/api/session", `{"token":"`+token+`"}`, "")
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }()
	var session struct {
		Bearer string `json:"bearer"`
	}
	if err := json.NewDecoder(opened).Decode(&session); err != nil {
		return fmt.Errorf("open the page: %w", err)
	}
	stream, err := request(ctx, http.MethodGet, base, "/api/stream", "", session.Bearer)
	if err != nil {
		return err
	}
	go func() { _, _ = io.Copy(io.Discard, stream) }()
	return nil
}

func request(ctx context.Context, method, base, path, body, bearer string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Origin", base)
	r.Header.Set("X-Sysop", "1")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return resp.Body, nil
}
