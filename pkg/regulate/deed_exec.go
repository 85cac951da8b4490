package regulate

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// mostOutput is how much of a command's output is kept: the end of it.
const mostOutput = 2 << 10

// command runs a command, in a group of processes of its own, which ends with ctx.
func (x *run) command(ctx context.Context, it *item, e *system.Exec, timeout time.Duration) (string, error) {
	if !x.AllowExec {
		return "", permanent("exec of %s: commands are not run unless that is allowed (--allow-exec)", it.w.hold.App)
	}
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c := exec.CommandContext(within, e.Command[0], e.Command[1:]...)
	c.Env = append(os.Environ(), x.tellings(it).env()...)
	for _, k := range slices.Sorted(maps.Keys(e.Env)) {
		c.Env = append(c.Env, k+"="+e.Env[k])
	}
	out := &tail{most: mostOutput}
	c.Stdout, c.Stderr = out, out
	ownGroup(c)
	c.WaitDelay = 2 * time.Second
	it.unsure = true
	err := c.Run()
	said := strings.TrimSpace(out.String())
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case within.Err() != nil:
		return "", permanent("%s has not ended in %s, and was killed: %s", e.Command[0], timeout, said)
	case err != nil:
		return "", permanent("%s: %w: %s", strings.Join(e.Command, " "), err, said)
	case said == "":
		return fmt.Sprintf("%s ended well", e.Command[0]), nil
	}
	return said, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	b    []byte
	most int
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - t.most; n > 0 {
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
