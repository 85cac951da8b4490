package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

type regulateManifestsOptions struct {
	*regulateOptions
	image    string
	replicas int32
}

func newRegulateManifests(env Env) *cobra.Command {
	o := &regulateManifestsOptions{regulateOptions: newRegulating(env, "yaml", "json")}
	cmd := &cobra.Command{
		Use:   "manifests [SYSTEM]",
		Short: "Print the manifests that run regulate watch in the cluster, with minimal permissions",
		Long: `Print the manifests that run regulate watch in the cluster: a ServiceAccount, roles with
minimal permissions for exactly what the System can do, and a Deployment of the same
binary. Nothing is written.

The roles name every object that an action of an app affects, as the apps are now: print
them again after changes to the System or its objects. Secrets are never listed. Comments
say what cannot be narrowed.`,
		Example: `  # run the watch of the shop in the cluster
  kubectl sysop regulate manifests shop --image registry.example.com/kubectl-sysop:v1 | kubectl apply -f -`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.completeSystems,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := o.systemOf(args)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), name)
		},
	}
	o.naming(cmd)
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", o.formats[0], "output format: "+strings.Join(o.formats, ", "))
	f.StringVar(&o.image, "image", "", "the image with the binary kubectl-sysop as its entry point")
	f.Int32Var(&o.replicas, "replicas", 1, "number of replicas; one acts, the others stand by")
	must(cmd.MarkFlagRequired("image"))
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(o.formats, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func (o *regulateManifestsOptions) run(ctx context.Context, name string) error {
	switch err := o.validate(); {
	case err != nil:
		return err
	case o.image == "" || strings.ContainsAny(o.image, " \t\n"):
		return fmt.Errorf("--image %q: expected the name of an image", o.image)
	case o.replicas < 1:
		return fmt.Errorf("--replicas %d: expected at least 1", o.replicas)
	}
	b, err := o.begin(ctx, name)
	if err != nil {
		return err
	}
	if err := b.Observe(ctx); err != nil {
		return err
	}
	if b.Namespace == "" {
		return hint.With(errors.New("the namespace of the System is unknown"), "name it with -n")
	}
	b.Session.ReportGaps(b.Graph)
	reads, err := b.reads()
	if err != nil {
		return err
	}
	list := regulate.Manifests(regulate.WatchDeployment{
		System: b.System, World: b.State, Kinds: b.Session.Kinds, Namespace: b.Namespace,
		Reads: reads, Image: o.image, Version: buildVersion(), Replicas: o.replicas,
	})
	text, err := manifestText(list, o.output)
	if err != nil {
		return err
	}
	_, err = o.env.Out.Write(text)
	return err
}

// always is what is read in every namespace that an app has something in, since it may come
// at any time.
var watchedEverywhere = []object.Ref{
	{Kind: "Pod"},
	{Kind: "Service"},
	{Kind: "PersistentVolumeClaim"},
	{Group: "apps", Kind: "Deployment"},
	{Group: "apps", Kind: "ReplicaSet"},
	{Group: "apps", Kind: "StatefulSet"},
	{Group: "apps", Kind: "DaemonSet"},
	{Group: "batch", Kind: "CronJob"},
	{Group: "batch", Kind: "Job"},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"},
}

// reads is what has to be read to see how the apps are: the kinds of their stacks, where
// they are, and the definitions of custom kinds. A role names resources: that of a kind which
// nothing tells is an error.
func (b *systemSession) reads() ([]regulate.WatchedResource, error) {
	var roots []graph.ID
	for i := range b.State.Apps {
		for _, r := range b.State.Apps[i].Roots {
			if id, ok := b.Graph.Find(r); ok {
				roots = append(roots, id)
			}
		}
	}
	out := []regulate.WatchedResource{{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}}
	nameless := ""
	add := func(r object.Ref) {
		kind, ok := b.Session.Kinds.Kind(r.GroupKind())
		if ok && kind.Plural == "" {
			nameless = kind.String()
		}
		if ok && kind.Listable {
			out = append(out, regulate.WatchedResource{Group: kind.Group, Resource: kind.Plural, Namespace: r.Namespace})
		}
	}
	namespaces := []string{b.Namespace}
	for _, n := range b.Graph.Stack(roots, b.o.StackOptions()).Members() {
		r := b.Graph.Ref(n)
		add(r)
		if r.Namespace != "" {
			namespaces = append(namespaces, r.Namespace)
		}
	}
	slices.Sort(namespaces)
	for _, ns := range slices.Compact(namespaces) {
		for _, r := range watchedEverywhere {
			r.Namespace = ns
			add(r)
		}
	}
	slices.SortFunc(out, func(a, b regulate.WatchedResource) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
	if nameless != "" {
		return nil, hint.With(fmt.Errorf("the name of the resource of %s is unknown: %s has no CRD of it", nameless, b.o.From), "read the cluster, or add the CustomResourceDefinition to the file")
	}
	return slices.Compact(out), nil
}

// manifestText writes manifests: YAML documents with their comments, or a List.
func manifestText(list []regulate.Manifest, format string) ([]byte, error) {
	var out bytes.Buffer
	if format == "json" {
		items := make([]any, 0, len(list))
		for _, m := range list {
			items = append(items, m.Object.Object)
		}
		enc := json.NewEncoder(&out)
		enc.SetIndent("", "  ")
		err := enc.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
		return out.Bytes(), err
	}
	for _, m := range list {
		text, err := yaml.Marshal(m.Object.Object)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		for line := range strings.Lines(m.Comment) {
			// Names that a manifest brought in stay in their comment.
			fmt.Fprintf(&out, "# %s\n", safe(strings.TrimSuffix(line, "\n")))
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}
