package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// listed is a kind of which everything can be listed.
type listed struct {
	schema.GroupVersionResource
	kind       string
	namespaced bool
}

func (l listed) GroupKind() schema.GroupKind { return schema.GroupKind{Group: l.Group, Kind: l.kind} }

// realm is what a deletion may touch: all in some namespaces, and what is cluster-scoped and
// has the name of one of them in its own, or is the volume of a claim or the address of a Service
// there.
type realm struct {
	t          *testing.T
	c          *cluster.Cluster
	namespaces []string // the first is there to the end
	resources  []listed
	client     metadata.Interface
}

// newRealm looks which resources there are: definitions come before.
func newRealm(t *testing.T, c *cluster.Cluster, namespaces ...string) *realm {
	t.Helper()
	r := &realm{t: t, c: c, namespaces: namespaces, client: metadata.NewForConfigOrDie(c.Config())}
	kinds := map[schema.GroupVersionResource]metav1.APIResource{}
	served, err := admin(c).Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range served {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range l.APIResources {
			kinds[gv.WithResource(k.Name)] = k
		}
	}
	for _, gvr := range resources(t, c) {
		if k, ok := kinds[gvr]; ok {
			r.resources = append(r.resources, listed{gvr, k.Kind, k.Namespaced})
		}
	}
	return r
}

// objects are those of the realm, by name (Kind[.group]/[namespace/]name).
func (r *realm) objects() (map[string]types.UID, error) {
	theirs, err := r.theirs()
	if err != nil {
		return nil, err
	}
	type list struct {
		of        listed
		namespace string
		items     []metav1.PartialObjectMetadata
	}
	var all []*list
	for _, k := range r.resources {
		if !k.namespaced {
			all = append(all, &list{of: k})
			continue
		}
		for _, ns := range r.namespaces {
			all = append(all, &list{of: k, namespace: ns})
		}
	}
	g, ctx := errgroup.WithContext(r.t.Context())
	g.SetLimit(4)
	for _, l := range all {
		g.Go(func() error {
			got, err := r.client.Resource(l.of.GroupVersionResource).Namespace(l.namespace).List(ctx, metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				return nil // Its definition has gone.
			}
			if err != nil {
				return fmt.Errorf("list %s: %w", l.of.Resource, err)
			}
			l.items = got.Items
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := map[string]types.UID{}
	for _, l := range all {
		for i := range l.items {
			if o := &l.items[i]; l.of.namespaced || theirs[o.UID] || r.names(o.Name) {
				out[l.of.id(o.Namespace, o.Name)] = o.UID
			}
		}
	}
	return out, nil
}

// now are the objects of the realm at this moment.
func (r *realm) now() map[string]types.UID {
	r.t.Helper()
	all, err := r.objects()
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func (l listed) id(namespace, name string) string {
	id := l.GroupKind().String() + "/"
	if namespace != "" {
		id += namespace + "/"
	}
	return id + name
}

// names says whether a name has that of a namespace of the realm in it.
func (r *realm) names(name string) bool {
	return slices.ContainsFunc(r.namespaces, func(ns string) bool { return strings.Contains(name, ns) })
}

// theirs are the volumes that claims of the realm have, or had, and the addresses of its
// Services.
func (r *realm) theirs() (map[types.UID]bool, error) {
	volumes, err := admin(r.c).CoreV1().PersistentVolumes().List(r.t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	addresses, err := admin(r.c).NetworkingV1().IPAddresses().List(r.t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	out := map[types.UID]bool{}
	for i := range volumes.Items {
		claim := volumes.Items[i].Spec.ClaimRef
		out[volumes.Items[i].UID] = claim != nil && slices.Contains(r.namespaces, claim.Namespace)
	}
	for i := range addresses.Items {
		parent := addresses.Items[i].Spec.ParentRef
		out[addresses.Items[i].UID] = parent != nil && slices.Contains(r.namespaces, parent.Namespace)
	}
	return out, nil
}

// find returns the first object that a pattern has.
func (r *realm) find(pattern string) string {
	r.t.Helper()
	for _, id := range slices.Sorted(maps.Keys(r.now())) {
		if matches(r.in(pattern), id) {
			return id
		}
	}
	r.t.Fatalf("no %s", pattern)
	return ""
}

// of returns where an object is, and its name.
func (r *realm) of(id string) (metadata.ResourceInterface, string) {
	r.t.Helper()
	parts := strings.Split(r.in(id), "/")
	i := slices.IndexFunc(r.resources, func(l listed) bool { return l.GroupKind().String() == parts[0] })
	if i < 0 {
		r.t.Fatalf("%s: no such kind", id)
	}
	at, name := r.client.Resource(r.resources[i].GroupVersionResource), parts[len(parts)-1]
	if len(parts) > 2 {
		return at.Namespace(parts[1]), name
	}
	return at, name
}

// in writes the first namespace into a text.
func (r *realm) in(text string) string { return strings.ReplaceAll(text, "NAMESPACE", r.namespaces[0]) }

// asks asks what the deletion of an object does, by what is in the first namespace and what
// reaches into it, or, with -A, by all there is; it is to be these lines, which are patterns.
func (r *realm) asks(id string, says []string, args ...string) impactDocument {
	r.t.Helper()
	id = r.in(id)
	if !slices.Contains(args, "-A") {
		args = append(args, "-n", r.namespaces[0])
	}
	d, said := foretell(r.t, r.c.Kubeconfig, append(args, id)...)
	if d.Object != id {
		r.t.Fatalf("impact of %s, want %s", d.Object, id)
	}
	if len(d.Gaps) > 0 || strings.Contains(said, "warning: ") || slices.Contains(args, "-A") && len(d.UnreadKinds) > 0 {
		r.t.Errorf("not all was looked at: %+v, %q\n%s", d.Gaps, d.UnreadKinds, said)
	}
	var patterns []string
	for _, s := range says {
		patterns = append(patterns, r.in(s))
	}
	if err := lists(d.differences(patterns)); err != nil {
		r.t.Errorf("the impact of %s:\n%v", id, err)
	}
	return d
}

// deletes deletes an object that was asked about, and sees that what goes is what was foretold,
// and what of the rest has one of these patterns.
func (r *realm) deletes(d impactDocument, besides ...string) {
	r.t.Helper()
	before := r.now()
	goes := slices.Clone(d.Deleted)
	for id := range before {
		if slices.ContainsFunc(besides, func(p string) bool { return matches(r.in(p), id) }) {
			goes = append(goes, id)
		}
	}
	r.delete(d.Object, "background")
	r.loses(before, append(goes, d.Object)...)
}

// delete deletes an object under a policy.
func (r *realm) delete(id, cascade string) {
	r.t.Helper()
	policy := map[string]metav1.DeletionPropagation{
		"background": metav1.DeletePropagationBackground, "foreground": metav1.DeletePropagationForeground, "orphan": metav1.DeletePropagationOrphan,
	}[cascade]
	at, name := r.of(id)
	if err := at.Delete(r.t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		r.t.Fatal(err)
	}
}

// loses waits until exactly these objects of before are gone, of which the last is the one that
// was deleted, and sees to it that it stays so when the garbage collector has come past them.
// An object that was made anew is another one.
func (r *realm) loses(before map[string]types.UID, ids ...string) {
	r.t.Helper()
	ids = slices.Clone(ids)
	for i, id := range ids {
		ids[i] = r.in(id)
	}
	compare := func() error {
		now, err := r.objects()
		if err != nil {
			return err
		}
		return gone(before, now, ids)
	}
	if len(ids) > 0 { // To look at everything is work for the server, and a namespace takes a while.
		last := ids[len(ids)-1]
		at, name := r.of(last)
		cluster.Eventually(r.t, limit, func() error {
			o, err := at.Get(r.t.Context(), name, metav1.GetOptions{})
			if err == nil && o.UID != before[last] {
				return nil
			}
			return absent(last, err)
		})
	}
	cluster.Eventually(r.t, limit, compare)
	r.collects()
	if err := compare(); err != nil {
		r.t.Error(err)
	}
}

// gone is an error unless of what was before just these are not there now.
func gone(before, now map[string]types.UID, ids []string) error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(before)) {
		switch is, want := now[id] != before[id], slices.Contains(ids, id); {
		case is && !want:
			errs = append(errs, fmt.Errorf("%s is gone, and was to stay", id))
		case !is && want:
			errs = append(errs, fmt.Errorf("%s is there, and was to go", id))
		}
	}
	for _, id := range ids {
		if before[id] == "" {
			errs = append(errs, fmt.Errorf("%s was to go, and was never there", id))
		}
	}
	return errors.Join(errs...)
}

// collects returns when the garbage collector has collected an object whose owner was deleted
// just now, and so has seen what was deleted before.
func (r *realm) collects() {
	r.t.Helper()
	maps := admin(r.c).CoreV1().ConfigMaps(r.namespaces[0])
	ctx := r.t.Context()
	owner, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "owner-"}}, metav1.CreateOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	owned, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "owned-", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
	}}}, metav1.CreateOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := maps.Delete(ctx, owner.Name, metav1.DeleteOptions{}); err != nil {
		r.t.Fatal(err)
	}
	cluster.Eventually(r.t, limit, func() error {
		_, err := maps.Get(ctx, owned.Name, metav1.GetOptions{})
		return absent(owned.Name, err)
	})
}

// absent is an error unless that of a get says that the object is not there.
func absent(name string, err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s is there", name)
}
