// Package logs reads the logs of many containers as lines: what there is of them, in
// the order of time (Reader), or what comes, as it comes (Follower).
//
// A container runs several times where it is restarted. A run is called an instance,
// and each has a log of its own, of which a server keeps the present and the one
// before.
//
// Nothing here knows a server: what opens a log is handed in.
package logs

import (
	"context"
	"io"
	"time"
)

// Options say what of a log is wanted. The zero value is all that there is.
type Options struct {
	// Follow keeps the log open for what is still to be written.
	Follow bool
	// Previous is the log of the instance before.
	Previous bool
	// Since leaves out what is older than this, SinceTime what was written before; of
	// the two one at most is set.
	Since     time.Duration
	SinceTime time.Time
	// Tail is how many lines to begin with, from the end; nil is all of them.
	Tail *int64
}

// OpenFunc opens the log of a container, each line with its time in RFC 3339 and a space
// before it. The log ends with the context.
type OpenFunc func(ctx context.Context, c Container, o Options) (io.ReadCloser, error)

// Line is a line of a log.
type Line struct {
	Container Container
	// Time is when it was written, and Stamp the same as the server wrote it. A line
	// that the server put in by itself has none: the zero time, and "".
	Time  time.Time
	Stamp string
	// Text is the line without its end, as the program wrote it: it may hold anything.
	Text string
	// Cut is how many bytes were left out behind Text, of a line that is too long.
	Cut int
}

// Event is what may happen to a log.
type Event uint8

// Events.
const (
	// Waiting: the container has not begun to run.
	Waiting Event = iota
	// Queued: as many logs are followed as may be.
	Queued
	// Unreached: the node is not ready, and nothing may come of the log.
	NodeNotReady
	// Ended: the pod will not run again.
	Ended
	// Gone: the container is no longer among those that are followed.
	Gone
	// Failed: the log cannot be read.
	Failed
	// Broken: the log broke off, or could not be opened; it is tried again.
	Interrupted
)

// Notice tells of an event, and why it happened: Err, or a word of the server.
type Notice struct {
	Container Container
	Event     Event
	Reason    string
	Err       error
}
