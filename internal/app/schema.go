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

// guesses returns the rules for the custom kinds of which no rule is declared. On a
// cluster that says which kinds have a definition, those of an aggregated API are
// left alone.
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
	said, told := map[schema.GroupKind]bool{}, !s.Snapshot && len(definitions) > 0
	for i := range declared {
		for _, gk := range declared[i].From {
			said[gk] = true
		}
	}
	var from []schema.GroupKind
	for _, k := range s.Kinds.All() {
		if _, defined := crds[k.GroupKind()]; k.Custom && !source.LeftOut(k) && !said[k.GroupKind()] && (defined || !told) {
			from = append(from, k.GroupKind())
		}
	}
	if len(from) == 0 {
		return nil
	}
	s.Schemas = &Schemas{Kinds: s.Kinds, Of: make(map[schema.GroupKind]*SchemaInfo, len(from))}
	if cluster, ok := ClusterOf(s.Source); ok {
		s.Schemas.Cluster, s.Schemas.Dir = cluster, s.Input.schemaDir(cluster.Host())
	}
	for _, gk := range from {
		if crd := crds[gk]; crd != nil {
			s.Schemas.Of[gk] = &SchemaInfo{Crd: crd}
		}
	}
	return infer.Rules(from, s.Kinds, s.Schemas.Digest)
}

// Schemas learns what the schemas of kinds say. That of a kind is learned when the
// first object of it passes, and before that is looked at: most kinds of a cluster
// have no object in the namespaces that a question is about, and a definition may
// have a megabyte. What was learned is kept on disk until the definition changes.
type Schemas struct {
	Kinds   *object.Kinds
	Cluster *source.Cluster // nil for a snapshot, which has the definitions whole
	Dir     string          // of the cache; empty for none
	Of      map[schema.GroupKind]*SchemaInfo
	refused atomic.Bool
}

// SchemaInfo is what the definition of a kind says.
type SchemaInfo struct {
	Crd    metav1.Object
	once   sync.Once
	digest atomic.Pointer[infer.SchemaHints]
}

// Digest returns what was learned of a kind. It is an infer.Schemas.
func (s *Schemas) Digest(gk schema.GroupKind) *infer.SchemaHints {
	if l := s.Of[gk]; l != nil {
		return l.digest.Load()
	}
	return nil
}

// Before returns a sink that learns the schema of an object's kind before it hands
// the object on.
func (s *Schemas) Before(ctx context.Context, sink source.Sink) source.Sink {
	if s == nil {
		return sink
	}
	return schemaSink{sink, s, ctx}
}

type schemaSink struct {
	source.Sink
	schemas *Schemas
	ctx     context.Context // of the reading that the sink is for
}

func (l schemaSink) Add(o object.Object) {
	l.prepare(o)
	l.Sink.Add(o)
}

// Unread hands on what was read before, to a sink that takes it.
func (l schemaSink) Unread(o object.Object) {
	if sink, ok := l.Sink.(source.UnreadSink); ok {
		l.prepare(o)
		sink.Unread(o)
	}
}

// prepare learns the schema of an object before the object is looked at.
func (l schemaSink) prepare(o object.Object) {
	if of := l.schemas.Of[o.GroupKind()]; of != nil {
		of.once.Do(func() { l.schemas.learn(l.ctx, of, o.GroupKind(), l.Sink) })
	}
}

func (s *Schemas) learn(ctx context.Context, of *SchemaInfo, gk schema.GroupKind, sink source.Sink) {
	kind, _ := s.Kinds.Kind(gk)
	if whole, ok := of.Crd.(*unstructured.Unstructured); ok {
		of.digest.Store(infer.Compile(whole.Object, kind.Version))
		return
	}
	if s.Cluster == nil || s.refused.Load() {
		return
	}
	file, key := s.file(string(of.Crd.GetUID())), cached{Inference: infer.Version, Generation: of.Crd.GetGeneration(), Version: kind.Version}
	if c, ok := readCached(file); ok && c.Inference == key.Inference && c.Generation == key.Generation && c.Version == key.Version {
		of.digest.Store(c.Digest)
		return
	}
	crd, err := s.Cluster.Definition(ctx, of.Crd.GetName())
	switch {
	case ctx.Err() != nil || apierrors.IsNotFound(err):
	case err != nil:
		// The content of the objects still tells most. One gap is enough, the same
		// whichever definition was asked for first.
		reason, message := "Unavailable", "the schemas of custom resources could not be read"
		if apierrors.IsForbidden(err) {
			s.refused.Store(true)
			reason, message = "Forbidden", "the schemas of custom resources may not be read"
		}
		sink.Gap(object.Gap{Resource: definitionsResource, Reason: reason, Message: message + ": references of custom resources are inferred from their content alone"})
	default:
		u := unstructured.Unstructured{Object: crd}
		key.Generation, key.Digest = u.GetGeneration(), infer.Compile(crd, kind.Version)
		of.digest.Store(key.Digest)
		key.write(file)
	}
}

// cached is a file of the cache: what was learned, and of what.
type cached struct {
	Inference  int                `json:"inference"`
	Generation int64              `json:"generation"`
	Version    string             `json:"version"`
	Digest     *infer.SchemaHints `json:"digest"`
}

// schemaDir is where the schemas of a cluster are cached: beside what kubectl
// keeps of it.
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
	return filepath.Join(dir, "schemas", FileName(host))
}

// FileName makes a name for a file of any text.
func FileName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, text)
}

// file is that of a definition; empty where there is no cache.
func (s *Schemas) file(uid string) string {
	if s.Dir == "" || uid == "" {
		return ""
	}
	return filepath.Join(s.Dir, FileName(uid)+".json")
}

// readCached reads a file of the cache. What cannot be read is not in it.
func readCached(file string) (cached, bool) {
	var c cached
	if file == "" {
		return c, false
	}
	text, err := os.ReadFile(file)
	return c, err == nil && json.Unmarshal(text, &c) == nil
}

// write puts it into the cache, whole or not at all. A cache that cannot be
// written is none.
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
