package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd/api"
)

// fileFlags are flags whose value is a file, with the extensions that it may have; nil is any.
func fileFlags() map[string][]string {
	yaml := []string{"yaml", "yml", "json"}
	return map[string][]string{
		"filename": yaml, "rules": yaml, "values": yaml, "waivers": yaml, "health-rules": yaml, "footprint": yaml,
		"bundle": {"tar", "tgz"}, "key": {"pem", "pub"}, "keyring": {"gpg", "pgp", "asc"},
		"catalog": nil, "write": nil, "output": nil, "prometheus-token-file": nil,
		"kubeconfig": nil, "client-key": nil, "client-certificate": nil, "certificate-authority": nil,
	}
}

// directoryFlags are flags whose value is a directory.
func directoryFlags() []string { return []string{"cache-dir", "crds", "dir"} }

// plainFlags are flags of which nothing is offered, no files either, and why.
func plainFlags() map[string]string {
	const text, address, number, duration = "free text", "an address", "a number", "a duration"
	return map[string]string{
		"as": "the possible users are not listed anywhere", "as-group": "as --as", "as-uid": "as --as", "as-user-extra": "as --as",
		"token": "a secret", "server": address, "tls-server-name": address, "proxy-url": address, "image-registry": address, "image": address,
		"prometheus": address, "listen": address, "metrics-address": address,
		"request-timeout": duration, "timeout": duration, "lock-lease": duration, "interval": duration, "since": duration, "since-time": "a time",
		"depth": number, "top": number, "replicas": number, "max-streams": number, "share-overhead": number, "v": number,
		"set": text, "set-string": text, "name": text, "kubernetes": "a version of Kubernetes", "prometheus-matchers": text,
		"provider": text, "billing-account": text, "billing-account-name": text, "delete-data": "the user has to type it",
	}
}

// completeFlags gives every flag that takes a value, and has no completion of its own, that of
// the tables: else cobra would offer files for a number.
func completeFlags(root *cobra.Command) {
	files, directories, plain := fileFlags(), directoryFlags(), plainFlags()
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, own := cmd.GetFlagCompletionFunc(f.Name); own || f.Value.Type() == "bool" {
				return
			}
			extensions, isFile := files[f.Name]
			_, isPlain := plain[f.Name]
			switch {
			case isFile && extensions == nil:
				must(cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)))
			case isFile:
				must(cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)))
			case slices.Contains(directories, f.Name):
				must(cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)))
			case isPlain:
				must(cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions))
			}
		})
	})
}

// eachCommand calls f for a command and all below it.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, child := range cmd.Commands() {
		eachCommand(child, f)
	}
}

// completeConnection completes what the kubeconfig has names for.
func (c *common) completeConnection(cmd *cobra.Command) {
	for flag, names := range map[string]func(*api.Config) []string{
		"context": func(k *api.Config) []string { return slices.Collect(maps.Keys(k.Contexts)) },
		"cluster": func(k *api.Config) []string { return slices.Collect(maps.Keys(k.Clusters)) },
		"user":    func(k *api.Config) []string { return slices.Collect(maps.Keys(k.AuthInfos)) },
	} {
		must(cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return c.completeWithin(cmd.Context(), func(context.Context) []string {
				config, err := c.Config.ToRawKubeConfigLoader().RawConfig()
				if err != nil {
					return nil
				}
				return beginning(names(&config), typed)
			}), noFiles
		}))
	}
	must(cmd.RegisterFlagCompletionFunc("namespace", c.completeNamespaces))
	must(cmd.RegisterFlagCompletionFunc("from", fileOr("demo\tthe example system", "yaml", "yml", "json", "gz")))
}

// fileOr offers files of these extensions, and the word that can be written instead once its
// beginning is typed: a shell that is offered a word shows no files with it.
func fileOr(word string, extensions ...string) completion {
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
	words := c.asking(cmd.Context(), last, func(ctx context.Context, w *completionSource) []string {
		r := podKnown
		if ok := typ == ""; !ok {
			if r, ok = w.resource(ctx, typ); !ok {
				return nil
			}
		}
		return labelWords(w.list(ctx, r, w.namespace, ""), key, valued)
	})
	directive := noFiles
	if !valued {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return prefixed(before, words), directive
}

// labelWords are the keys of labels as a selector begins, or KEY=VALUE for each value of one.
func labelWords(all []completionObject, key string, valued bool) []string {
	if valued {
		return prefixed(key+"=", values(all, key))
	}
	keys := map[string]bool{}
	for i := range all {
		for k := range all[i].Labels {
			keys[k+"="] = true
		}
	}
	return slices.Collect(maps.Keys(keys))
}

// completeBy offers what rows of metrics can be grouped by, and after "label:" the labels of pods.
func (c *common) completeBy(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	const label = "label:"
	last, ok := strings.CutPrefix(typed, label)
	if !ok {
		return beginning([]string{"stack", "resource", "namespace", "node", "creator", label, "nslabel:", "annotation:"}, typed), noFiles | cobra.ShellCompDirectiveNoSpace
	}
	return prefixed(label, c.asking(cmd.Context(), last, func(ctx context.Context, w *completionSource) []string {
		words := labelWords(w.list(ctx, podKnown, w.namespace, ""), "", false)
		for i := range words {
			words[i] = strings.TrimSuffix(words[i], "=")
		}
		return words
	})), noFiles
}
