package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// Process is a command that runs, or has run.
type Process struct {
	Command
	Identity
}

// Exit reports that a process ended, and how.
type Exit struct{ Name, State string }

// Supervisor is the parent's handle of a running supervise program.
type Supervisor struct {
	id      Identity
	cmd     *exec.Cmd
	in      io.WriteCloser
	replies chan event
	exits   chan<- Exit
	silent  chan struct{} // closed when the supervisor will say no more

	mu        sync.Mutex // one Start at a time
	processes []Process
}

// Run starts the supervise program at path. exits reports ended processes; it must be received from
// or have room, and is closed when the supervisor ended.
func Run(path string, exits chan<- Exit) (*Supervisor, error) {
	cmd := exec.Command(path)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = Detached() // a Ctrl-C reaches the starter, and through the pipe the children, in that order
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	id, err := Identify(cmd.Process.Pid)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the supervisor: %w", err), in.Close(), cmd.Wait())
	}
	s := &Supervisor{id: id, cmd: cmd, in: in, replies: make(chan event), exits: exits, silent: make(chan struct{})}
	go s.listen(out)
	return s, nil
}

func (s *Supervisor) listen(out io.Reader) {
	defer close(s.silent)
	defer close(s.exits)
	defer close(s.replies)
	for d := json.NewDecoder(out); ; {
		var e event
		if d.Decode(&e) != nil {
			return // the supervisor has ended
		}
		if e.Exit != "" {
			s.exits <- Exit{Name: e.Name, State: e.Exit}
			continue
		}
		s.replies <- e
	}
}

// Start runs the command and returns when its process exists.
func (s *Supervisor) Start(c Command) (Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := json.NewEncoder(s.in).Encode(c); err != nil {
		return Process{}, fmt.Errorf("start %s: %w", c.Name, err)
	}
	e, ok := <-s.replies
	switch {
	case !ok:
		return Process{}, fmt.Errorf("start %s: the supervisor has ended", c.Name)
	case e.Error != "":
		return Process{}, fmt.Errorf("start %s: %s", c.Name, e.Error)
	}
	p := Process{Command: c, Identity: e.Identity}
	s.processes = append(s.processes, p)
	return p, nil
}

// Processes lists all started processes, in order.
func (s *Supervisor) Processes() []Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Process(nil), s.processes...)
}

// Stop ends every process and the supervisor, and returns when they are gone.
func (s *Supervisor) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	closed := s.in.Close()
	<-s.silent // Wait would close the pipe under the listener
	if err := errors.Join(closed, s.cmd.Wait()); err != nil {
		return fmt.Errorf("stop the supervisor: %w", err)
	}
	return nil
}
