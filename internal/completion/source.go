package completion

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// Source is what names are completed from. Of a cluster it wants little: the discovery that kubectl
// and every command keep on disk, however old, and one list of metadata.
type Source struct {
	// namespace is that of the user; empty where all are meant.
	namespace string
	source    source.Source
	server    *server // nil for a snapshot
}

// Kinds that need no discovery.
var (
	namespaces = object.Resource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}
	nodes      = object.Resource{Version: "v1", Kind: "Node", Plural: "nodes"}
	pods       = object.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: true}
	configMaps = object.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
	secrets    = object.Resource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true}
)

// open connects, and sends nothing.
func open(ctx context.Context, in *app.Input) (*Source, error) {
	in.Completing = true
	switch in.From {
	case "":
		return openCluster(in)
	case "-":
		return nil, errors.New("standard input is the terminal of the user")
	}
	snap, err := in.OpenSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	w := &Source{source: snap.Reading(func(object.Resource) (source.Detail, string) { return source.Metadata, "" })}
	if app.Given(in.Config.Namespace) {
		w.namespace = *in.Config.Namespace
	}
	return w, nil
}

// forEver is how long what was discovered is good enough for completions. Commands ask again
// after six hours, and where they meet a kind that they do not know.
const forEver = 10 * 365 * 24 * time.Hour

func openCluster(in *app.Input) (*Source, error) {
	config, err := in.Config.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	namespace, _, err := in.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	if in.AllNamespaces {
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
	cache := *in.Config.CacheDir
	discovery, err := disk.NewCachedDiscoveryClientForConfig(config, discoveryFolder(cache, config.Host), filepath.Join(cache, "http"), forEver)
	if err != nil {
		return nil, err
	}
	cluster, err := source.NewCluster(source.ClusterOptions{Config: config, Discovery: discovery})
	return &Source{namespace: namespace, source: cluster, server: s}, err
}

// notInFolder are the characters of a host that kubectl does not put into a path.
var notInFolder = regexp.MustCompile(`[^(\w/.)]`)

// discoveryFolder is where kubectl and cli-runtime keep what a host serves.
func discoveryFolder(cache, host string) string {
	host = strings.Replace(strings.Replace(host, "https://", "", 1), "http://", "", 1)
	return filepath.Join(cache, "discovery", notInFolder.ReplaceAllString(host, "_"))
}

func (w *Source) kinds(ctx context.Context) (*object.Kinds, error) {
	return w.source.Kinds(ctx, &app.EarlyGaps{})
}

// entry is an object as far as it is completed.
type entry struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
}

func (w *Source) resource(ctx context.Context, typ string) (object.Resource, bool) {
	kinds, err := w.kinds(ctx)
	if err != nil {
		return object.Resource{}, false
	}
	r, err := kinds.Find(typ)
	return r, err == nil
}

// list returns the objects of a kind with the labels, in a namespace or, if it is empty, in all.
// Objects that cannot be read are left out.
func (w *Source) list(ctx context.Context, r object.Resource, ns, selector string) []entry {
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
	sink := &sink{kind: r, namespace: ns, selector: wanted}
	if err := w.source.Read(ctx, source.Query{All: true}, sink); err != nil {
		return nil
	}
	return sink.found
}

// sink keeps the objects of one kind.
type sink struct {
	app.EarlyGaps
	mu        sync.Mutex
	kind      object.Resource
	namespace string
	selector  labels.Selector
	found     []entry
}

func (k *sink) Add(o object.Object) {
	if o.GroupKind() != k.kind.GroupKind() || k.namespace != "" && o.Namespace != k.namespace || !k.selector.Matches(labels.Set(o.Meta.GetLabels())) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.found = append(k.found, entry{o.Name, o.Namespace, o.Meta.GetLabels()})
}
