package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// patience is how long a shell waits for names.
const patience = 2 * time.Second

// completeRoots offers types, and behind a slash (or a type) names. It says
// nothing when it knows nothing: an error would end up in the line.
func (c *common) completeRoots(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	ctx, cancel := c.patient(cmd.Context())
	defer cancel()
	quiet := *c
	quiet.env.ErrOut = discard{}
	s, err := quiet.open(ctx)
	if err != nil {
		return nil, none
	}
	typ, _, slash := strings.Cut(typed, "/")
	switch {
	case slash:
		names := s.names(ctx, typ)
		for i := range names {
			names[i] = typ + "/" + names[i]
		}
		return names, none
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		return s.names(ctx, args[0]), none
	}
	return append(types(s.kinds), graph.BySystem), none | cobra.ShellCompDirectiveNoSpace
}

// types are the names of kinds as they are typed.
func types(kinds *object.Kinds) []string {
	var out []string
	for _, k := range kinds.All() {
		if k.Listable && k.Singular != "" {
			out = append(out, k.Singular)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// names lists the objects of a type in the namespace.
func (s *session) names(ctx context.Context, typ string) []string {
	k, err := s.kinds.Find(typ)
	list := &nameList{kind: k, namespace: s.namespace}
	if typ == graph.BySystem && err != nil {
		list.kind, err = s.kinds.Find("configmaps")
		list.systems = true
	}
	if err != nil {
		return nil
	}
	k = list.kind
	if cluster, ok := s.source.(*source.Cluster); ok {
		cluster.List(ctx, k, s.namespace, list)
	} else if err := s.source.Read(ctx, source.Ask{All: true}, list); err != nil {
		return nil
	}
	slices.Sort(list.names)
	return slices.Compact(list.names)
}

// nameList is a sink that keeps the names of one kind.
type nameList struct {
	early
	kind      object.Resource
	namespace string
	// systems says that the Systems are meant that objects of the kind keep.
	systems bool
	names   []string
}

func (l *nameList) Add(o object.Object) {
	if o.GroupKind() == l.kind.GroupKind() && (l.namespace == "" || o.Namespace == "" || o.Namespace == l.namespace) {
		if l.systems {
			if system.IsParent(o.Ref, o.Meta.GetLabels()) {
				l.names = append(l.names, o.Meta.GetLabels()[system.Label])
			}
			return
		}
		if safe(o.Name) == o.Name { // else it would work on the line that is typed
			l.names = append(l.names, o.Name)
		}
	}
}

func (c *common) completeKinds(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := c.patient(cmd.Context())
	defer cancel()
	quiet := *c
	quiet.env.ErrOut = discard{}
	s, err := quiet.open(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return types(s.kinds), cobra.ShellCompDirectiveNoFileComp
}

// completeOneKind offers types for the only argument.
func (c *common) completeOneKind(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.completeKinds(cmd, args, typed)
}

func (c *common) completeNamespaces(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return c.completeNames(cmd, "namespaces")
}

func (c *common) completeNodes(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return c.completeNames(cmd, "nodes")
}

// completeNames offers the names of a type that is in no namespace.
func (c *common) completeNames(cmd *cobra.Command, typ string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := c.patient(cmd.Context())
	defer cancel()
	quiet := *c
	quiet.env.ErrOut = discard{}
	quiet.allNamespaces = true
	s, err := quiet.open(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return s.names(ctx, typ), cobra.ShellCompDirectiveNoFileComp
}

// patient is a context for an answer that somebody waits for with a key down: a
// cluster may take so long. A snapshot takes what it takes.
func (c *common) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.from != "" {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, patience)
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
