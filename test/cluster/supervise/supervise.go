// Package supervise makes sure that the processes of a test cluster end with
// the process that started them, however that one ends.
//
// The starter (a test binary, say) runs the supervise program and tells it over
// a pipe what to run. The supervisor is the parent of all that runs. When the
// pipe closes, because the starter asked for it, panicked, timed out or was
// killed, the supervisor kills its children and ends. Where the kernel can (on
// Linux), it kills them too if the supervisor itself is killed.
//
// It imports the standard library only: the program is built before anything
// else is.
package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
)

// Command is what to run. Output of both kinds is written to the file Log.
// The environment is exactly Env: what runs must not find a cluster, a proxy
// or credentials that belong to whoever runs the tests.
type Command struct {
	Name string   `json:"name"`
	Path string   `json:"path"`
	Args []string `json:"args"`
	Dir  string   `json:"dir"`
	Env  []string `json:"env"`
	Log  string   `json:"log"`
}

// event is a message of the supervisor: that a command runs (Identity is set), could not be run
// (Error), or has ended (Exit).
type event struct {
	Name     string   `json:"name"`
	Identity Identity `json:"identity,omitzero"`
	Error    string   `json:"error,omitempty"`
	Exit     string   `json:"exit,omitempty"`
}

// Serve reads Commands from in and runs them until in closes or ctx ends; then
// it kills what still runs, the last started first, and waits for it. Nobody
// is asked to end in good order: an API server takes seconds for that, and the
// state of a test cluster is thrown away.
//
// The caller locks its goroutine to the main thread, because the kernel ties
// children to the thread that started them.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s := &server{out: json.NewEncoder(out)}
	defer s.killAll()
	commands, readErr := read(in)
	for {
		select {
		case <-ctx.Done():
			return nil
		case c, ok := <-commands:
			if !ok {
				return <-readErr
			}
			s.start(c)
		}
	}
}

// read decodes until in closes; then it closes the first channel and sends why
// on the second.
func read(in io.Reader) (<-chan Command, <-chan error) {
	commands, done := make(chan Command), make(chan error, 1)
	go func() {
		defer close(commands)
		for d := json.NewDecoder(in); ; {
			var c Command
			if err := d.Decode(&c); err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				done <- err
				return
			}
			commands <- c
		}
	}()
	return commands, done
}

type server struct {
	children []*exec.Cmd
	waiting  sync.WaitGroup

	mu  sync.Mutex // guards out
	out *json.Encoder
}

// tell ignores write errors: in is closed then, too, which ends Serve.
func (s *server) tell(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.out.Encode(e)
}

func (s *server) start(c Command) {
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		s.tell(event{Name: c.Name, Error: err.Error()})
		return
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, log, log
	cmd.SysProcAttr = child()
	if err := cmd.Start(); err != nil {
		s.tell(event{Name: c.Name, Error: err.Error()})
		return
	}
	id, err := Identify(cmd.Process.Pid)
	if err != nil {
		id = Identity{PID: cmd.Process.Pid} // it has ended already; the exit is told below
	}
	s.children = append(s.children, cmd)
	s.tell(event{Name: c.Name, Identity: id})
	s.waiting.Go(func() {
		_ = cmd.Wait() // the state says it all
		s.tell(event{Name: c.Name, Exit: cmd.ProcessState.String()})
	})
}

// killAll needs no check of start times: a child that has not been waited for
// keeps its PID, and os.Process signals no child that has been.
func (s *server) killAll() {
	for _, cmd := range slices.Backward(s.children) {
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			fmt.Fprintf(os.Stderr, "kill %s: %v\n", cmd.Path, err)
		}
	}
	s.waiting.Wait()
}
