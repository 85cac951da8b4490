package metricscmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/focus"
)

// focusOptions are what a FOCUS file says besides the charges.
type focusOptions struct{ focus.Options }

func (f *focusOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Version, "focus-version", focus.Versions()[0], "version of FOCUS that -o focus writes: "+strings.Join(focus.Versions(), " or "))
	flags.StringVar(&f.AccountID, "billing-account", "", "billing account of -o focus (default: the UID of the namespace kube-system)")
	flags.StringVar(&f.AccountName, "billing-account-name", "", "the name of the billing account (default: the context of the kubeconfig)")
	flags.StringVar(&f.Provider, "provider", "kubectl-sysop", "the provider name in -o focus")
	command.Offer(cmd, "focus-version", focus.Versions()...)
}

func (f *focusOptions) validate() error {
	_, err := command.OneOf("--focus-version", f.Version, focus.Versions())
	return err
}
