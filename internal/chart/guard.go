package chart

import (
	"context"
	"fmt"
	"runtime/metrics"
	"sync/atomic"
	"text/template"
	"time"
)

// maxStackBytes limits the growth of the process's stacks. Go aborts a process with a stack of 1
// GiB, which nothing can recover: an endless recursion must be stopped before.
const maxStackBytes = 192 << 20

// renderLimit aborts a rendering that takes too much. Its goroutine stays until the next call of
// tick; it has no side effects.
type renderLimit struct {
	bounds Bounds
	at     atomic.Pointer[string]
	cause  atomic.Pointer[error]
}

// funcs returns the functions that instrumented templates call.
func (g *renderLimit) funcs() template.FuncMap {
	return template.FuncMap{
		tickFunc: func(file string) (string, error) {
			if cause := g.cause.Load(); cause != nil {
				return "", *cause
			}
			if file != "" {
				g.at.Store(&file)
			}
			return "", nil
		},
		textFunc: func(text string) (string, error) {
			if cause := g.cause.Load(); cause != nil {
				return "", *cause
			}
			return instrument(text), nil
		},
	}
}

// stop records why a rendering is aborted, and returns the first reason.
func (g *renderLimit) stop(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if file := g.at.Load(); file != nil {
		err = fmt.Errorf("template %s: %w", *file, err)
	}
	g.cause.CompareAndSwap(nil, &err)
	return *g.cause.Load()
}

// run calls f and returns its error, or why it was aborted.
func (g *renderLimit) run(ctx context.Context, f func() error) error {
	if ctx.Err() != nil {
		return g.stop("rendering was stopped: %w", ctx.Err())
	}
	done := make(chan error, 1)
	heap, stack := memory()
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("rendering panicked: %v", r)
			}
		}()
		done <- f()
	}()
	late := time.NewTimer(g.bounds.Time)
	defer late.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			if cause := g.cause.Load(); cause != nil {
				return *cause
			}
			return err
		case <-ctx.Done():
			return g.stop("rendering was stopped: %w", ctx.Err())
		case <-late.C:
			return g.stop("rendering took longer than %s: the template may not terminate", g.bounds.Time)
		case <-look.C:
			h, s := memory()
			if s-stack > min(maxStackBytes, g.bounds.Memory) {
				return g.stop("rendering recurses without end: the template includes itself")
			}
			if h-heap > g.bounds.Memory {
				return g.stop("rendering took more than %d MiB of memory", g.bounds.Memory>>20)
			}
		}
	}
}

// memory returns the size of the heap and of the stacks, in bytes.
func memory() (heap, stack int64) {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())
}
