package app

import (
	"context"
	"errors"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/annotations"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// usage reads the text that the usage annotation of a definition names, or records why there is
// none, or why that is unknown. It returns only errors of the context or the connection.
func (c *CheckRun) usage(ctx context.Context, d *check.Definition, u annotations.Usage) error {
	if u.ConfigMap == "" {
		return nil
	}
	texts, ok := c.Session.Source.(manuals)
	if !ok {
		d.UsageUnread = "this source has no data of ConfigMaps"
		return nil
	}
	places := c.usagePlaces(d, u)
	if len(places) == 0 {
		d.UsageUnread = "cannot find the namespace of ConfigMap " + u.ConfigMap
		return nil
	}
	for _, ns := range places {
		text, err := texts.Manual(ctx, ns, u.ConfigMap, u.Key)
		reason, known := errors.AsType[*source.NoManualError](err)
		switch {
		case err == nil:
			d.Usage, d.UsageMissing, d.UsageUnread = text, "", ""
			return nil
		case !known:
			return err
		case reason.Unread || reason.Absent && c.Session.Snapshot && !c.world.Read(ConfigMapKind, ns):
			d.UsageUnread = reason.Message
		default:
			d.UsageMissing = reason.Message
		}
	}
	return nil
}

// usagePlaces are the namespaces in which the text may be: that of the annotation, else the
// user's, those of the operator, and those that have a ConfigMap of the name.
func (c *CheckRun) usagePlaces(d *check.Definition, u annotations.Usage) []string {
	if u.Namespace != "" {
		return []string{u.Namespace}
	}
	var places []string
	add := func(ns string) {
		if ns != "" && !slices.Contains(places, ns) {
			places = append(places, ns)
		}
	}
	add(c.Session.Namespace)
	if d.Operator != nil {
		for _, w := range d.Operator.Workloads {
			add(w.Ref.Namespace)
		}
	}
	for id := range c.Graph.OfKind(ConfigMapKind) {
		if ref := c.Graph.Ref(id); ref.Name == u.ConfigMap {
			add(ref.Namespace)
		}
	}
	return places
}
