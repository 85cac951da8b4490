package regulate

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// maxOutput limits the output of a command that is kept: its end.
const maxOutput = 2 << 10

// command runs a command in its own process group, which is killed when ctx ends. Only the
// program and its exit status are recorded: arguments and output may be secrets, and go to
// Runner.Output alone.
func (x *run) command(ctx context.Context, it *item, e *system.Exec, timeout time.Duration) (string, error) {
	if !x.AllowExec {
		return "", permanent("exec of %s: commands are not allowed (--allow-exec allows them)", it.w.hold.App)
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c := exec.CommandContext(bounded, e.Command[0], e.Command[1:]...)
	c.Env = append(os.Environ(), x.newActionContext(it).env()...)
	for _, k := range slices.Sorted(maps.Keys(e.Env)) {
		c.Env = append(c.Env, k+"="+e.Env[k])
	}
	out := &tail{limit: maxOutput}
	c.Stdout, c.Stderr = out, out
	ownGroup(c)
	c.WaitDelay = 2 * time.Second
	it.unsure = true
	err := c.Run()
	program := programOf(e.Command)
	if output := strings.TrimSpace(out.String()); output != "" && x.Output != nil {
		x.note(func() { x.Output(it.w.hold.App, output) })
	}
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case bounded.Err() != nil:
		return "", permanent("%s did not finish within %s, and was killed", program, timeout)
	case ended:
		return "", permanent("%s: %s", program, exit.ProcessState)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return "", permanent("%s: program not found", program)
	case err != nil:
		return "", permanent("%s could not be run", program)
	}
	return program + " succeeded", nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu    sync.Mutex
	b     []byte
	limit int
	cut   bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - t.limit; n > 0 {
		t.b, t.cut = append(t.b[:0], t.b[n:]...), true
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cut {
		return "..." + strings.ToValidUTF8(string(t.b), "")
	}
	return strings.ToValidUTF8(string(t.b), "")
}
