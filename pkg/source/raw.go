package source

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// nodeTimeout is how long a kubelet may take to answer through the API server.
const nodeTimeout = 10 * time.Second

// Get sends a GET request for a path that is no object (a node's proxy, a Service's,
// an API that somebody else serves) and returns the body, in JSON where there is a
// choice. The error is that of apimachinery (IsForbidden, IsNotFound), of the context,
// or a *ConnectError. A node's proxy is asked once, and for 10 seconds: a dead
// kubelet fails slowly, and a second time as well.
func (c *Cluster) Get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	parts := strings.Split(path, "/")
	if slices.Contains(parts, "..") || slices.Contains(parts, ".") {
		return nil, fmt.Errorf("get %s: not a valid path", path)
	}
	if !strings.HasPrefix(path, nodesPath) {
		a, err := c.ask(ctx, path, query, jsonType)
		return a.body, err
	}
	limited, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	a, fail := c.send(limited, path, query, jsonType)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case fail.err != nil:
		return nil, c.final(fail)
	}
	return a.body, nil
}

const nodesPath = "/api/v1/nodes/"
