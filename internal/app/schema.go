package app

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/infer"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// guesses returns the inferred rules of the custom kinds without declared rules. Where the cluster
// lists its definitions, kinds of an aggregated API get none.
func (s *Session) guesses(declared []relation.Rule, definitions []metav1.Object) []relation.Rule {
	if s.Input.NoInferred {
		return nil
	}
	crds := map[schema.GroupKind]metav1.Object{}
	for _, crd := range definitions {
		if r, ok := s.Kinds.Resource(schema.ParseGroupResource(crd.GetName())); ok {
			crds[r.GroupKind()] = crd
		}
	}
	covered, listed := map[schema.GroupKind]bool{}, !s.Snapshot && len(definitions) > 0
	for i := range declared {
		for _, gk := range declared[i].From {
			covered[gk] = true
		}
	}
	var from []schema.GroupKind
	for _, k := range s.Kinds.All() {
		if _, defined := crds[k.GroupKind()]; k.Custom && !source.LeftOut(k) && !covered[k.GroupKind()] && (defined || !listed) {
			from = append(from, k.GroupKind())
		}
	}
	if len(from) == 0 {
		return nil
	}
	s.schemas = &schemas{kinds: s.Kinds, infos: make(map[schema.GroupKind]*schemaInfo, len(from))}
	if cluster, ok := ClusterOf(s.Source); ok {
		s.schemas.cluster, s.schemas.dir = cluster, s.Input.schemaDir(cluster.Host())
	}
	for _, gk := range from {
		if crd := crds[gk]; crd != nil {
			s.schemas.infos[gk] = &schemaInfo{crd: crd}
		}
	}
	return infer.Rules(from, s.Kinds, s.schemas.digest)
}

// schemas reads the schemas of kinds. It reads that of a kind when the first object of the kind
// arrives, before that object is processed: most kinds of a cluster have no object in the
// namespaces of a question, and a definition may have a megabyte. The result is cached on disk
// until the definition changes.
type schemas struct {
	kinds   *object.Kinds
	cluster *source.Cluster // nil for a snapshot, which has the definitions whole
	dir     string          // of the cache; empty for none
	infos   map[schema.GroupKind]*schemaInfo
	refused atomic.Bool
}

// schemaInfo is the digest of the definition of a kind.
type schemaInfo struct {
	crd    metav1.Object
	once   sync.Once
	digest atomic.Pointer[infer.SchemaHints]
}

// digest returns the digest of a kind. It is an infer.Schemas.
func (s *schemas) digest(gk schema.GroupKind) *infer.SchemaHints {
	if l := s.infos[gk]; l != nil {
		return l.digest.Load()
	}
	return nil
}

// before returns a sink that reads the schema of an object's kind before it passes the object on.
func (s *schemas) before(ctx context.Context, sink source.Sink) source.Sink {
	if s == nil {
		return sink
	}
	return schemaSink{sink, s, ctx}
}

type schemaSink struct {
	source.Sink
	schemas *schemas
	ctx     context.Context // of the read that the sink is for
}

func (l schemaSink) Add(o object.Object) {
	l.prepare(o)
	l.Sink.Add(o)
}

// Unread passes on an earlier object, to a sink that supports it.
func (l schemaSink) Unread(o object.Object) {
	if sink, ok := l.Sink.(source.UnreadSink); ok {
		l.prepare(o)
		sink.Unread(o)
	}
}

// prepare reads the schema of an object before the object is processed.
func (l schemaSink) prepare(o object.Object) {
	if info := l.schemas.infos[o.GroupKind()]; info != nil {
		info.once.Do(func() { l.schemas.learn(l.ctx, info, o.GroupKind(), l.Sink) })
	}
}

func (s *schemas) learn(ctx context.Context, info *schemaInfo, gk schema.GroupKind, sink source.Sink) {
	kind, _ := s.kinds.Kind(gk)
	if whole, ok := info.crd.(*unstructured.Unstructured); ok {
		info.digest.Store(infer.Compile(whole.Object, kind.Version))
		return
	}
	if s.cluster == nil || s.refused.Load() {
		return
	}
	file, key := s.file(string(info.crd.GetUID())), cached{Inference: infer.Version, Generation: info.crd.GetGeneration(), Version: kind.Version}
	if c, ok := readCached(file); ok && c.Inference == key.Inference && c.Generation == key.Generation && c.Version == key.Version {
		info.digest.Store(c.Digest)
		return
	}
	crd, err := s.cluster.Definition(ctx, info.crd.GetName())
	switch {
	case ctx.Err() != nil || apierrors.IsNotFound(err):
	case err != nil:
		// The content of the objects still tells most. One gap is enough: it is the same for every
		// definition.
		reason, message := "Unavailable", "the schemas of custom resources could not be read"
		if apierrors.IsForbidden(err) {
			s.refused.Store(true)
			reason, message = "Forbidden", "the schemas of custom resources may not be read"
		}
		sink.Gap(object.Gap{Resource: definitionsResource, Reason: reason, Message: message + ": references of custom resources are inferred from their content alone"})
	default:
		u := unstructured.Unstructured{Object: crd}
		key.Generation, key.Digest = u.GetGeneration(), infer.Compile(crd, kind.Version)
		info.digest.Store(key.Digest)
		key.write(file)
	}
}

// cached is a file of the cache: a digest, and the definition that it was made from.
type cached struct {
	Inference  int                `json:"inference"`
	Generation int64              `json:"generation"`
	Version    string             `json:"version"`
	Digest     *infer.SchemaHints `json:"digest"`
}

// schemaDir is where the schemas of a cluster are cached: next to kubectl's own cache.
func (c *Input) schemaDir(host string) string {
	var dir string
	if Given(c.Config.CacheDir) {
		dir = filepath.Join(*c.Config.CacheDir, "kubectl-sysop")
	} else if user, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(user, "kubectl-sysop")
	} else {
		return ""
	}
	if _, after, ok := strings.Cut(host, "://"); ok {
		host = after
	}
	return filepath.Join(dir, "schemas", fileName(host))
}

// fileName makes a file name from any text.
func fileName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, text)
}

// file is the cache file of a definition; empty without a cache.
func (s *schemas) file(uid string) string {
	if s.dir == "" || uid == "" {
		return ""
	}
	return filepath.Join(s.dir, fileName(uid)+".json")
}

// readCached reads a file of the cache. An unreadable file counts as absent.
func readCached(file string) (cached, bool) {
	var c cached
	if file == "" {
		return c, false
	}
	text, err := os.ReadFile(file)
	return c, err == nil && json.Unmarshal(text, &c) == nil
}

// write stores a digest atomically. Errors are ignored: the cache is optional.
func (c cached) write(file string) {
	text, err := json.Marshal(c)
	if file == "" || err != nil || os.MkdirAll(filepath.Dir(file), 0o750) != nil {
		return
	}
	temp, err := os.CreateTemp(filepath.Dir(file), "schema-*")
	if err != nil {
		return
	}
	_, err = temp.Write(text)
	if closed := temp.Close(); err != nil || closed != nil || os.Rename(temp.Name(), file) != nil {
		_ = os.Remove(temp.Name()) // Nothing depends on it.
	}
}
