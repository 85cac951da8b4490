package luahealth

import (
	"context"
	"fmt"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Limits is what scripts may use.
type Limits struct {
	// Instructions of one run: of the virtual machine, and steps of what is done for it.
	Instructions int
	// Bytes that one run may ask for, in texts and tables, whether it keeps them or not. What
	// single instructions need in addition is bounded by Instructions.
	Bytes int
	// Text is the longest text that a run may make, in bytes.
	Text int
	// Time is that of one run by the clock, Total that of all runs of a set within Window.
	Time, Total, Window time.Duration
	// Failures is how often a script may reach a limit on objects of a kind before it is
	// not asked about that kind any more.
	Failures int
}

// DefaultLimits is far more than a script for one object needs. Argo CD has one limit: a second.
func DefaultLimits() Limits {
	return Limits{Instructions: 500_000, Bytes: 32 << 20, Text: 1 << 20, Time: time.Second, Total: 20 * time.Second, Window: 5 * time.Minute, Failures: 3}
}

// LimitError says which limit a script reached.
type LimitError struct{ Message string }

func (e *LimitError) Error() string { return e.Message }

// meter counts what one run uses. It is the context of the virtual machine, which asks
// Done before each instruction: there is no other place at which instructions can be
// counted. It is for one goroutine.
type meter struct {
	context.Context
	limits  Limits
	start   time.Time
	steps   int
	bytes   int
	looked  int // the steps after which the clock was read
	ended   chan struct{}
	reached *LimitError
}

func newMeter(limits Limits) *meter {
	m := &meter{Context: context.Background(), limits: limits, start: time.Now(), ended: make(chan struct{})}
	close(m.ended)
	return m
}

func (m *meter) elapsed() time.Duration { return time.Since(m.start) }

// Done counts an instruction.
func (m *meter) Done() <-chan struct{} {
	m.step(1)
	if m.reached != nil {
		return m.ended
	}
	return nil
}

// Err is the limit that was reached.
func (m *meter) Err() error {
	if m.reached == nil {
		return nil
	}
	return m.reached
}

// step counts steps, and checks the clock every so many steps.
func (m *meter) step(n int) {
	const often = 128
	m.steps += n
	switch {
	case m.reached != nil:
	case m.steps > m.limits.Instructions:
		m.reached = &LimitError{fmt.Sprintf("it takes more than %d instructions", m.limits.Instructions)}
	case m.steps-m.looked >= often:
		m.looked = m.steps
		if m.elapsed() > m.limits.Time {
			m.reached = &LimitError{fmt.Sprintf("it takes longer than %v", m.limits.Time)}
		}
	}
}

// work counts steps that are done for a script, and ends the run where those are too many.
func (m *meter) work(l *lua.LState, n int) {
	m.step(n)
	m.check(l)
}

// allocate counts bytes before they are used, and ends the run where those are too many.
func (m *meter) allocate(l *lua.LState, n int) {
	const perStep = 256
	if m.bytes += n; m.reached == nil && (n < 0 || m.bytes > m.limits.Bytes) {
		m.reached = &LimitError{fmt.Sprintf("it allocates more than %d MiB of memory", m.limits.Bytes>>20)}
	}
	m.step(1 + n/perStep)
	m.check(l)
}

// text counts a text before it is made.
func (m *meter) text(l *lua.LState, length int) {
	if m.reached == nil && (length < 0 || length > m.limits.Text) {
		m.reached = &LimitError{fmt.Sprintf("it creates a string of more than %d KiB", m.limits.Text>>10)}
	}
	m.check(l)
	m.allocate(l, length)
}

// check raises the limit that was reached as an error of Lua. A script that catches it
// meets it again at its next instruction.
func (m *meter) check(l *lua.LState) {
	if m.reached != nil {
		l.RaiseError("%s", m.reached.Message)
	}
}

// budget is the time that all runs may use together. A watch may run for days, so it is
// that of a window.
type budget struct {
	since time.Time
	used  time.Duration
}

// spent says whether nothing is left. The window begins with the first run in it.
func (b *budget) spent(limits Limits, now time.Time) bool {
	if now.Sub(b.since) > limits.Window {
		*b = budget{since: now}
	}
	return b.used >= limits.Total
}

func (b *budget) add(d time.Duration) { b.used += d }
