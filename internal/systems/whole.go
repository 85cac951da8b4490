package systems

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// whole reads complete objects. It reports those that cannot be read, and leaves them out.
func (x *export) whole(ctx context.Context, refs []object.Ref) (map[object.Ref]*unstructured.Unstructured, error) {
	if x.session.Snapshot {
		return x.wholeOfSnapshot(ctx, refs)
	}
	reader, err := x.reader()
	if err != nil {
		return nil, err
	}
	out := map[object.Ref]*unstructured.Unstructured{}
	var mu sync.Mutex
	errs := each(refs, func(ref object.Ref) error {
		kind, ok := x.session.Kinds.Kind(ref.GroupKind())
		if !ok {
			return nil
		}
		o, err := reader.Get(ctx, kind, ref.Namespace, ref.Name)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			x.notice(ref, "left out: it could not be read: %v", err)
		default:
			out[ref] = o
		}
		return nil
	})
	slices.SortFunc(x.notices, func(a, b system.Notice) int { return cmp.Compare(a.Object, b.Object) })
	return out, errors.Join(errs...)
}

func (x *export) reader() (install.Reader, error) {
	config, err := x.Config.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // the server says when it is too much
	return install.NewReader(config)
}

// wholeOfSnapshot reads objects of a snapshot, which has ConfigMaps without their data.
func (x *export) wholeOfSnapshot(ctx context.Context, refs []object.Ref) (map[object.Ref]*unstructured.Unstructured, error) {
	snapshot, ok := x.session.Source.(*source.Snapshot)
	if !ok {
		return nil, errors.New("the source is neither a cluster nor a snapshot")
	}
	out := map[object.Ref]*unstructured.Unstructured{}
	sink := &exportSink{want: map[object.Ref]bool{}, each: func(ref object.Ref, fields map[string]any) { out[ref] = &unstructured.Unstructured{Object: fields} }}
	for _, ref := range refs {
		sink.want[ref] = ref.GroupKind() != app.ConfigMapKind
	}
	if err := snapshot.Whole().Read(ctx, source.Query{All: true}, sink); err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if o := out[ref]; o != nil && hasUnsetVariable(o.Object) {
			x.notice(ref, "a variable has no value in the snapshot, which was perhaps taken without them: export from the cluster, or fill it in")
		}
	}
	return out, nil
}

// exportSink hands on the objects that are wanted.
type exportSink struct {
	app.EarlyGaps
	mu   sync.Mutex
	want map[object.Ref]bool
	each func(object.Ref, map[string]any)
}

func (s *exportSink) Add(o object.Object) {
	if fields := o.Fields(); fields != nil && s.want[o.Ref] {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.each(o.Ref, fields)
	}
}

// hasUnsetVariable says whether a container has a variable with neither a value nor a source.
func hasUnsetVariable(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		env, _ := v["env"].([]any)
		for _, item := range env {
			fields, ok := item.(map[string]any)
			_, value := fields["value"]
			_, from := fields["valueFrom"]
			if ok && !value && !from {
				return true
			}
		}
		return slices.ContainsFunc(slices.Sorted(maps.Keys(v)), func(key string) bool { return hasUnsetVariable(v[key]) })
	case []any:
		return slices.ContainsFunc(v, hasUnsetVariable)
	}
	return false
}

// secrets makes inputs of the Secrets that users created. It takes the names of the keys, if they
// may be read, and no values.
func (x *export) secrets(ctx context.Context, p *parts, out *system.Exported) error {
	var reader install.Reader
	if !x.session.Snapshot && len(p.secrets) > 0 {
		var err error
		if reader, err = x.reader(); err != nil {
			return err
		}
	}
	for _, id := range p.secrets {
		ref := x.graph.Ref(id)
		in := system.Input{Secret: ref.Name, Namespace: ref.Namespace, Description: x.neededBy(id)}
		if reader == nil {
			out.Inputs = append(out.Inputs, in)
			continue
		}
		kind, _ := x.session.Kinds.Kind(secretKind)
		o, err := reader.Get(ctx, kind, ref.Namespace, ref.Name)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case apierrors.IsNotFound(err):
		case err != nil:
			x.notice(ref, "the names of its keys could not be read: those that other objects name are used")
		default:
			if !takeKeys(&in, o) {
				out.Made[ref.Namespace+"/"+ref.Name] = true
				continue
			}
		}
		out.Inputs = append(out.Inputs, in)
	}
	return nil
}

// takeKeys takes the names of the keys of a Secret, and its type; false where something has made
// the Secret, so that it is no input.
func takeKeys(in *system.Input, secret *unstructured.Unstructured) bool {
	name, _, _ := unstructured.NestedString(secret.Object, "type")
	if name == "kubernetes.io/service-account-token" || strings.HasPrefix(name, "helm.sh/release") || len(secret.GetOwnerReferences()) > 0 {
		return false
	}
	data, _ := secret.Object["data"].(map[string]any)
	in.Keys = slices.Sorted(maps.Keys(data))
	if name != "" && name != "Opaque" {
		in.Description = strings.TrimPrefix(in.Description+", of the type "+name, ", ")
	}
	return true
}

// neededBy says who reads a Secret.
func (x *export) neededBy(id graph.ID) string {
	var readers []string
	for e := range x.graph.In(id) {
		from := e.From
		if above := x.graph.OwnerPath(from, x.StackOptions()); len(above) > 0 {
			from = above[0]
		}
		readers = append(readers, x.graph.Ref(from).String())
	}
	if len(readers) == 0 {
		return ""
	}
	return "read by " + slices.Min(readers)
}

// runs names the operator of a kind: the one that our mark on its definition names, or the
// one that the catalogue knows; empty for none.
func (x *export) runs(ref object.Ref) string {
	kind, ok := x.session.Kinds.Kind(ref.GroupKind())
	if !ok {
		return ""
	}
	if name := x.packages[kind.Plural+"."+kind.Group]; name != "" {
		return name
	}
	name, _ := x.session.Catalogued(ref.GroupKind())
	return name
}

// readPackages notes which packages brought definitions, by the marks on these.
func (x *export) readPackages(ctx context.Context) error {
	definitions, err := x.session.Source.Definitions(ctx, &app.EarlyGaps{})
	if err != nil {
		return err
	}
	x.packages = map[string]string{}
	for _, d := range definitions {
		x.packages[d.GetName()] = d.GetLabels()[helm.PackageLabel]
	}
	return nil
}

// operatorOf names the one operator that runs the roots of an app; empty for none, or several.
func (x *export) operatorOf(roots []object.Ref) string {
	name := ""
	for _, ref := range roots {
		switch owner := x.runs(ref); {
		case owner != "" && name != "" && owner != name:
			return ""
		case owner != "":
			name = owner
		}
	}
	return name
}

// operators names those that the custom resources of the apps need.
func (x *export) operators(ctx context.Context, p *parts, out *system.Exported) error {
	names := map[string]bool{}
	unknown := map[string]object.Ref{}
	for i := range p.apps {
		for _, ref := range p.apps[i].objects {
			name := x.runs(ref)
			kind, served := x.session.Kinds.Kind(ref.GroupKind())
			switch {
			case name != "":
				names[name] = true
			case served && kind.Custom:
				unknown[ref.GroupKind().String()] = ref
			}
		}
		if op := out.Apps[i].Operator; op != "" {
			names[op] = true
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(unknown)) {
		x.notice(unknown[kind], "no entry of the catalog provides %s: its operator must exist before", kind)
	}
	var versions map[string]string
	if !x.session.Snapshot {
		var err error
		if versions, err = x.versions(ctx); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		o := system.Operator{Name: name}
		if v := versions[name]; v != "" {
			o.Version = ">=" + v
		}
		if e, ok := x.catalogue.Find(name); ok && len(e.Versions) == 0 {
			x.notices = append(x.notices, system.Notice{Message: "the catalog has no installable version of the operator " + name + ": add a version to your own catalog (docs/catalog.md)"})
		}
		out.Operators = append(out.Operators, o)
	}
	return nil
}
