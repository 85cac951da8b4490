package source

import (
	"context"
	"iter"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// many is the limit of objects of one kind that are read one by one; more are found in a list.
const many = 32

// gets returns a job for each object, or for a list of its kind if there are many.
func (c *Cluster) gets(refs []object.Ref, sink Sink) []job {
	var jobs []job
	for g, refs := range c.groups(refs, sink) {
		if r := g.resource; len(refs) > many && r.Listable {
			jobs = append(jobs, func(ctx context.Context) error { return c.listOrGet(ctx, r, g.ns, refs, sink) })
			continue
		}
		for _, ref := range refs {
			jobs = append(jobs, func(ctx context.Context) error { return c.getInto(ctx, g.resource, ref, sink) })
		}
	}
	return jobs
}

// group is a kind in a namespace with requested objects.
type group struct {
	resource object.Resource
	ns       string
}

// groups groups references by kind and namespace. It drops names that no server accepts: anyone who
// may create an object can write a reference such as "../../secrets/x".
func (c *Cluster) groups(refs []object.Ref, sink Sink) iter.Seq2[group, []object.Ref] {
	type key struct {
		gk schema.GroupKind
		ns string
	}
	grouped := map[key][]object.Ref{}
	for _, r := range refs {
		if !sendable(r.Name) || r.Namespace != "" && !sendable(r.Namespace) {
			sink.Absent(r)
			continue
		}
		k := key{r.GroupKind(), r.Namespace}
		grouped[k] = append(grouped[k], r)
	}
	return func(yield func(group, []object.Ref) bool) {
		for k, refs := range grouped {
			r, ok := c.Current().Kind(k.gk)
			if ok && r.Namespaced == (k.ns != "") && !yield(group{r, k.ns}, refs) {
				return
			}
		}
	}
}

// listOrGet lists a kind for many of its objects. If the list is forbidden, it gets them by name.
func (c *Cluster) listOrGet(ctx context.Context, r object.Resource, ns string, refs []object.Ref, sink Sink) error {
	read, detail := c.detail(r, sink)
	err := c.list(ctx, read, ns, detail, sink)
	if !apierrors.IsForbidden(err) {
		return c.settle(ctx, read, ns, err, sink)
	}
	for _, ref := range refs {
		if err := c.getInto(ctx, r, ref, sink); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) getInto(ctx context.Context, r object.Resource, ref object.Ref, sink Sink) error {
	r, detail := c.detail(r, sink)
	o, err := c.get(ctx, r, ref, detail)
	switch {
	case err == nil && ctx.Err() == nil:
		sink.Add(o)
		return nil
	case absent(err, ref.Name):
		sink.Absent(ref)
		return nil
	}
	return c.settle(ctx, r, ref.Namespace, err, sink)
}
