package source

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Redact takes out of an object's fields what a picture of a cluster must not
// carry on: managed fields, the copy that kubectl apply keeps, the data of
// Secrets and ConfigMaps, and the values of environment variables unless withEnv
// is set. It changes its argument.
func Redact(fields map[string]any, withEnv bool) {
	if meta, ok := fields["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
		if notes, ok := meta["annotations"].(map[string]any); ok {
			delete(notes, "kubectl.kubernetes.io/last-applied-configuration")
			if len(notes) == 0 {
				delete(meta, "annotations")
			}
		}
	}
	if fields["apiVersion"] == "v1" && (fields["kind"] == "Secret" || fields["kind"] == "ConfigMap") {
		for _, key := range []string{"data", "stringData", "binaryData"} {
			delete(fields, key)
		}
	}
	if !withEnv {
		dropEnv(fields)
	}
}

// dropEnv takes the values out of every list named env, at any depth: pod
// templates stand in custom resources and in ControllerRevisions as well.
func dropEnv(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			list, ok := below.([]any)
			if key == "env" && ok {
				for _, item := range list {
					if m, ok := item.(map[string]any); ok && m["name"] != nil {
						delete(m, "value")
					}
				}
			}
			dropEnv(below)
		}
	case []any:
		for _, below := range v {
			dropEnv(below)
		}
	}
}

// Keeper is a sink that keeps objects whole, for writing them down.
type Keeper struct {
	Sink
	// Keep says which objects to keep; nil keeps all.
	Keep func(object.Ref) bool

	lock    chan struct{}
	objects map[object.Ref]map[string]any
}

// NewKeeper returns a keeper that hands what it is told besides objects on to
// the sink.
func NewKeeper(s Sink, keep func(object.Ref) bool) *Keeper {
	return &Keeper{Sink: s, Keep: keep, lock: make(chan struct{}, 1), objects: map[object.Ref]map[string]any{}}
}

// Add keeps an object.
func (k *Keeper) Add(o object.Object) {
	if k.Keep != nil && !k.Keep(o.Ref) {
		return
	}
	fields := o.Fields()
	if fields == nil {
		var err error
		if fields, err = runtime.DefaultUnstructuredConverter.ToUnstructured(o.Body); err != nil {
			k.Gap(object.Gap{Resource: o.Ref.String(), Reason: "Unreadable", Message: err.Error()})
			return
		}
		fields["apiVersion"], fields["kind"] = o.GroupKind().WithVersion(o.Version).GroupVersion().String(), o.Kind
	}
	k.lock <- struct{}{}
	defer func() { <-k.lock }()
	k.objects[o.Ref] = fields
}

// Objects returns what was kept, CustomResourceDefinitions first, then in order.
func (k *Keeper) Objects() []map[string]any {
	refs := make([]object.Ref, 0, len(k.objects))
	for r := range k.objects {
		refs = append(refs, r)
	}
	slices.SortFunc(refs, func(a, b object.Ref) int {
		if x, y := a.GroupKind() == crdKind, b.GroupKind() == crdKind; x != y {
			if x {
				return -1
			}
			return 1
		}
		return object.Compare(a, b)
	})
	out := make([]map[string]any, 0, len(refs))
	for _, r := range refs {
		out = append(out, k.objects[r])
	}
	return out
}

// ErrExists says that a file is there and was not to be replaced.
var ErrExists = errors.New("the file exists")

// Write writes a snapshot to a file, whole or not at all: YAML, or a JSON
// document a line where the name ends in .json; gzipped where it ends in .gz.
func Write(name string, head Head, objects []map[string]any, force bool) (err error) {
	if _, err := os.Lstat(name); err == nil && !force {
		return fmt.Errorf("%s: %w", name, ErrExists)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The picture of a cluster is its owner's: CreateTemp makes it 0600.
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if err := WriteTo(f, filepath.Ext(strings.TrimSuffix(name, ".gz")) == ".json", strings.HasSuffix(name, ".gz"), head, objects); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if !force {
		// A link fails where the name has been taken meanwhile; a rename would not.
		if err := os.Link(f.Name(), name); err == nil {
			return os.Remove(f.Name())
		} else if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s: %w", name, ErrExists)
		}
	}
	return os.Rename(f.Name(), name)
}

// WriteTo writes a snapshot to a stream.
func WriteTo(w io.Writer, asJSON, zip bool, head Head, objects []map[string]any) error {
	out := bufio.NewWriter(w)
	var to io.Writer = out
	var gz *gzip.Writer
	if zip {
		gz = gzip.NewWriter(out)
		to = gz
	}
	head.APIVersion, head.Kind, head.Objects = APIVersion, HeadKind, len(objects)
	if err := writeDocument(to, head, asJSON); err != nil {
		return err
	}
	for _, o := range objects {
		if err := writeDocument(to, o, asJSON); err != nil {
			return err
		}
	}
	if gz != nil {
		if err := gz.Close(); err != nil {
			return err
		}
	}
	return out.Flush()
}

func writeDocument(w io.Writer, doc any, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(doc)
	}
	b, err := yaml.Marshal(doc)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, "---\n"); err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
