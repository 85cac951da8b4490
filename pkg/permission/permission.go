// Package permission describes what a program needs to be allowed to do in a cluster: it asks the
// API server which permissions are missing (Review), and writes permissions as roles (Role).
package permission

import (
	"cmp"
	"maps"
	"slices"
)

// Permission is one verb on one resource of an API server.
type Permission struct {
	Verb, Group, Resource, Subresource string
	// Namespace is empty for cluster-scoped objects, Name for create and for unknown names.
	Namespace, Name string
	// Optional permissions are those that a run works without: Events.
	Optional bool
}

// String describes the permission for people: patch deployments.apps/scale web in shop.
func (p Permission) String() string {
	text := p.Verb + " " + p.resource()
	if p.Name != "" {
		text += " " + p.Name
	}
	if p.Namespace != "" {
		text += " in " + p.Namespace
	}
	return text
}

// resource is written as kubectl create role takes it: deployments.apps/scale.
func (p Permission) resource() string {
	text := p.Resource
	if p.Group != "" {
		text += "." + p.Group
	}
	if p.Subresource != "" {
		text += "/" + p.Subresource
	}
	return text
}

// Compare orders permissions by namespace, resource, name and verb; optional ones come last.
func Compare(a, b Permission) int {
	optional := func(p Permission) int {
		if p.Optional {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource),
		cmp.Compare(a.Subresource, b.Subresource), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Verb, b.Verb), cmp.Compare(optional(a), optional(b)))
}

// Set collects permissions, each once.
type Set map[Permission]bool

// Add adds the verbs on the resource of a permission.
func (s Set) Add(p Permission, verbs ...string) {
	for _, v := range verbs {
		p.Verb = v
		s[p] = true
	}
}

// AddAll adds permissions.
func (s Set) AddAll(all ...Permission) {
	for _, p := range all {
		s[p] = true
	}
}

// List returns the permissions in the order of Compare.
func (s Set) List() []Permission { return slices.SortedFunc(maps.Keys(s), Compare) }

// Event is the optional permission to record events about objects of a namespace; those of
// cluster-scoped objects, without one, are recorded in default.
func Event(namespace string) Permission {
	return Permission{Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: cmp.Or(namespace, "default"), Optional: true}
}
