package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// kubelet is the command line of the kubelet half.
type kubelet struct {
	kubeconfig, nodes, upstream, cert, key string
}

// serve listens for every node until ctx ends or one listener fails.
func (k kubelet) serve(ctx context.Context) error {
	client, err := k.client()
	if err != nil {
		return err
	}
	upstream, err := url.Parse(k.upstream)
	if err != nil {
		return fmt.Errorf("parse -kwok: %w", err)
	}
	kwok := passOn(upstream)
	serving, ctx := errgroup.WithContext(ctx)
	for pair := range strings.SplitSeq(k.nodes, ",") {
		node, port, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("parse -nodes: %q is not node=port", pair)
		}
		mux := http.NewServeMux()
		mux.Handle("/stats/summary", summaryHandler(client, node))
		mux.Handle("/", kwok)
		srv := &http.Server{Addr: net.JoinHostPort("127.0.0.1", port), Handler: mux}
		context.AfterFunc(ctx, func() { _ = srv.Close() })
		serving.Go(func() error {
			if err := srv.ListenAndServeTLS(k.cert, k.key); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve node %s: %w", node, err)
			}
			return nil
		})
	}
	return serving.Wait()
}

func (k kubelet) client() (kubernetes.Interface, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", k.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig: %w", err)
	}
	cfg.QPS = -1
	cfg.ContentType = "application/vnd.kubernetes.protobuf"
	return kubernetes.NewForConfig(cfg)
}

// passOn forwards to kwok's kubelet server. That server is on this machine's loopback, and its
// certificate does not have the nodes' names, so it is not verified.
func passOn(upstream *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport: &http.Transport{
			TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
			MaxIdleConnsPerHost: 32,
		},
		FlushInterval: 100 * time.Millisecond,
	}
}

func summaryHandler(client kubernetes.Interface, node string) http.HandlerFunc {
	// ResourceVersion 0 is served from the API server's cache: a metrics client polls this, and a
	// kubelet is slightly stale, too.
	opts := metav1.ListOptions{FieldSelector: "spec.nodeName=" + node, ResourceVersion: "0"}
	return func(w http.ResponseWriter, r *http.Request) {
		pods, err := client.CoreV1().Pods("").List(r.Context(), opts)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(summarize(node, pods.Items, metav1.Now())) // the client has gone
	}
}
