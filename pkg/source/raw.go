package source

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// nodeTimeout limits a request that the API server proxies to a kubelet.
const nodeTimeout = 10 * time.Second

// Get sends a GET request for a path that is no object (the proxy of a node, an aggregated API) and
// returns the body, preferably JSON. The error is that of apimachinery
// (IsForbidden, IsNotFound), of the context, or a *ConnectError. A node's proxy gets one attempt of
// 10 seconds: a dead kubelet fails slowly, and a second time as well.
func (c *Cluster) Get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	if !isPath(path) {
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

// Proxied returns the URL of a path of the API server, such as that of the proxy of a Service, and
// what sends requests there with the credentials of the connection.
func (c *Cluster) Proxied(path string) (*url.URL, http.RoundTripper) {
	via := c.client.Transport
	if via == nil {
		via = http.DefaultTransport
	}
	return c.base.JoinPath(path), via
}

// isPath reports whether a path has no parts that lead out of it.
func isPath(path string) bool {
	parts := strings.Split(path, "/")
	return !slices.Contains(parts, "..") && !slices.Contains(parts, ".")
}

const nodesPath = "/api/v1/nodes/"
