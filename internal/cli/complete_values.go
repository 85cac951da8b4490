package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
)

// completeConnection completes what the kubeconfig has names for.
func (c *common) completeConnection(cmd *cobra.Command) {
	for flag, names := range map[string]func(*api.Config) []string{
		"context": func(k *api.Config) []string { return slices.Collect(maps.Keys(k.Contexts)) },
		"cluster": func(k *api.Config) []string { return slices.Collect(maps.Keys(k.Clusters)) },
		"user":    func(k *api.Config) []string { return slices.Collect(maps.Keys(k.AuthInfos)) },
	} {
		complete(cmd, flag, func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return c.completeWithin(cmd.Context(), func(context.Context) []string {
				config, err := c.Config.ToRawKubeConfigLoader().RawConfig()
				if err != nil {
					return nil
				}
				return beginning(names(&config), typed)
			}), noFiles
		})
	}
	complete(cmd, "namespace", c.completeNamespaces)
	complete(cmd, "from", fileOr("demo\tthe example system", "yaml", "yml", "json", "gz"))
}

// fileOr offers files of these extensions, and the word that can be written instead once its
// beginning is typed: a shell that is offered a word shows no files with it.
func fileOr(word string, extensions ...string) completer {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		if typed != "" && strings.HasPrefix(word, typed) {
			return []string{word}, cobra.ShellCompDirectiveDefault
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeYAML offers files of YAML.
func completeYAML(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeSelector offers the labels of the objects of the type that is named, and behind "="
// their values.
func (c *common) completeSelector(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	before, last := lastOf(typed)
	typ, _, named := strings.Cut(strings.Join(args, " "), "/")
	if named || len(args) > 1 {
		return nil, noFiles
	}
	key, _, valued := strings.Cut(last, "=")
	words := c.asking(cmd.Context(), last, func(ctx context.Context, w *completion.Source) []string {
		if valued {
			return prefixed(key+"=", w.LabelValues(ctx, typ, key))
		}
		return w.LabelKeys(ctx, typ, "=")
	})
	directive := noFiles
	if !valued {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return prefixed(before, words), directive
}
