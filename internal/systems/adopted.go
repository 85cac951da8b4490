package systems

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Adopted reads the Systems that a cluster keeps: those that were adopted.
type Adopted struct {
	From      source.Source
	Server    *source.Cluster
	Namespace string // of the user; empty where all are meant
}

// OpenAdopted connects. A snapshot holds no data of ConfigMaps, and so no manifests.
func OpenAdopted(ctx context.Context, in *app.Input) (*Adopted, error) {
	if in.From != "" {
		return nil, hint.With(errors.New("--from: a snapshot is read-only, and holds no manifests of Systems"), "leave out --from; system init writes a manifest from a snapshot")
	}
	from, namespace, err := in.Source(ctx)
	if err != nil {
		return nil, err
	}
	cluster, _ := app.ClusterOf(from) // as it is no snapshot
	return &Adopted{From: from, Server: cluster, Namespace: namespace}, nil
}

// Parent reads the parent object of a System; false if there is none.
func (k *Adopted) Parent(ctx context.Context, namespace, name string) (*unstructured.Unstructured, bool, error) {
	ref := system.ParentRef(namespace, name)
	o := &unstructured.Unstructured{}
	text, err := k.Server.Get(ctx, configMapsPath(namespace)+"/"+url.PathEscape(ref.Name), nil)
	if err == nil {
		err = o.UnmarshalJSON(text)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read %s: %w", ref, err)
	}
	return o, true, nil
}

// List reads the sets of the Systems of a namespace; of all where it is empty.
func (k *Adopted) List(ctx context.Context, namespace string) ([]*unstructured.Unstructured, error) {
	var list struct {
		Items []map[string]any `json:"items"`
	}
	text, err := k.Server.Get(ctx, configMapsPath(namespace), url.Values{"labelSelector": {system.Label + "," + system.IDLabel}})
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("list the ConfigMaps that store Systems%s: %w", inNamespace(namespace), err)
	}
	var out []*unstructured.Unstructured
	for _, item := range list.Items {
		o := &unstructured.Unstructured{Object: item}
		o.SetAPIVersion("v1")
		o.SetKind("ConfigMap")
		if system.IsParent(object.Ref{Kind: "ConfigMap", Namespace: o.GetNamespace(), Name: o.GetName()}, o.GetLabels()) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int {
		return object.Compare(object.Ref{Namespace: a.GetNamespace(), Name: a.GetName()}, object.Ref{Namespace: b.GetNamespace(), Name: b.GetName()})
	})
	return out, nil
}

func configMapsPath(namespace string) string {
	if namespace == "" {
		return "/api/v1/configmaps"
	}
	return "/api/v1/namespaces/" + url.PathEscape(namespace) + "/configmaps"
}

// Names are those of the Systems of a namespace.
func (k *Adopted) Names(ctx context.Context, namespace string) ([]string, error) {
	all, err := k.List(ctx, namespace)
	var names []string
	for _, o := range all {
		names = append(names, o.GetLabels()[system.Label])
	}
	return names, err
}

// Named reads a System that was adopted: NAME of the user's namespace, NAMESPACE/NAME,
// or either behind system/.
func Named(ctx context.Context, in *app.Input, text string) (*system.System, error) {
	if in.From != "" {
		return nil, hint.With(fmt.Errorf("the System %q: a snapshot holds no manifests", text), "name the file of its manifest instead")
	}
	namespace, name, both := strings.Cut(strings.TrimPrefix(text, graph.BySystem+"/"), "/")
	if !both {
		namespace, name = "", namespace
	}
	if !object.MayBeName(name) || both && !object.MayBeName(namespace) {
		return nil, fmt.Errorf("%q is not a name of a System: expected NAME or NAMESPACE/NAME", text)
	}
	k, err := OpenAdopted(ctx, in)
	if err != nil {
		return nil, err
	}
	if namespace == "" {
		namespace = k.Namespace
	}
	if namespace == "" {
		return nil, hint.With(fmt.Errorf("the System %q: its namespace is unknown", name), "write NAMESPACE/"+name+", or name the namespace with -n")
	}
	o, found, err := k.Parent(ctx, namespace, name)
	switch {
	case err != nil && hint.For(err) != "":
		return nil, err
	case err != nil:
		return nil, hint.With(err, "without permission to read it, name the file of its manifest")
	case !found:
		return nil, k.noSuch(ctx, namespace, name)
	}
	return system.ParseParent(o)
}

// noSuch is the error for a System that was not adopted, with those that were.
func (k *Adopted) noSuch(ctx context.Context, namespace, name string) error {
	err := fmt.Errorf("no System %q was adopted in namespace %s", name, namespace)
	names, failed := k.Names(ctx, namespace)
	if failed != nil {
		return hint.With(err, "-n names another namespace")
	}
	if near := object.Nearest(name, names); len(near) > 0 {
		return fmt.Errorf("%w%s", err, object.DidYouMean(near))
	}
	return hint.With(err, "kubectl sysop system list -A shows those that were, in all namespaces")
}
