package focus

import (
	"context"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// Table returns the charges of each cluster of a report. The accounts that the options name go for
// all of them; else each cluster has its own.
func Table(ctx context.Context, m *app.MetricsResult, options Options) (*view.CSVTable, error) {
	var all *view.CSVTable
	for _, one := range m.Each() {
		own, err := ofCluster(ctx, one, options)
		if err != nil {
			return nil, err
		}
		table, err := CSV(one.Ledger, one.Reading, one.Attribution, own)
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

// ofCluster completes options by what is known of a cluster.
func ofCluster(ctx context.Context, m *app.MetricsResult, o Options) (Options, error) {
	o.Sharing, o.Tags, o.Tenant = m.Options, m.Tags, m.Request.Rows.Tenant()
	if o.AccountID == "" {
		id, err := m.ClusterID(ctx)
		if err != nil {
			return o, hint.With(fmt.Errorf("name the billing account: %w", err), "--billing-account gives it a name")
		}
		o.AccountID = id
	}
	if o.AccountName == "" && (!m.Session.Snapshot || len(m.Request.Clusters) > 1) {
		o.AccountName = m.Input.ClusterName()
	}
	return o, nil
}
