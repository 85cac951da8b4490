// Package logs prints the logs of the pods of stacks (Print). It reads the logs of many containers as
// lines: the existing ones, in the order of time (Reader), or new ones, as they arrive (Follower).
//
// A container that restarts runs several times. A run is called an instance, and each has a log of
// its own; a server stores the current and the previous one.
//
// Reader and Follower know no server: they are given the function that opens a log.
package logs

import (
	"context"
	"io"
	"time"
)

// Options select a part of a log. The zero value selects all of it.
type Options struct {
	// Follow keeps the log open for new lines.
	Follow bool
	// Previous selects the log of the previous instance.
	Previous bool
	// Since omits lines that are older, SinceTime lines from before; at most one of the two is set.
	Since     time.Duration
	SinceTime time.Time
	// Tail is the number of lines to begin with, from the end; nil is all of them.
	Tail *int64
}

// OpenFunc opens the log of a container, each line prefixed with its time in RFC 3339 and a space.
// The log ends with the context.
type OpenFunc func(ctx context.Context, c Container, o Options) (io.ReadCloser, error)

// Line is a line of a log.
type Line struct {
	Container Container
	// Time is when it was written, and Stamp the same as the server's text. A line of the server
	// itself has none: the zero time, and "".
	Time  time.Time
	Stamp string
	// Text is the line without its end, as the program wrote it: it may contain anything.
	Text string
	// Cut is the number of bytes omitted after Text, of a line that is too long.
	Cut int
}

// Event is a change in the state of a log.
type Event uint8

// Events.
const (
	// Waiting: the container has not started.
	Waiting Event = iota
	// Queued: Max logs are open already.
	Queued
	// NodeNotReady: the node may not send the log.
	NodeNotReady
	// Ended: the pod will not run again.
	Ended
	// Gone: the container is no longer followed.
	Gone
	// Failed: the log cannot be read.
	Failed
	// Interrupted: the log broke off, or could not be opened; it is retried.
	Interrupted
)

// Notice is an event with its cause: Err, or a reason of the server.
type Notice struct {
	Container Container
	Event     Event
	Reason    string
	Err       error
}
