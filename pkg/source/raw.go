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

// Get sends a GET request for a path that is no object (the proxy of a node or a Service, an
// aggregated API) and returns the body, preferably JSON, also with the error of a server that the API
// server is the proxy of. The error is that of apimachinery
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

// Post sends a form once to a path below the proxy of a Service, for a question that is too long
// for a URL, and returns the body and errors as Get does. It changes nothing in the cluster, but
// needs permission to create services/proxy.
func (c *Cluster) Post(ctx context.Context, path string, form url.Values) ([]byte, error) {
	if !isPath(path) {
		return nil, fmt.Errorf("post to %s: not a valid path", path)
	}
	a, fail := wholeBody(c.begin(ctx, c.client, http.MethodPost, path, form, jsonType))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case fail.err != nil:
		return fail.body, c.final(fail)
	}
	return a.body, nil
}

// isPath reports whether a path has no parts that lead out of it.
func isPath(path string) bool {
	parts := strings.Split(path, "/")
	return !slices.Contains(parts, "..") && !slices.Contains(parts, ".")
}

const nodesPath = "/api/v1/nodes/"
