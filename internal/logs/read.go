package logs

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// Reader reads the existing lines of some logs.
type Reader struct {
	Open OpenFunc
	// Max limits the logs that are open at once, at least 1.
	Max int
	// IdleTimeout is how long to wait for a server that sends nothing.
	IdleTimeout time.Duration
}

// Read emits the lines of all logs, ordered by time, then by the order of the containers; lines of
// one log stay in order. It holds a line of each log in memory, and with more than Max of them 64
// KiB of each.
//
// A log that cannot be read, or breaks off, is a notice, and does not stop the others. The error is
// that of emit, or of the context.
func (r Reader) Read(ctx context.Context, all []Container, o Options, emit func(Line) error) ([]Notice, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	streams := r.openAll(ctx, all, o)
	defer func() {
		for _, s := range streams {
			s.close()
		}
	}()
	var notes []Notice
	note := func(s *stream) {
		if !errors.Is(s.err, io.EOF) {
			notes = append(notes, Notice{Container: s.container, Event: s.event(), Err: s.err})
		}
	}
	var heads heads
	for _, s := range streams {
		if s.err != nil {
			note(s)
			continue
		}
		heads = append(heads, s)
	}
	heap.Init(&heads)
	for len(heads) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := heads[0]
		if err := emit(s.head); err != nil {
			return nil, err
		}
		if s.advance(); s.err == nil {
			heap.Fix(&heads, 0)
			continue
		}
		note(s)
		heap.Pop(&heads)
	}
	return notes, ctx.Err()
}

// stream is one log that is merged with others.
type stream struct {
	container Container
	index     int
	body      io.ReadCloser
	lines     *lineReader
	head      Line
	at        time.Time // of head, or of the last line before it with a time
	begun     bool      // there was a line
	err       error     // why there is no head; io.EOF at the end of the log
}

func (s *stream) advance() {
	line, _, err := s.lines.next()
	if err != nil {
		s.err = err
		return
	}
	line.Container = s.container
	if line.Time.After(s.at) {
		s.at = line.Time
	}
	s.head, s.begun = line, true
}

func (s *stream) event() Event {
	if s.begun {
		return Interrupted
	}
	return Failed
}

func (s *stream) close() {
	if s.body != nil {
		_ = s.body.Close() // read only
	}
}

// openAll opens the logs and reads the first line of each, up to Max at a time. If there are more
// than Max, it reads each to its end, into a spool.
func (r Reader) openAll(ctx context.Context, all []Container, o Options) []*stream {
	streams := make([]*stream, len(all))
	slots := make(chan struct{}, max(r.Max, 1))
	var wg sync.WaitGroup
	for i := range all {
		s := &stream{container: all[i], index: i}
		streams[i] = s
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if s.err = r.open(ctx, s, o, len(all) > cap(slots)); s.err == nil {
				s.lines = newLineReader(s.body)
				s.advance()
			}
		})
	}
	wg.Wait()
	return streams
}

func (r Reader) open(ctx context.Context, s *stream, o Options, aside bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	body, err := openPatiently(ctx, r.IdleTimeout, func(ctx context.Context) (io.ReadCloser, error) { return r.Open(ctx, s.container, o) })
	if err != nil {
		return err
	}
	s.body = body
	if !aside {
		return nil
	}
	put, err := newSpool(body)
	s.close()
	s.body = nil
	if err != nil {
		return err
	}
	s.body = put
	return nil
}

// heads is a heap of logs by their next line.
type heads []*stream

func (h heads) Len() int      { return len(h) }
func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)   { *h = append(*h, x.(*stream)) }

func (h heads) Less(i, j int) bool {
	return cmp.Or(h[i].at.Compare(h[j].at), cmp.Compare(h[i].index, h[j].index)) < 0
}

func (h *heads) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	*h = (*h)[:last]
	return s
}
