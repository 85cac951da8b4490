package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// Identity names one process for good: a PID is given again after its process
// has ended, but not with the same start time.
type Identity struct {
	PID int `json:"pid"`
	// Start is the start time in clock ticks since boot, field 22 of
	// /proc/PID/stat; 0 where there is no such file.
	Start uint64 `json:"start,omitempty"`
}

// Identify reads the identity of the process that has the PID now.
func Identify(pid int) (Identity, error) {
	if runtime.GOOS != "linux" {
		return Identity{PID: pid}, nil
	}
	start, _, err := stat(pid)
	if err != nil {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return Identity{PID: pid, Start: start}, nil
}

// Alive reports whether this process still runs. A zombie does not.
func (id Identity) Alive() bool {
	if id.PID <= 0 {
		return false
	}
	if runtime.GOOS != "linux" {
		p, err := os.FindProcess(id.PID)
		return err == nil && p.Signal(syscall.Signal(0)) == nil
	}
	start, state, err := stat(id.PID)
	return err == nil && start == id.Start && state != 'Z' && state != 'X'
}

// Signal signals this process, and never a later one with the same PID.
func (id Identity) Signal(sig os.Signal) error {
	p, err := os.FindProcess(id.PID) // holds on to the process, so check after it
	if err != nil {
		return fmt.Errorf("signal process %d: %w", id.PID, err)
	}
	defer func() { _ = p.Release() }()
	if !id.Alive() {
		return os.ErrProcessDone
	}
	if err := p.Signal(sig); err != nil {
		return fmt.Errorf("signal process %d: %w", id.PID, err)
	}
	return nil
}

func stat(pid int) (start uint64, state byte, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, err
	}
	return parseStat(b)
}

// parseStat finds the state (field 3) and the start time (field 22) of a
// process. Field 2 is the program's name in parentheses and may contain
// anything, blanks and parentheses too.
func parseStat(b []byte) (start uint64, state byte, err error) {
	i := bytes.LastIndexByte(b, ')')
	fields := bytes.Fields(b[i+1:]) // from field 3
	if i < 0 || len(fields) < 20 {
		return 0, 0, errors.New("process status is cut short")
	}
	start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("parse start time: %w", err)
	}
	return start, fields[0][0], nil
}
