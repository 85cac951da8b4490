package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// floor configures what to list.
type floor struct {
	namespace string
	limit     int64
	encoding  string
	without   string // a group that is left out
	parallel  int
}

// result is the measured cost.
type result struct {
	kinds, objects, requests, bytes int64
	wall                            time.Duration
	cpu                             time.Duration // user and system, of this process
	peak                            int64         // highest resident memory in bytes
	gaps                            []string      // what could not be listed
}

func (r *result) String() string {
	return fmt.Sprintf("kinds=%d objects=%d requests=%d bytes=%d wall_s=%.3f cpu_s=%.3f peak_rss_mib=%.1f",
		r.kinds, r.objects, r.requests, r.bytes, r.wall.Seconds(), r.cpu.Seconds(), float64(r.peak)/(1<<20))
}

// meter counts requests and the bytes of responses after decompression.
type meter struct{ requests, bytes atomic.Int64 }

func (m *meter) wrap(next http.RoundTripper) http.RoundTripper { return counting{m, next} }

type counting struct {
	*meter
	next http.RoundTripper
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	resp, err := c.next.RoundTrip(r)
	if err == nil {
		resp.Body = countedBody{resp.Body, c.meter}
	}
	return resp, err
}

type countedBody struct {
	io.ReadCloser
	*meter
}

func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	return n, err
}

func (f floor) measure(ctx context.Context, cfg *rest.Config) (*result, error) {
	var m meter
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1
	cfg.WarningHandler = rest.NoWarnings{}
	cfg.Wrap(m.wrap)
	start := time.Now()
	list, err := f.lister(cfg)
	if err != nil {
		return nil, err
	}
	resources, gaps, err := f.discover(cfg)
	if err != nil {
		return nil, err
	}
	r := &result{kinds: int64(len(resources)), gaps: gaps}
	var objects atomic.Int64
	var mu sync.Mutex // guards r.gaps
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(f.parallel)
	for _, gvr := range resources {
		group.Go(func() error {
			if err := f.pages(ctx, gvr, list, &objects); err != nil {
				mu.Lock()
				defer mu.Unlock()
				r.gaps = append(r.gaps, fmt.Sprintf("list %s: %v", gvr.GroupResource(), err))
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.Sort(r.gaps)
	r.wall = time.Since(start)
	r.objects, r.requests, r.bytes = objects.Load(), m.requests.Load(), m.bytes.Load()
	r.cpu, r.peak, err = usage()
	return r, err
}

// pages lists one kind, page by page, and drops each.
func (f floor) pages(ctx context.Context, gvr schema.GroupVersionResource, list lister, objects *atomic.Int64) error {
	for o := (metav1.ListOptions{Limit: f.limit}); ; {
		page, err := list(ctx, gvr, o)
		if err != nil {
			return err
		}
		objects.Add(int64(meta.LenList(page)))
		l, err := meta.ListAccessor(page)
		if err != nil {
			return err
		}
		if o.Continue = l.GetContinue(); o.Continue == "" {
			return nil
		}
	}
}

// discover finds the kinds to list, each in the version that the server
// prefers. Groups that do not answer are gaps.
func (f floor) discover(cfg *rest.Config) (resources []schema.GroupVersionResource, gaps []string, err error) {
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("make a client: %w", err)
	}
	lists, err := client.ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, nil, fmt.Errorf("discover kinds: %w", err)
	}
	if err != nil {
		gaps = append(gaps, fmt.Sprintf("discover kinds: %v", err))
	}
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			return nil, nil, fmt.Errorf("discover kinds: %w", err)
		}
		for i := range l.APIResources {
			r := &l.APIResources[i]
			if slices.Contains(r.Verbs, "list") && (f.namespace == "" || r.Namespaced) && !skipped(gv.Group, r.Name) && (f.without == "" || gv.Group != f.without) {
				resources = append(resources, gv.WithResource(r.Name))
			}
		}
	}
	return resources, gaps, nil
}

func skipped(group, resource string) bool {
	return resource == "events" && (group == "" || group == "events.k8s.io") || resource == "leases" && group == "coordination.k8s.io"
}
