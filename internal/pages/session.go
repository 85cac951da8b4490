package pages

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// session is a bash that runs one script after another, so that exports, functions and the current
// directory of one are available to the next.
type session struct {
	ctx     context.Context
	dir     string
	command *exec.Cmd
	// requests are how each script must end, answers the exit codes.
	requests io.WriteCloser
	answers  chan string
	ended    chan struct{}
}

// driver is the script that the bash of a session runs. The trap reports the line of a failed
// command; set -e ends the session there.
const driver = `set -eu
trap 'printf %s "$LINENO" >"$SYSOP_PAGE/at"' ERR
while IFS= read -r SYSOP_PAGE_WAY <&3; do
  SYSOP_PAGE_CODE=0
  if [ "$SYSOP_PAGE_WAY" = fails ]; then
    . "$SYSOP_PAGE/script" >"$SYSOP_PAGE/output" 2>&1 </dev/null 3<&- 4>&- || SYSOP_PAGE_CODE=$?
  else
    . "$SYSOP_PAGE/script" >"$SYSOP_PAGE/output" 2>&1 </dev/null 3<&- 4>&-
  fi
  printf '%s\n' "$SYSOP_PAGE_CODE" >&4
done
`

// newSession starts a session in the directory work of dir. Its processes end with close or ctx.
func newSession(ctx context.Context, dir string, env []string) (*session, error) {
	theirs, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &session{ctx: ctx, dir: dir, requests: requests, answers: make(chan string), ended: make(chan struct{})}
	s.command = exec.Command("bash", "--noprofile", "--norc", "-c", driver) //nolint:noctx // close ends it, with all of its children
	s.command.Dir = filepath.Join(dir, "work")
	s.command.Env = slices.Concat(env, []string{"SYSOP_PAGE=" + dir})
	s.command.ExtraFiles = []*os.File{theirs, ours}
	inGroup(s.command)
	err = s.command.Start()
	_, _ = theirs.Close(), ours.Close()
	if err != nil {
		_, _ = requests.Close(), answers.Close()
		return nil, fmt.Errorf("start bash: %w", err)
	}
	go func() {
		defer func() { _ = answers.Close() }()
		lines := bufio.NewScanner(answers)
		for lines.Scan() {
			select {
			case s.answers <- lines.Text():
			case <-s.ended:
			}
		}
	}()
	go func() {
		// The exit code is in the state.
		_ = s.command.Wait()
		close(s.ended)
	}()
	return s, nil
}

// close ends the session and its processes.
func (s *session) close() {
	_ = s.requests.Close()
	endGroup(s.command)
	<-s.ended
}

// outcome is how a script ended.
type outcome struct {
	// output is what it wrote to both streams, in order.
	output string
	code   int
	// at is the line of the script, from 1, of the failed command; 0 without one.
	at int
	// over is set if the session ended with it, hung if it timed out and was killed.
	over, hung bool
}

// run runs a script. With fails, its last command may end with any code.
func (s *session) run(text string, fails bool, timeout time.Duration) (outcome, error) {
	var o outcome
	way := "ends"
	if fails {
		way = "fails"
	}
	_ = os.Remove(filepath.Join(s.dir, "at"))
	for name, content := range map[string]string{"script": text, "output": ""} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600); err != nil {
			return o, err
		}
	}
	if _, err := io.WriteString(s.requests, way+"\n"); err != nil {
		return o, fmt.Errorf("session of bash: %w", err)
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case code := <-s.answers:
		o.code, _ = strconv.Atoi(code)
	case <-s.ended:
		o.over, o.code = true, s.command.ProcessState.ExitCode()
	case <-timer.C:
		o.hung = true
		s.close()
	case <-s.ctx.Done():
		s.close()
		return o, s.ctx.Err()
	}
	at, _ := os.ReadFile(filepath.Join(s.dir, "at"))
	o.at, _ = strconv.Atoi(strings.TrimSpace(string(at)))
	output, err := os.ReadFile(filepath.Join(s.dir, "output"))
	o.output = string(output)
	return o, err
}
