package systems

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Cluster reads and writes what a cluster knows of Systems: their parents, and the
// labels of their members. Of members nothing but the metadata is read.
type Cluster struct {
	*Adopted
	Config   *rest.Config
	Objects  dynamic.Interface
	metadata metadata.Interface
	Kinds    *object.Kinds
	dry      []string
	version  string // of this program
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// Connect connects, to write as well.
func Connect(ctx context.Context, in *app.Input) (*Cluster, error) {
	k, err := OpenAdopted(ctx, in)
	if err != nil {
		return nil, err
	}
	out := &Cluster{Adopted: k, version: in.Version}
	if out.Kinds, err = k.From.Kinds(ctx, &app.EarlyGaps{}); err != nil {
		return nil, err
	}
	config, err := in.Config.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // the server says when it is too much
	out.Config = config
	if out.Objects, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	out.metadata, err = metadata.NewForConfig(config)
	return out, err
}

// at is the endpoint of objects of a kind.
func (c *Cluster) at(r object.Resource, namespace string) metadata.ResourceInterface {
	resource := c.metadata.Resource(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural})
	if r.Namespaced {
		return resource.Namespace(namespace)
	}
	return resource
}

// RefOf finds the object that a root of a System means.
func (c *Cluster) RefOf(s *system.System, r system.Root) (object.Ref, error) {
	kind, err := c.Kinds.Find(r.Type)
	if err != nil {
		return object.Ref{}, err
	}
	ref := object.Ref{Group: kind.Group, Kind: kind.Kind, Name: r.Name}
	switch {
	case kind.Namespaced && r.Namespace != "":
		ref.Namespace = r.Namespace
	case kind.Namespaced:
		ref.Namespace = s.Namespace
	case r.Namespace != "":
		return ref, fmt.Errorf("%s are not namespaced: expected TYPE/NAME", kind)
	}
	return ref, nil
}

// Find reads an object's metadata.
func (c *Cluster) Find(ctx context.Context, ref object.Ref) (system.Member, error) {
	kind, ok := c.Kinds.Kind(ref.GroupKind())
	if !ok {
		return system.Member{}, fmt.Errorf("%s: the cluster does not serve that kind", ref)
	}
	o, err := c.at(kind, ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return system.Member{}, err
	}
	return foundOf(ref, o), nil
}

func foundOf(ref object.Ref, o *metav1.PartialObjectMetadata) system.Member {
	return system.Member{
		Ref: ref, Labels: o.Labels, UID: string(o.UID), ResourceVersion: o.ResourceVersion,
		Controlled: metav1.GetControllerOf(o) != nil,
	}
}

// Carriers lists the objects with the label of a set, in the kinds and namespaces of its parent. A
// kind that is no longer served has none.
func (c *Cluster) Carriers(ctx context.Context, set system.Set) ([]system.Member, error) {
	var out []system.Member
	for _, gk := range set.Kinds {
		kind, ok := c.Kinds.Kind(gk)
		if !ok {
			continue
		}
		namespaces := append([]string{set.Namespace}, set.Namespaces...)
		if !kind.Namespaced {
			namespaces = []string{""}
		}
		for _, ns := range namespaces {
			list, err := c.at(kind, ns).List(ctx, metav1.ListOptions{LabelSelector: system.MemberLabel + "=" + set.ID()})
			if err != nil {
				return nil, fmt.Errorf("list the members of the System %s among %s%s: %w", set.Name, kind, inNamespace(ns), err)
			}
			for i := range list.Items {
				o := &list.Items[i]
				out = append(out, foundOf(object.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.Namespace, Name: o.Name}, o))
			}
		}
	}
	return out, nil
}

// apply writes the parent. If it is there it must be as it was read.
func (c *Cluster) apply(ctx context.Context, set system.Set, before AdoptedParent) (*unstructured.Unstructured, error) {
	o := set.Parent(c.version)
	if before.version != "" {
		o.SetResourceVersion(before.version)
		o.SetUID(before.uid)
	}
	got, err := c.Objects.Resource(configMaps).Namespace(set.Namespace).Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: source.FieldManager, Force: true, DryRun: c.dry})
	if apierrors.IsConflict(err) {
		return nil, hint.With(fmt.Errorf("write %s: it was changed concurrently: %w", set.Ref(), err), "run it again to resume")
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", set.Ref(), err)
	}
	return got, nil
}

// triesOfMark is how often a label is tried on an object that others write.
const triesOfMark = 10

// mark sets the label of a set on an object without one, or removes that label. If the object has
// changed since it was read, mark reads it again.
func (c *Cluster) mark(ctx context.Context, f system.Member, id string, on bool) error {
	kind, _ := c.Kinds.Kind(f.Ref.GroupKind())
	for try := 1; ; try++ {
		body, needed, err := markOf(f, id, on)
		if err != nil || !needed {
			return err
		}
		_, err = c.at(kind, f.Ref.Namespace).Patch(ctx, f.Ref.Name, apitypes.MergePatchType, body, metav1.PatchOptions{FieldManager: source.FieldManager, DryRun: c.dry})
		switch {
		case err == nil, !on && apierrors.IsNotFound(err):
			return nil
		case !apierrors.IsConflict(err) || try == triesOfMark:
			return fmt.Errorf("label %s: %w", f.Ref, err)
		}
		again, err := c.Find(ctx, f.Ref)
		if !on && apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s again: %w", f.Ref, err)
		}
		f = again
	}
}

// markOf is the merge patch that makes an object a member, or none any more. Labels of which
// none is left go as a whole: an object is to be as it was before.
func markOf(f system.Member, id string, on bool) (body []byte, needed bool, err error) {
	var labels any
	switch resource := f.Labels[system.MemberLabel]; {
	case on && resource == id, !on && resource != id:
		return nil, false, nil
	case on && resource != "":
		return nil, false, fmt.Errorf("%s is now in another ApplySet (label %s=%s)", f.Ref, system.MemberLabel, resource)
	case on:
		labels = map[string]any{system.MemberLabel: id}
	case len(f.Labels) > 1:
		labels = map[string]any{system.MemberLabel: nil}
	}
	body, err = json.Marshal(map[string]any{"metadata": map[string]any{"uid": f.UID, "resourceVersion": f.ResourceVersion, "labels": labels}})
	return body, true, err
}

// atOnce is how many requests are under way at a time.
const atOnce = 8

// each calls f for all things, a few at a time, and returns the errors in their order. It waits for
// all calls.
func each[T any](things []T, f func(T) error) []error {
	errs := make([]error, len(things))
	var wg sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for i, thing := range things {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			errs[i] = f(thing)
		})
	}
	wg.Wait()
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

func inNamespace(ns string) string {
	if ns == "" {
		return ""
	}
	return " in " + ns
}
