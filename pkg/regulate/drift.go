package regulate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Drift is a field of a held target that differs from the value the hold wrote.
type Drift struct {
	App, Signal string
	Hold        int
	Target      Target
	// Change has the value that the hold wrote, and the one before.
	Change patch.Change
	// Has reports whether the field exists now, and Is is its value.
	Has bool
	Is  any
	// By is the field manager that owns it now, and At its latest write, by managedFields. By is
	// empty if the field has no owner, such as a deleted one.
	By string
	At time.Time
	// Unread is why the target could not be read; the other fields are empty then.
	Unread string
}

// Drifts reads the targets that are held, and returns the fields that were changed since by
// others. A target that is gone has no drift: there is nothing to restore. It only reads.
func Drifts(ctx context.Context, client Client, j *Journal) []Drift {
	r := &Runner{Client: client}
	type look struct {
		hold *Hold
		op   *Operation
	}
	if j.Trust() != journal.Verified {
		return nil // An unsigned journal may name any target.
	}
	var looks []look
	for _, h := range j.Holds {
		for _, o := range h.Operations {
			if h.Phase != Recovering && o.State == Done && !o.OnRecover && o.writesFields() && o.Target.UID != "" {
				looks = append(looks, look{h, o})
			}
		}
	}
	found := make([][]Drift, len(looks))
	slots := make(chan struct{}, defaultParallel)
	var all sync.WaitGroup
	for i, l := range looks {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			found[i] = r.drifts(ctx, l.hold, l.op, j)
		})
	}
	all.Wait()
	return slices.Concat(found...)
}

func (r *Runner) drifts(ctx context.Context, h *Hold, o *Operation, j *Journal) []Drift {
	base := Drift{App: h.App, Signal: h.Signal, Hold: h.ID, Target: o.Target}
	img, err := r.read(ctx, o.Target)
	switch {
	case apierrors.IsNotFound(err), err == nil && string(img.main.GetUID()) != o.Target.UID:
		return nil
	case err != nil:
		base.Unread = err.Error()
		return []Drift{base}
	}
	var out []Drift
	for i := range o.Changes {
		c := &o.Changes[i]
		if now, _ := c.Compare(img.fields()); now || c.Kept || j.overwritten(o, c.Path) {
			continue
		}
		d := base
		d.Change = *c
		if at, ok := c.Resolve(img.fields()); ok {
			d.Is, d.Has = patch.Lookup(img.fields(), at)
		}
		d.By, d.At = whoChanged(img.main, o, c)
		out = append(out, d)
	}
	return out
}

// overwritten reports that a later operation of an open hold wrote the same field.
func (j *Journal) overwritten(o *Operation, path string) bool {
	for _, h := range j.Holds {
		for _, other := range h.Operations {
			if other != o && other.sameTarget(o) && other.Order > o.Order && (other.State == Done || other.State == Started) &&
				slices.ContainsFunc(other.Changes, func(c patch.Change) bool { return c.Path == path }) {
				return true
			}
		}
	}
	return false
}

// whoChanged returns the manager that owns the field of a change, the latest writer of several.
// A deleted field has no owner: then it is the latest writer of the object after the hold.
func whoChanged(main *unstructured.Unstructured, o *Operation, c *patch.Change) (manager string, at time.Time) {
	way, found := c.Resolve(main.Object)
	if o.Target.Subresource == scaleSubresource {
		way, found = patch.Tokens(cmp.Or(o.Replicas, "/spec/replicas")), true
	}
	entries := entriesOf(main)
	for i := range entries {
		e := &entries[i]
		if !found || e.Manager == FieldManager || !ownsEnd(e.set, main.Object, way) || slices.ContainsFunc(o.Owners, e.unchanged) {
			continue
		}
		when := time.Time{}
		if e.Time != nil {
			when = e.Time.UTC()
		}
		if manager == "" || when.After(at) {
			manager, at = e.Manager, when
		}
	}
	return manager, at
}

// unchanged reports an entry of an owner from before the hold that has not written since.
func (e *entry) unchanged(was Owner) bool {
	return e.isOf(was) && (e.Time == nil || e.Time.UTC().Equal(was.Time))
}

// Text describes for people what was changed, by which manager and when.
func (d *Drift) Text() string {
	if d.Unread != "" {
		return fmt.Sprintf("%s could not be read: %s", d.Target, d.Unread)
	}
	client := "an unknown client"
	if d.By != "" {
		client = d.By
	}
	at := ""
	if !d.At.IsZero() {
		at = " at " + d.At.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("changed since by %s%s: %s %s, and %s holds it at %s", client, at,
		strings.Join(patch.Tokens(d.Change.Path), "."), valueOf(d.Has, d.Is), d.Signal, strings.TrimPrefix(valueOf(d.Change.ExistsAfter, d.Change.After), "is "))
}

func valueOf(has bool, v any) string {
	if !has {
		return "is not set"
	}
	return "is " + short(v)
}

// Choice is a way to handle a drift.
type Choice struct {
	What    string `json:"description"`
	Command string `json:"command"`
}

// Choices are the ways to handle a drift: leave it, restore the value before the hold, or write
// the held value again.
func (d *Drift) Choices(systemName string) []Choice {
	if d.Unread != "" {
		return nil
	}
	recover := fmt.Sprintf("kubectl sysop regulate recover %s %s", systemName, d.App)
	return []Choice{
		{"recover it and leave the change", recover},
		{"recover it and restore what was there before", recover + " --force"},
		{"hold it again", d.holdAgain()},
	}
}

// holdAgain is the kubectl command that writes the held value again.
func (d *Drift) holdAgain() string {
	namespace := ""
	if d.Target.Namespace != "" {
		namespace = " -n " + d.Target.Namespace
	}
	kind := d.Target.Resource
	if group, _, ok := strings.Cut(d.Target.APIVersion, "/"); ok {
		kind += "." + group
	}
	op := map[string]any{"op": "remove", "path": d.Change.Path}
	through := ""
	if d.Target.Subresource != "" {
		through = " --subresource=" + d.Target.Subresource
	}
	if d.Change.ExistsAfter {
		op["op"], op["value"] = "add", d.Change.After
	}
	body, err := json.Marshal([]any{op})
	if err != nil {
		return ""
	}
	return fmt.Sprintf("kubectl patch %s %s%s%s --type=json -p '%s'", kind, d.Target.Name, namespace, through, strings.ReplaceAll(string(body), "'", `'\''`))
}
