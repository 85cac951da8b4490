package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// managedObject is the part of an object that shows who created it.
type managedObject struct {
	Metadata struct {
		Name          string               `json:"name"`
		Namespace     string               `json:"namespace"`
		ManagedFields []managedFieldsEntry `json:"managedFields"`
	} `json:"metadata"`
}

// managedFieldsEntry is the part of a managed fields entry that shows who created the object.
type managedFieldsEntry struct {
	Manager     string         `json:"manager"`
	Subresource string         `json:"subresource"`
	Time        time.Time      `json:"time"`
	FieldsV1    map[string]any `json:"fieldsV1"`
}

// creator returns who created an object, by its managed fields: the manager of the earliest entry
// for the object itself (status and scale have other writers). Of two within one second it returns
// the one that manages more fields, since the creator writes most of an object. It is empty if
// unknown.
func creator(managed []managedFieldsEntry) string {
	own := slices.DeleteFunc(managed, func(m managedFieldsEntry) bool {
		return m.Subresource != "" || m.Time.IsZero() || m.Manager == ""
	})
	if len(own) == 0 {
		return ""
	}
	return slices.MinFunc(own, func(a, b managedFieldsEntry) int {
		if c := a.Time.Compare(b.Time); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(fieldsIn(b.FieldsV1), fieldsIn(a.FieldsV1)), cmp.Compare(a.Manager, b.Manager))
	}).Manager
}

// fieldsIn counts the fields of a set, including nested ones.
func fieldsIn(set map[string]any) int {
	n := len(set)
	for _, child := range set {
		if m, ok := child.(map[string]any); ok {
			n += fieldsIn(m)
		}
	}
	return n
}

// Creators returns the field manager that created each object (kubectl-create, helm, the name of an
// operator), from its managed fields. Reads drop those, so they are requested again: by name, or in
// a list of the kind for many objects. An object that is not in the result is unknown, or could not
// be read. The error is for a failure of the whole request.
func (c *Cluster) Creators(ctx context.Context, refs []object.Ref) (map[object.Ref]string, error) {
	if c.Current() == nil {
		return nil, errors.New("find what creates objects: the kinds have not been read yet")
	}
	found := &creators{of: map[object.Ref]string{}}
	grouped := map[object.Ref][]object.Ref{} // by kind and namespace, without a name
	for _, r := range refs {
		if sendable(r.Name) && (r.Namespace == "" || sendable(r.Namespace)) {
			group := object.Ref{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace}
			grouped[group] = append(grouped[group], r)
		}
	}
	var jobs []job
	for group, refs := range grouped {
		r, ok := c.Current().Kind(group.GroupKind())
		if !ok || r.Namespaced != (group.Namespace != "") {
			continue
		}
		if len(refs) > many && r.Listable {
			jobs = append(jobs, func(ctx context.Context) error { return c.creatorsIn(ctx, r, group, refs, found) })
			continue
		}
		for _, ref := range refs {
			jobs = append(jobs, func(ctx context.Context) error { return c.creatorOf(ctx, r, ref, found) })
		}
	}
	err := c.run(ctx, jobs)
	return found.of, err
}

type creators struct {
	mu sync.Mutex
	of map[object.Ref]string
}

func (c *creators) add(ref object.Ref, o *managedObject) {
	if manager := creator(o.Metadata.ManagedFields); manager != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.of[ref] = manager
	}
}

// unknown ignores failures of single objects; only a lost connection is returned.
func unknown(ctx context.Context, err error) error {
	var gone *ConnectError
	if ctx.Err() == nil && errors.As(err, &gone) {
		return err
	}
	return nil
}

// metadataJSON requests metadata in JSON, since the protobuf decoder hides managed fields. An API
// without that form sends whole objects.
const metadataJSON = jsonType + asMetadata + "," + jsonType

func (c *Cluster) creatorOf(ctx context.Context, r object.Resource, ref object.Ref, found *creators) error {
	accept := metadataJSON
	if neverWhole(r.GroupKind()) {
		accept = jsonType + asMetadata
	}
	a, err := c.ask(ctx, pathOf(r, ref.Namespace, ref.Name), nil, accept)
	if err != nil {
		return unknown(ctx, err)
	}
	var o managedObject
	if a.isJSON() == nil && json.Unmarshal(a.body, &o) == nil {
		found.add(ref, &o)
	}
	return nil
}

// creatorsIn reads the pages of a list. Objects of an expired page are unknown.
func (c *Cluster) creatorsIn(ctx context.Context, r object.Resource, in object.Ref, refs []object.Ref, found *creators) error {
	wanted := make(map[object.Ref]bool, len(refs))
	for _, ref := range refs {
		wanted[ref] = true
	}
	accept := jsonType + asList
	if !neverWhole(r.GroupKind()) {
		accept += "," + jsonType
	}
	query := url.Values{"limit": {strconv.Itoa(c.opts.Page)}}
	for {
		a, err := c.ask(ctx, pathOf(r, in.Namespace, ""), query, accept)
		if err != nil {
			return unknown(ctx, err)
		}
		var list struct {
			Metadata metav1.ListMeta `json:"metadata"`
			Items    []managedObject `json:"items"`
		}
		if a.isJSON() != nil || json.Unmarshal(a.body, &list) != nil {
			return nil
		}
		for i := range list.Items {
			ref := in
			ref.Namespace, ref.Name = list.Items[i].Metadata.Namespace, list.Items[i].Metadata.Name
			if wanted[ref] {
				found.add(ref, &list.Items[i])
			}
		}
		next := list.Metadata.Continue
		if next == "" || next == query.Get("continue") {
			return nil
		}
		query.Set("continue", next)
	}
}

// Creators returns who created each object, as Cluster.Creators does: from the managed fields of a
// dump that has them (kubectl get --show-managed-fields), or from the header of our own snapshot.
func (s *Snapshot) Creators(_ context.Context, refs []object.Ref) (map[object.Ref]string, error) {
	wanted := make(map[object.Ref]bool, len(refs))
	for _, r := range refs {
		wanted[r] = true
	}
	out := map[object.Ref]string{}
	for _, e := range s.entries {
		if e.creator != "" && wanted[e.ref] {
			out[e.ref] = e.creator
		}
	}
	if s.head == nil {
		return out, nil
	}
	for _, m := range s.head.Creators {
		for _, id := range m.Objects {
			if ref, err := object.ParseRef(id); err == nil && wanted[ref] {
				out[ref] = m.Manager
			}
		}
	}
	return out, nil
}

// creatorIn removes the managed fields from an object's fields, often half of a dump, and returns
// who created it.
func creatorIn(fields map[string]any) string {
	meta, ok := fields["metadata"].(map[string]any)
	if !ok {
		return ""
	}
	list, _ := meta["managedFields"].([]any)
	delete(meta, "managedFields")
	managed := make([]managedFieldsEntry, 0, len(list))
	for _, item := range list {
		m, _ := item.(map[string]any)
		at, err := time.Parse(time.RFC3339, textOf(m, "time"))
		if err != nil {
			continue
		}
		set, _ := m["fieldsV1"].(map[string]any)
		managed = append(managed, managedFieldsEntry{Manager: textOf(m, "manager"), Subresource: textOf(m, "subresource"), Time: at, FieldsV1: set})
	}
	return creator(managed)
}
