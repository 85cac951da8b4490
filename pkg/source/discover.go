package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ConnectError reports that the server is not reachable, or rejects the credentials.
type ConnectError struct {
	// Host is the address in the kubeconfig.
	Host string
	Err  error
}

func (e *ConnectError) Error() string {
	err := e.Err
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err // its text has the whole address
	}
	return fmt.Sprintf("connect to %s: %v", shownHost(e.Host), err)
}

// shownHost returns the address of a server for messages: without user and query.
func shownHost(address string) string {
	if !strings.ContainsAny(address, "@?#") {
		return address
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return "the server"
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return u.Host
	}
	return address
}

func (e *ConnectError) Unwrap() error { return e.Err }

// Kinds returns the served kinds from discovery or its cache.
func (c *Cluster) Kinds(ctx context.Context, sink Sink) (*object.Kinds, error) {
	if err := c.discover(ctx, sink); err != nil {
		return nil, err
	}
	return c.Current(), nil
}

// Current returns the current kinds: Definitions may have refreshed stale discovery.
func (c *Cluster) Current() *object.Kinds { return c.discovered().kinds }

// discovered is an immutable result of discovery.
type discovered struct {
	kinds    *object.Kinds
	versions map[schema.GroupKind][]string
}

// discovered returns the last result, or an empty one before the first.
func (c *Cluster) discovered() discovered {
	if d := c.found.Load(); d != nil {
		return *d
	}
	return discovered{}
}

// discover reads the groups and their resources. A group that does not answer (an aggregated API
// that is down) is a gap for each of its versions.
func (c *Cluster) discover(ctx context.Context, sink Sink) error {
	groups, lists, err := discovery.ServerGroupsAndResourcesWithContext(ctx, discovery.ToDiscoveryInterfaceWithContext(c.opts.Discovery))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var partly *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &partly) {
		return &ConnectError{Host: c.opts.Config.Host, Err: err}
	}
	served := map[schema.GroupKind][]string{}
	var all []object.Resource
	for _, g := range groups {
		all = append(all, resourcesOf(g, lists, served)...)
	}
	if len(all) == 0 {
		return &ConnectError{Host: c.opts.Config.Host, Err: cmp.Or(err, errNothingServed)}
	}
	kinds := object.NewKinds(all).Knowing(c.opts.Known...)
	for _, g := range groups {
		// For an aggregated API that is down the API server returns the group without versions.
		if len(g.Versions) == 0 && g.Name != "" {
			kinds.Fail(g.Name)
			sink.Gap(object.Gap{Resource: g.Name, Reason: "Unavailable", Message: "discover " + g.Name + ": the API that serves it does not answer"})
		}
	}
	if partly != nil {
		for _, gv := range slices.SortedFunc(maps.Keys(partly.Groups), func(a, b schema.GroupVersion) int { return cmp.Compare(a.String(), b.String()) }) {
			kinds.Fail(gv.Group)
			sink.Gap(object.Gap{Resource: gv.String(), Reason: "Unavailable", Message: "discover " + gv.String() + ": " + say(partly.Groups[gv])})
		}
	}
	c.found.Store(&discovered{kinds: kinds, versions: served})
	return nil
}

var errNothingServed = errors.New("it serves no resources")

// Definitions lists the metadata of the CustomResourceDefinitions. If cached discovery lacks the
// kind of one, discovery is repeated, and Current returns the new kinds. A failed list is a gap,
// and an error if nothing else could be read either.
func (c *Cluster) Definitions(ctx context.Context, sink Sink) ([]metav1.Object, error) {
	if c.Current() == nil {
		if err := c.discover(ctx, sink); err != nil {
			return nil, err
		}
	}
	crds := crdResource
	found := &collector{Sink: sink}
	err := c.list(ctx, crds, "", Metadata, found)
	if err := c.settleDefinitions(ctx, err, sink); err != nil {
		return nil, err
	}
	out := found.objects
	slices.SortFunc(out, compareNames)
	if c.stale(out, err) && !c.opts.Discovery.Fresh() {
		c.opts.Discovery.Invalidate()
		if err := c.discover(ctx, sink); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// settleDefinitions reports the result of the list of definitions, with an error if nothing else
// could be read either.
func (c *Cluster) settleDefinitions(ctx context.Context, err error, sink Sink) error {
	var gone *ConnectError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &gone):
		return err
	case apierrors.IsUnauthorized(err):
		return &ConnectError{Host: c.opts.Config.Host, Err: err}
	case err != nil && !apierrors.IsNotFound(err):
		sink.Gap(gap(crdResource, "", err))
	}
	return nil
}

// stale reports whether discovery lacks kinds. If the list of definitions is forbidden, a cache may
// be hours old and is treated as stale.
func (c *Cluster) stale(definitions []metav1.Object, err error) bool {
	return err != nil || slices.ContainsFunc(definitions, func(crd metav1.Object) bool { return !c.knows(crd.GetName()) })
}

// knows reports whether discovery has the resource that a CRD is named after.
func (c *Cluster) knows(crd string) bool {
	_, ok := c.Current().Resource(schema.ParseGroupResource(crd))
	return ok
}

// collector is a sink that stores the metadata of one list.
type collector struct {
	Sink
	objects []metav1.Object
}

func (c *collector) Add(o object.Object) { c.objects = append(c.objects, o.Meta) }

func (c *collector) Reset(schema.GroupKind, string) { c.objects = nil }

func compareNames(a, b metav1.Object) int { return cmp.Compare(a.GetName(), b.GetName()) }

// resourcesOf returns the resources of a group, each in the version that the server prefers, or
// else the first that has it, and records every version.
func resourcesOf(g *metav1.APIGroup, lists []*metav1.APIResourceList, served map[schema.GroupKind][]string) []object.Resource {
	var out []object.Resource
	versions := []string{g.PreferredVersion.Version}
	for _, v := range g.Versions {
		if !slices.Contains(versions, v.Version) {
			versions = append(versions, v.Version)
		}
	}
	for _, version := range versions {
		gv := schema.GroupVersion{Group: g.Name, Version: version}
		i := slices.IndexFunc(lists, func(l *metav1.APIResourceList) bool { return l.GroupVersion == gv.String() })
		if i < 0 {
			continue
		}
		for _, r := range lists[i].APIResources {
			if strings.Contains(r.Name, "/") {
				continue
			}
			gk := schema.GroupKind{Group: g.Name, Kind: r.Kind}
			served[gk] = append(served[gk], version)
			out = append(out, object.Resource{
				Group: g.Name, Version: version, Kind: r.Kind, Plural: r.Name, Singular: r.SingularName,
				ShortNames: r.ShortNames, Categories: r.Categories, Namespaced: r.Namespaced,
				Listable: slices.Contains(r.Verbs, "list"), Custom: !builtInGroup(g.Name),
				Scalable: slices.ContainsFunc(lists[i].APIResources, func(sub metav1.APIResource) bool { return sub.Name == r.Name+"/scale" }),
			})
		}
	}
	return out
}
