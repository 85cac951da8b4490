package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
)

// fileFlags are flags whose value is a file, with the extensions that it may have; nil is any.
func fileFlags() map[string][]string {
	yaml := []string{"yaml", "yml", "json"}
	return map[string][]string{
		"file": nil, "identity": nil, "recipients-file": nil,
		"filename": yaml, "rules": yaml, "values": yaml, "waivers": yaml, "health-rules": yaml, "footprint": yaml,
		"bundle": {"tar", "tgz"}, "key": {"pem", "pub"}, "keyring": {"gpg", "pgp", "asc"},
		"catalog": nil, "write": nil, "output": nil, "prometheus-token-file": nil,
		"prometheus-config": yaml, "prometheus-ca-file": {"pem", "crt"}, "prometheus-cert-file": {"pem", "crt"}, "prometheus-key-file": {"pem", "key"},
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
		"request-timeout": duration, "timeout": duration, "stabilization": duration, "lock-lease": duration, "interval": duration, "since": duration, "keep-for": duration, "pause-at-most": duration, "since-time": "a time",
		"depth": number, "top": number, "budget": number, "replicas": number, "max-streams": number, "share-overhead": number, "keep": number, "v": number,
		"set": text, "set-string": text, "name": text, "kubernetes": "a version of Kubernetes", "prometheus-matchers": text, "prometheus-header": text,
		"provider": text, "billing-account": text, "billing-account-name": text, "delete-data": "the user has to type it", "replace": "the user has to type it",
		"recipient": "a public key", "schedule": text, "time-zone": text, "namespace-map": text, "storage-class-map": text,
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
				command.Complete(cmd, f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault))
			case isFile:
				command.Complete(cmd, f.Name, cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt))
			case slices.Contains(directories, f.Name):
				command.Complete(cmd, f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
			case isPlain:
				command.Complete(cmd, f.Name, cobra.NoFileCompletions)
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
