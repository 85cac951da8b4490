// Package userfile reads and writes the files that a user names on the command line: bounded,
// interruptible, whole or not at all.
package userfile

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read reads a file of at most most bytes. Errors name the subject.
func Read(ctx context.Context, name string, most int64, subject string) ([]byte, error) {
	return Await(ctx, func() ([]byte, error) { return readLimited(name, most, subject) })
}

// Await waits for a read. A pipe may never end: an interrupt ends the wait, not the read.
func Await[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type content struct {
		value T
		err   error
	}
	done := make(chan content, 1)
	go func() {
		value, err := read()
		done <- content{value, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case c := <-done:
		return c.value, c.err
	}
}

func readLimited(name string, most int64, subject string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d MiB: that is not a %s", name, most>>20, subject)
	}
	return data, err
}

// exposed says which users besides its owner can read or change a file of a mode; empty for none. As
// with the keys of ssh, a file of the user's own is for no other user. One of another owner may be
// readable by its group: so the kubelet mounts a Secret for a pod with an fsGroup.
func exposed(mode fs.FileMode, own bool) string {
	switch {
	case mode&0o007 != 0:
		return "every user of this machine"
	case mode&0o030 != 0, own && mode&0o040 != 0:
		return "its group"
	}
	return ""
}
