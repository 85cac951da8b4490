package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// focusOptions are what a FOCUS file says besides the charges.
type focusOptions struct {
	version, account, accountName, provider string
}

func (f *focusOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.version, "focus-version", view.FocusVersions()[0], "version of FOCUS that -o focus writes: "+strings.Join(view.FocusVersions(), " or "))
	flags.StringVar(&f.account, "billing-account", "", "billing account of -o focus (default: the UID of the namespace kube-system)")
	flags.StringVar(&f.accountName, "billing-account-name", "", "the name of the billing account (default: the context of the kubeconfig)")
	flags.StringVar(&f.provider, "provider", "kubectl-sysop", "the provider name in -o focus")
	must(cmd.RegisterFlagCompletionFunc("focus-version", cobra.FixedCompletions(view.FocusVersions(), cobra.ShellCompDirectiveNoFileComp)))
}

func (f *focusOptions) validate() error {
	if !slices.Contains(view.FocusVersions(), f.version) {
		return withHint(fmt.Errorf("unknown value %q of --focus-version", f.version), "write one of "+strings.Join(view.FocusVersions(), ", "))
	}
	return nil
}

// focus returns what a FOCUS file says besides the charges.
func (o *metricsOptions) focusOf(ctx context.Context, m *metricsResult) (view.FocusOptions, error) {
	f := o.focus
	out := view.FocusOptions{Version: f.version, AccountID: f.account, AccountName: f.accountName, Provider: f.provider, Sharing: m.q.options, Tags: m.tags, Tenant: m.q.rows.tenant()}
	if out.AccountID == "" {
		id, err := m.clusterID(ctx)
		if err != nil {
			return out, withHint(fmt.Errorf("name the billing account: %w", err), "--billing-account gives it a name")
		}
		out.AccountID = id
	}
	if out.AccountName == "" && !m.session.snapshot {
		if raw, err := o.config.ToRawKubeConfigLoader().RawConfig(); err == nil {
			out.AccountName = raw.CurrentContext
			if given(o.config.Context) {
				out.AccountName = *o.config.Context
			}
		}
	}
	return out, nil
}

// clusterID is what the field takes for the identity of a cluster: the UID of its
// first namespace. A snapshot without that namespace is its own.
func (m *metricsResult) clusterID(ctx context.Context) (string, error) {
	if id, ok := m.graph.Find(object.Ref{Kind: "Namespace", Name: "kube-system"}); ok {
		if uid := m.graph.Node(id).UID; uid != "" {
			return string(uid), nil
		}
	}
	switch from := m.session.source.(type) {
	case *source.Snapshot:
		return from.Name(), nil
	case *source.Cluster:
		body, err := from.Get(ctx, "/api/v1/namespaces/kube-system", nil)
		if err != nil {
			return "", err
		}
		var ns struct {
			Metadata struct {
				UID string `json:"uid"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(body, &ns); err != nil {
			return "", err
		}
		if ns.Metadata.UID != "" {
			return ns.Metadata.UID, nil
		}
	}
	return "", fmt.Errorf("the namespace kube-system has no UID")
}

// tags are the labels of an object.
func (m *metricsResult) tags(r object.Ref) map[string]string {
	if id, ok := m.graph.Find(r); ok && m.graph.State(id) == graph.Present {
		return m.graph.Labels(id)
	}
	return nil
}
