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

// noFiles ends a completion: what is not offered is no file either.
const noFiles = cobra.ShellCompDirectiveNoFileComp

// completer is what cobra asks to complete an argument or the value of a flag.
type completer = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

func (c *common) shell() *completion.Shell {
	return &completion.Shell{Input: &c.Input, Limit: c.env.CompletionTimeout}
}

// offers completes by what is found in the cluster, the snapshot or the catalogs.
func (c *common) offers(f completion.Completer) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		answer, directive := f(cmd.Context(), c.shell(), args, typed), noFiles
		if answer.Unfinished {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		if answer.Ordered {
			directive |= cobra.ShellCompDirectiveKeepOrder
		}
		return answer.Words, directive
	}
}

func (c *common) completeRoots(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.offers(completion.Roots)(cmd, args, typed)
}

func (c *common) completeOneKind(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.offers(completion.Only(completion.Kinds))(cmd, args, typed)
}

func (c *common) completeNamespaces(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.offers(completion.Namespaces)(cmd, args, typed)
}

// completeSystem offers the names of Systems for the only argument.
func (c *common) completeSystem(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.offers(completion.Only(completion.Systems))(cmd, args, typed)
}

// completeConnection completes what the kubeconfig has names for.
func (c *common) completeConnection(cmd *cobra.Command) {
	for flag, names := range map[string]func(*api.Config) []string{
		"context": func(k *api.Config) []string { return slices.Collect(maps.Keys(k.Contexts)) },
		"cluster": func(k *api.Config) []string { return slices.Collect(maps.Keys(k.Clusters)) },
		"user":    func(k *api.Config) []string { return slices.Collect(maps.Keys(k.AuthInfos)) },
	} {
		complete(cmd, flag, c.offers(func(ctx context.Context, s *completion.Shell, _ []string, typed string) completion.Answer {
			return completion.Answer{Words: s.Within(ctx, func(context.Context) []string {
				config, err := c.Config.ToRawKubeConfigLoader().RawConfig()
				if err != nil {
					return nil
				}
				return completion.Beginning(names(&config), typed)
			})}
		}))
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
