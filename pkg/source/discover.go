package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// ConnectError says that the server did not answer at all.
type ConnectError struct {
	Host string
	Err  error
}

func (e *ConnectError) Error() string { return fmt.Sprintf("connect to %s: %v", e.Host, e.Err) }

func (e *ConnectError) Unwrap() error { return e.Err }

// Kinds asks discovery for what is served.
func (c *Cluster) Kinds(ctx context.Context, sink Sink) (*object.Kinds, error) {
	if err := c.discover(ctx, sink); err != nil {
		return nil, err
	}
	return c.kinds, nil
}

// Current returns the kinds as they are known now: Definitions may have found
// that a cached discovery was stale.
func (c *Cluster) Current() *object.Kinds { return c.kinds }

func (c *Cluster) discover(ctx context.Context, sink Sink) error {
	groups, lists, err := discovery.ServerGroupsAndResourcesWithContext(ctx, discovery.ToDiscoveryInterfaceWithContext(c.opts.Discovery))
	var partly *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &partly) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &ConnectError{Host: c.opts.Config.Host, Err: err}
	}
	c.served = map[schema.GroupKind][]string{}
	var all []object.Resource
	for _, g := range groups {
		all = append(all, resourcesOf(g, lists, c.served)...)
	}
	kinds := object.NewKinds(all)
	if partly != nil {
		for gv, err := range partly.Groups {
			kinds.Fail(gv.Group)
			sink.Gap(object.Gap{Resource: gv.String(), Reason: "Unavailable", Message: fmt.Sprintf("discover %s: %v", gv, err)})
		}
	}
	c.kinds = kinds
	return nil
}

// resourcesOf returns the resources of a group, each in the version that the
// server prefers, or else the first that has it, and notes every version.
func resourcesOf(g *metav1.APIGroup, lists []*metav1.APIResourceList, served map[schema.GroupKind][]string) []object.Resource {
	var out []object.Resource
	versions := []string{g.PreferredVersion.Version}
	for _, v := range g.Versions {
		if !slices.Contains(versions, v.Version) {
			versions = append(versions, v.Version)
		}
	}
	builtIn := scheme.Scheme.IsGroupRegistered(g.Name)
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
				Listable: slices.Contains(r.Verbs, "list"), Custom: !builtIn,
			})
		}
	}
	return out
}
