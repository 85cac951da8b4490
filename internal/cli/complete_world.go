package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// completionSource is what names are completed from. Of a cluster it wants little: the discovery that
// kubectl and every command keep on disk, however old, and one list of metadata.
type completionSource struct {
	// namespace is that of the user; empty where all are meant.
	namespace string
	source    source.Source
	server    *server // nil for a snapshot
}

// server sends requests without retries: a completion must not block the prompt.
type server struct {
	base   *url.URL
	client *http.Client
}

// Kinds that need no discovery.
var (
	namespaceKnown = object.Resource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}
	nodeKnown      = object.Resource{Version: "v1", Kind: "Node", Plural: "nodes"}
	podKnown       = object.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: true}
	configMapKnown = object.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
	secretKnown    = object.Resource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true}
)

// world connects, and sends nothing.
func (c *common) world(ctx context.Context) (*completionSource, error) {
	c.Completing = true
	switch c.From {
	case "":
		return c.clusterWorld()
	case "-":
		return nil, errors.New("standard input is the terminal of the user")
	}
	snap, err := c.OpenSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	w := &completionSource{source: snap.Reading(func(object.Resource) (source.Detail, string) { return source.Metadata, "" })}
	if app.Given(c.Config.Namespace) {
		w.namespace = *c.Config.Namespace
	}
	return w, nil
}

// forEver is how long what was discovered is good enough for completions. Commands ask again
// after six hours, and where they meet a kind that they do not know.
const forEver = 10 * 365 * 24 * time.Hour

func (c *common) clusterWorld() (*completionSource, error) {
	config, err := c.Config.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	namespace, _, err := c.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	if c.AllNamespaces {
		namespace = ""
	}
	s := &server{}
	if s.base, _, err = rest.DefaultServerUrlFor(config); err != nil {
		return nil, err
	}
	if s.client, err = rest.HTTPClientFor(config); err != nil {
		return nil, err
	}
	config.QPS = -1
	cache := *c.Config.CacheDir
	discovery, err := disk.NewCachedDiscoveryClientForConfig(config, discoveryFolder(cache, config.Host), filepath.Join(cache, "http"), forEver)
	if err != nil {
		return nil, err
	}
	cluster, err := source.NewCluster(source.ClusterOptions{Config: config, Discovery: discovery})
	return &completionSource{namespace: namespace, source: cluster, server: s}, err
}

// notInFolder are the characters of a host that kubectl does not put into a path.
var notInFolder = regexp.MustCompile(`[^(\w/.)]`)

// discoveryFolder is where kubectl and cli-runtime keep what a host serves.
func discoveryFolder(cache, host string) string {
	host = strings.Replace(strings.Replace(host, "https://", "", 1), "http://", "", 1)
	return filepath.Join(cache, "discovery", notInFolder.ReplaceAllString(host, "_"))
}

func (w *completionSource) kinds(ctx context.Context) (*object.Kinds, error) {
	return w.source.Kinds(ctx, &app.EarlyGaps{})
}

// completionObject is an object as far as it is completed.
type completionObject struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
}

func names(all []completionObject) []string {
	out := make([]string, 0, len(all))
	for i := range all {
		out = append(out, all[i].Name)
	}
	return out
}

// named are the names of a type, or of the groups that go by a name, in the namespace.
func (w *completionSource) named(ctx context.Context, typ string) []string {
	switch typ {
	case graph.BySystem:
		return w.systems(ctx)
	case graph.ByHelm:
		return values(w.list(ctx, secretKnown, w.namespace, "owner=helm,status=deployed"), "name")
	case graph.ByApp:
		return values(w.list(ctx, podKnown, w.namespace, graph.InstanceLabel), graph.InstanceLabel)
	}
	r, ok := w.resource(ctx, typ)
	if !ok {
		return nil
	}
	return names(w.list(ctx, r, w.namespace, ""))
}

func (w *completionSource) resource(ctx context.Context, typ string) (object.Resource, bool) {
	kinds, err := w.kinds(ctx)
	if err != nil {
		return object.Resource{}, false
	}
	r, err := kinds.Find(typ)
	return r, err == nil
}

// systems are the Systems that were adopted.
func (w *completionSource) systems(ctx context.Context) []string {
	var out []string
	for _, o := range w.list(ctx, configMapKnown, w.namespace, system.Label+","+system.IDLabel) {
		if system.IsParent(object.Ref{Kind: configMapKnown.Kind, Namespace: o.Namespace, Name: o.Name}, o.Labels) {
			out = append(out, o.Labels[system.Label])
		}
	}
	return out
}

// values are those that a label has.
func values(all []completionObject, label string) []string {
	var out []string
	for i := range all {
		if v := all[i].Labels[label]; v != "" {
			out = append(out, v)
		}
	}
	return out
}

// list returns the objects of a kind with the labels, in a namespace or, if it is empty, in all.
// Objects that cannot be read are left out.
func (w *completionSource) list(ctx context.Context, r object.Resource, ns, selector string) []completionObject {
	if !r.Namespaced {
		ns = ""
	}
	if w.server != nil {
		return w.server.list(ctx, r, ns, selector)
	}
	wanted, err := labels.Parse(selector)
	if err != nil {
		return nil
	}
	sink := &completionSink{kind: r, namespace: ns, selector: wanted}
	if err := w.source.Read(ctx, source.Query{All: true}, sink); err != nil {
		return nil
	}
	return sink.found
}

// completionSink keeps the objects of one kind.
type completionSink struct {
	app.EarlyGaps
	mu        sync.Mutex
	kind      object.Resource
	namespace string
	selector  labels.Selector
	found     []completionObject
}

func (k *completionSink) Add(o object.Object) {
	if o.GroupKind() != k.kind.GroupKind() || k.namespace != "" && o.Namespace != k.namespace || !k.selector.Matches(labels.Set(o.Meta.GetLabels())) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.found = append(k.found, completionObject{o.Name, o.Namespace, o.Meta.GetLabels()})
}

const (
	// page is how many objects are asked for at once. A resourceVersion of 0 would be answered
	// from memory, and without a limit: every object of a large cluster.
	page = "500"
	// maxPages bounds what is worth offering.
	maxPages = 5
	// maxPageBytes is more than the metadata of a page takes.
	maxPageBytes = 64 << 20
	// metadataAlone has nothing to fall back to: whole objects would be the values of Secrets.
	metadataAlone = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

func (s *server) list(ctx context.Context, r object.Resource, ns, selector string) []completionObject {
	var all []completionObject
	query := url.Values{"limit": {page}}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	for range maxPages {
		found, next, err := s.page(ctx, r, ns, query)
		if err != nil {
			break
		}
		all = append(all, found...)
		if next == "" {
			break
		}
		query.Set("continue", next)
	}
	return all
}

func (s *server) page(ctx context.Context, r object.Resource, ns string, query url.Values) (found []completionObject, next string, err error) {
	u := *s.base
	u.Path, u.RawQuery = path.Join("/", u.Path, listPath(r, ns)), query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Accept", metadataAlone)
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, "", errors.New(resp.Status)
	}
	var list struct {
		Metadata struct {
			Continue string `json:"continue"`
		} `json:"metadata"`
		Items []struct {
			Metadata completionObject `json:"metadata"`
		} `json:"items"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxPageBytes)).Decode(&list); err != nil {
		return nil, "", err
	}
	for i := range list.Items {
		found = append(found, list.Items[i].Metadata)
	}
	return found, list.Metadata.Continue, nil
}

func listPath(r object.Resource, ns string) string {
	p := path.Join("/apis", r.Group, r.Version)
	if r.Group == "" {
		p = path.Join("/api", r.Version)
	}
	if ns != "" {
		p = path.Join(p, "namespaces", ns)
	}
	return path.Join(p, r.Plural)
}
