package app

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// stopwatch times the stages of a command, and counts requests and bytes.
type stopwatch struct {
	now      func() time.Time
	stages   []stageTime
	requests atomic.Int64
	bytes    atomic.Int64
}

type stageTime struct {
	name string
	took time.Duration
}

// NewStopwatch measures stages by a clock.
func NewStopwatch(now func() time.Time) *stopwatch { return &stopwatch{now: now} }

// Stage begins a stage and returns the function that ends it. Repeated stages add up.
func (s *stopwatch) Stage(name string) func() {
	start := s.now()
	return func() {
		took := s.now().Sub(start)
		for i := range s.stages {
			if s.stages[i].name == name {
				s.stages[i].took += took
				return
			}
		}
		s.stages = append(s.stages, stageTime{name, took})
	}
}

// Text returns a line for each stage, and one for the traffic.
func (s *stopwatch) Text(objects, edges int) string {
	var b strings.Builder
	for _, t := range s.stages {
		fmt.Fprintf(&b, "%-9s %9.1f ms\n", t.name, float64(t.took.Microseconds())/1000)
	}
	fmt.Fprintf(&b, "requests %d, bytes %d, objects %d, edges %d\n", s.requests.Load(), s.bytes.Load(), objects, edges)
	return b.String()
}

// Count wraps a transport so that requests and the bytes of bodies are counted.
func (s *stopwatch) Count(next http.RoundTripper) http.RoundTripper { return counter{s, next} }

type counter struct {
	s    *stopwatch
	next http.RoundTripper
}

func (c counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.s.requests.Add(1)
	resp, err := c.next.RoundTrip(r)
	if resp != nil {
		resp.Body = &countedBody{resp.Body, &c.s.bytes}
	}
	return resp, err
}

type countedBody struct {
	io.ReadCloser
	n *atomic.Int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n.Add(int64(n))
	return n, err
}
