package command

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
)

// NoFiles ends a completion: what is not offered is no file either.
const NoFiles = cobra.ShellCompDirectiveNoFileComp

// Completer is what cobra asks to complete an argument or the value of a flag.
type Completer = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

func (c *Common) Shell() *completion.Shell {
	return &completion.Shell{Input: &c.Input, Limit: c.Env.CompletionTimeout}
}

// CompleteWith completes by what is found in the cluster, the snapshot or the catalogs.
func (c *Common) CompleteWith(f completion.Completer) Completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		answer, directive := f(cmd.Context(), c.Shell(), args, typed), NoFiles
		if answer.Unfinished {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		if answer.Ordered {
			directive |= cobra.ShellCompDirectiveKeepOrder
		}
		return answer.Words, directive
	}
}

func (c *Common) CompleteRoots(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.CompleteWith(completion.Roots)(cmd, args, typed)
}

func (c *Common) CompleteOneKind(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.CompleteWith(completion.Only(completion.Kinds))(cmd, args, typed)
}

func (c *Common) CompleteNamespaces(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.CompleteWith(completion.Namespaces)(cmd, args, typed)
}

// CompleteSystem offers the names of Systems for the only argument.
func (c *Common) CompleteSystem(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return c.CompleteWith(completion.Only(completion.Systems))(cmd, args, typed)
}

// completeConnection completes what the kubeconfig has names for.
func (c *Common) completeConnection(cmd *cobra.Command) {
	for flag, names := range map[string]func(*api.Config) []string{
		"context": func(k *api.Config) []string { return slices.Collect(maps.Keys(k.Contexts)) },
		"cluster": func(k *api.Config) []string { return slices.Collect(maps.Keys(k.Clusters)) },
		"user":    func(k *api.Config) []string { return slices.Collect(maps.Keys(k.AuthInfos)) },
	} {
		Complete(cmd, flag, c.CompleteWith(func(ctx context.Context, s *completion.Shell, _ []string, typed string) completion.Answer {
			return completion.Answer{Words: s.Within(ctx, func(context.Context) []string {
				config, err := c.Config.ToRawKubeConfigLoader().RawConfig()
				if err != nil {
					return nil
				}
				return completion.Beginning(names(&config), typed)
			})}
		}))
	}
	Complete(cmd, "namespace", c.CompleteNamespaces)
	Complete(cmd, "from", CompleteFileOr("demo\tthe example system", "yaml", "yml", "json", "gz"))
}

// CompleteFileOr offers files of these extensions, and the word that can be written instead once its
// beginning is typed: a shell that is offered a word shows no files with it.
func CompleteFileOr(word string, extensions ...string) Completer {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		if typed != "" && strings.HasPrefix(word, typed) {
			return []string{word}, cobra.ShellCompDirectiveDefault
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// CompleteYAML offers files of YAML.
func CompleteYAML(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}
