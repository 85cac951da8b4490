package completion

import (
	"context"
	"maps"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

func names(all []entry) []string {
	out := make([]string, 0, len(all))
	for i := range all {
		out = append(out, all[i].Name)
	}
	return out
}

// Named are the names of a type, or of the groups that go by a name, in the namespace.
func (w *Source) Named(ctx context.Context, typ string) []string {
	switch typ {
	case graph.BySystem:
		return w.systems(ctx)
	case graph.ByHelm:
		return values(w.list(ctx, secrets, w.namespace, "owner=helm,status=deployed"), "name")
	case graph.ByApp:
		return values(w.list(ctx, pods, w.namespace, graph.InstanceLabel), graph.InstanceLabel)
	}
	r, ok := w.resource(ctx, typ)
	if !ok {
		return nil
	}
	return names(w.list(ctx, r, w.namespace, ""))
}

// systems are the Systems that were adopted.
func (w *Source) systems(ctx context.Context) []string {
	var out []string
	for _, o := range w.list(ctx, configMaps, w.namespace, system.Label+","+system.IDLabel) {
		if system.IsParent(object.Ref{Kind: configMaps.Kind, Namespace: o.Namespace, Name: o.Name}, o.Labels) {
			out = append(out, o.Labels[system.Label])
		}
	}
	return out
}

// values are those that a label has.
func values(all []entry, label string) []string {
	var out []string
	for i := range all {
		if v := all[i].Labels[label]; v != "" {
			out = append(out, v)
		}
	}
	return out
}

// Types are the names of kinds as they are typed.
func (w *Source) Types(ctx context.Context) []string {
	kinds, err := w.kinds(ctx)
	if err != nil {
		return nil
	}
	return types(kinds)
}

// types are the names of kinds as they are typed: the singular, and where a kind that is
// preferred has that, the plural with the group.
func types(kinds *object.Kinds) []string {
	var out []string
	seen := map[string]bool{}
	for _, k := range kinds.All() {
		switch {
		case !k.Listable || k.Singular == "":
		case seen[k.Singular]:
			out = append(out, k.String())
		default:
			seen[k.Singular] = true
			out = append(out, k.Singular)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Namespaces are the names of the namespaces.
func (w *Source) Namespaces(ctx context.Context) []string {
	return names(w.list(ctx, namespaces, "", ""))
}

// Nodes are the names of the nodes.
func (w *Source) Nodes(ctx context.Context) []string { return names(w.list(ctx, nodes, "", "")) }

// LabelKeys are the labels of the objects of a type (of the pods, for none), each with an end.
func (w *Source) LabelKeys(ctx context.Context, typ, end string) []string {
	keys := map[string]bool{}
	for _, o := range w.listed(ctx, typ) {
		for k := range o.Labels {
			keys[k+end] = true
		}
	}
	return slices.Collect(maps.Keys(keys))
}

// LabelValues are the values of a label of the objects of a type (of the pods, for none).
func (w *Source) LabelValues(ctx context.Context, typ, key string) []string {
	return values(w.listed(ctx, typ), key)
}

// listed are the objects of a type, or the pods.
func (w *Source) listed(ctx context.Context, typ string) []entry {
	switch typ {
	case "":
		return w.list(ctx, pods, w.namespace, "")
	case namespaces.Plural: // needs no discovery
		return w.list(ctx, namespaces, "", "")
	}
	r, ok := w.resource(ctx, typ)
	if !ok {
		return nil
	}
	return w.list(ctx, r, w.namespace, "")
}

// Installed are those that have a journal, and the packages that came with them, of which
// the records of releases tell: everywhere, or where that may not be asked, in the namespace.
func (w *Source) Installed(ctx context.Context) []string {
	list := func(r object.Resource, label string) []entry {
		all := w.list(ctx, r, "", label)
		if len(all) == 0 && w.namespace != "" {
			all = w.list(ctx, r, w.namespace, label)
		}
		return all
	}
	var out []string
	for _, o := range list(configMaps, install.InstallLabel) {
		if name := o.Labels[install.InstallLabel]; object.MayBeName(name) && o.Name == install.JournalName(name) {
			out = append(out, name)
		}
	}
	for _, o := range list(secrets, helm.PackageLabel+",owner=helm,status=deployed") {
		if name := o.Labels[helm.PackageLabel]; object.MayBeName(name) {
			out = append(out, name)
		}
	}
	return out
}
