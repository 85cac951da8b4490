package helm

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// getter gives Helm an API client whose requests end with a context.
type getter struct {
	config    *rest.Config
	namespace string
	discovery discovery.CachedDiscoveryInterface
	mapper    meta.RESTMapper
}

func newGetter(ctx context.Context, base *rest.Config, namespace string, warn rest.WarningHandler) (*getter, error) {
	config := rest.CopyConfig(base)
	config.QPS, config.Burst = 100, 300
	config.WarningHandler, config.WarningHandlerWithContext = warn, nil
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &bound{ctx: ctx, next: next} })
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	cached := memory.NewMemCacheClient(d)
	return &getter{config: config, namespace: namespace, discovery: cached, mapper: restmapper.NewDeferredDiscoveryRESTMapper(cached)}, nil
}

func (g *getter) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(g.config), nil }

func (g *getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.discovery, nil
}

func (g *getter) ToRESTMapper() (meta.RESTMapper, error) { return g.mapper, nil }

func (g *getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	o := &clientcmd.ConfigOverrides{Context: api.Context{Namespace: g.namespace}}
	return clientcmd.NewDefaultClientConfig(*api.NewConfig(), o)
}

// bound ends requests, and the reading of their responses, when its context ends.
type bound struct {
	ctx  context.Context
	next http.RoundTripper
}

func (b *bound) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.ctx.Err() != nil {
		return nil, context.Cause(b.ctx)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	stop := context.AfterFunc(b.ctx, func() { cancel(context.Cause(b.ctx)) })
	end := func() {
		stop()
		cancel(nil)
	}
	answer, err := b.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		end()
		return answer, err
	}
	answer.Body = &endingBody{ReadCloser: answer.Body, end: end}
	return answer, nil
}

// endingBody cancels the context of a request when its response is closed.
type endingBody struct {
	io.ReadCloser
	end func()
}

func (b *endingBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

// warnOnce logs each warning of the API server once.
type warnOnce struct {
	log  *slog.Logger
	mu   sync.Mutex
	seen map[string]bool
}

func (w *warnOnce) HandleWarningHeader(code int, _, text string) {
	if code != 299 || text == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.seen[text] {
		w.seen[text] = true
		w.log.Warn(text)
	}
}
