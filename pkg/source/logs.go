package source

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path"
	"strconv"
	"time"
)

// LogOptions select a part of a log. The zero value is the whole log of a pod with one container.
type LogOptions struct {
	// Container is required if the pod has several.
	Container string
	// Follow keeps the stream open for new lines.
	Follow bool
	// Previous selects the log of the container before its last restart.
	Previous bool
	// Timestamps puts the time in RFC 3339 and a space before each line.
	Timestamps bool
	// Since omits older lines, to the second (rounded up); 0 is no limit. The server refuses it
	// together with SinceTime.
	Since time.Duration
	// SinceTime omits earlier lines; the zero time is no limit.
	SinceTime time.Time
	// Tail is the number of lines to start with, from the end; nil is all of them.
	Tail *int64
	// LimitBytes truncates the log; 0 is no limit.
	LimitBytes int64
}

func (o LogOptions) query() url.Values {
	q := url.Values{}
	text := func(key, value string) {
		if value != "" {
			q.Set(key, value)
		}
	}
	yes := func(key string, value bool) {
		if value {
			q.Set(key, "true")
		}
	}
	text("container", o.Container)
	yes("follow", o.Follow)
	yes("previous", o.Previous)
	yes("timestamps", o.Timestamps)
	if o.Since > 0 {
		text("sinceSeconds", strconv.FormatInt(int64((o.Since+time.Second-1)/time.Second), 10))
	}
	if !o.SinceTime.IsZero() {
		text("sinceTime", o.SinceTime.UTC().Format(time.RFC3339))
	}
	if o.Tail != nil {
		text("tailLines", strconv.FormatInt(*o.Tail, 10))
	}
	if o.LimitBytes > 0 {
		text("limitBytes", strconv.FormatInt(o.LimitBytes, 10))
	}
	return q
}

// logType is the Accept header of a log: text, or a Status in JSON.
const logType = jsonType + ", */*"

// Logs opens the log of a container. The caller closes it; it also ends with ctx. There are no
// retries: the error is the server's (IsForbidden, IsNotFound, IsBadRequest for a container that
// does not exist or has not started), that of the context, or a *ConnectError.
func (c *Cluster) Logs(ctx context.Context, namespace, pod string, o LogOptions) (io.ReadCloser, error) {
	if !sendable(namespace) || !sendable(pod) {
		return nil, fmt.Errorf("read the log of pod %q in namespace %q: not a valid name", pod, namespace)
	}
	resp, fail := c.stream(ctx, path.Join("/api/v1/namespaces", namespace, "pods", pod, "log"), o.query(), logType)
	switch {
	case ctx.Err() != nil:
		if fail.err == nil {
			_ = resp.Body.Close()
		}
		return nil, ctx.Err()
	case fail.err != nil:
		return nil, c.final(fail)
	}
	return resp.Body, nil
}
