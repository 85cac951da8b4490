package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// beginApp finds the System of a command whose argument is an app: the one that is named,
// that of a manifest, or the only one of the namespace.
func (o *regulating) beginApp(ctx context.Context, name string) (*regulated, error) {
	if name != "" || o.file != "" || o.from != "" {
		return o.begin(ctx, name)
	}
	names, namespace, err := o.adopted(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(names) == 0:
		return nil, withHint(fmt.Errorf("no System was adopted in namespace %s", namespace), "name its manifest with -f FILE")
	case len(names) > 1:
		return nil, withHint(fmt.Errorf("there are several Systems in namespace %s: %s", namespace, strings.Join(names, ", ")), "choose one with --system")
	}
	return o.begin(ctx, names[0])
}

// adopted lists the Systems of the namespace.
func (o *regulating) adopted(ctx context.Context) (names []string, namespace string, err error) {
	from, namespace, err := o.source(ctx)
	if err != nil {
		return nil, "", err
	}
	cluster, ok := clusterOf(from)
	if !ok {
		return nil, namespace, errNoJournal
	}
	path := "/api/v1/namespaces/" + url.PathEscape(namespace) + "/configmaps"
	if namespace == "" {
		path = "/api/v1/configmaps"
	}
	text, err := cluster.Get(ctx, path, url.Values{"labelSelector": {system.Label + "," + system.IDLabel}})
	if err != nil {
		return nil, namespace, withHint(fmt.Errorf("list the Systems: %w", err), "name the manifest with -f FILE")
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, namespace, fmt.Errorf("list the Systems: %w", err)
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Labels[system.Label])
	}
	return names, namespace, nil
}

// completeSystems completes the names of Systems that were adopted.
func (o *regulating) completeSystems(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || o.file != "" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, stop := o.patient(cmd.Context())
	defer stop()
	names, _, err := o.adopted(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// appNames are the apps of the System that is meant; none where it cannot be read.
func (o *regulating) appNames(ctx context.Context, name string) []string {
	ctx, stop := o.patient(ctx)
	defer stop()
	var s *system.System
	var err error
	switch {
	case o.file != "":
		s, err = o.readSystem(ctx, o.file)
	case name != "":
		s, err = o.readAdopted(ctx, name)
	default:
		var names []string
		if names, _, err = o.adopted(ctx); err == nil && len(names) == 1 {
			s, err = o.readAdopted(ctx, names[0])
		}
	}
	if err != nil || s == nil {
		return nil
	}
	return s.AppNames()
}

// knows is an error if the System has no app of a name.
func (b *regulated) knows(app string) error {
	if _, ok := b.system.App(app); ok {
		return nil
	}
	return withHint(
		fmt.Errorf("the System %s has no app %q%s", b.system.Name, app, object.DidYouMean(object.Nearest(app, b.system.AppNames()))),
		"its apps are "+strings.Join(b.system.AppNames(), ", "))
}
