package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/focus"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// focusOptions are what a FOCUS file says besides the charges.
type focusOptions struct {
	version, account, accountName, provider string
}

func (f *focusOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.version, "focus-version", focus.Versions()[0], "version of FOCUS that -o focus writes: "+strings.Join(focus.Versions(), " or "))
	flags.StringVar(&f.account, "billing-account", "", "billing account of -o focus (default: the UID of the namespace kube-system)")
	flags.StringVar(&f.accountName, "billing-account-name", "", "the name of the billing account (default: the context of the kubeconfig)")
	flags.StringVar(&f.provider, "provider", "kubectl-sysop", "the provider name in -o focus")
	offer(cmd, "focus-version", focus.Versions()...)
}

func (f *focusOptions) validate() error {
	_, err := oneOf("--focus-version", f.version, focus.Versions())
	return err
}

// focusTable is the charges of each cluster.
func (o *metricsOptions) focusTable(ctx context.Context, m *app.MetricsResult) (*view.CSVTable, error) {
	var all *view.CSVTable
	for _, one := range m.Each() {
		options, err := o.focusOf(ctx, one)
		if err != nil {
			return nil, err
		}
		table, err := focus.CSV(one.Ledger, one.Reading, one.Attribution, options)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = table
			continue
		}
		all.Rows = append(all.Rows, table.Rows...)
	}
	return all, nil
}

// focusOf returns what a FOCUS file says besides the charges.
func (o *metricsOptions) focusOf(ctx context.Context, m *app.MetricsResult) (focus.Options, error) {
	f := o.focus
	out := focus.Options{Version: f.version, AccountID: f.account, AccountName: f.accountName, Provider: f.provider, Sharing: m.Options, Tags: m.Tags, Tenant: m.Request.Rows.Tenant()}
	if out.AccountID == "" {
		id, err := m.ClusterID(ctx)
		if err != nil {
			return out, hint.With(fmt.Errorf("name the billing account: %w", err), "--billing-account gives it a name")
		}
		out.AccountID = id
	}
	if out.AccountName == "" && (!m.Session.Snapshot || len(m.Request.Clusters) > 1) {
		out.AccountName = m.Input.ClusterName()
	}
	return out, nil
}
