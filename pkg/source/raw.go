package source

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// nodeTimeout limits a request that the API server proxies to a kubelet.
const nodeTimeout = 10 * time.Second

// Get sends a GET request for a path that is no object (the proxy of a node or a Service, an
// aggregated API) and returns the body, preferably JSON. The error is that of apimachinery
// (IsForbidden, IsNotFound), of the context, or a *ConnectError. A node's proxy gets one attempt of
// 10 seconds: a dead kubelet fails slowly, and a second time as well.
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
