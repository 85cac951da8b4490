package metricscmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/completion"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
)

// keyFlags are the flags of the keys of rows and filters, and of the clusters of one report.
func (o *metricsOptions) keyFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.by, "by", []string{cost.ByStack}, "what to group rows by, from the outermost: "+strings.Join(cost.KeyNames(), ", ")+
		" (of the object, else of its owner; ns...: else of its namespace); several make rows below rows")
	f.StringArrayVar(&o.filter, "filter", nil, "show only what has these values of keys of --by: namespace=shop,label:team!=web, node in (a,b); * is any text, (none) what has no value; several must all hold")
	o.froms.replace(cmd, "from", "; several are one report of several clusters")
	o.contexts.replace(cmd, "context", "; several are one report of several clusters")
	command.Complete(cmd, "by", o.CompleteWith(completion.Keys))
	command.Complete(cmd, "filter", o.CompleteWith(completion.Filter))
}

// repeatedFlag keeps every value of a flag that holds one.
type repeatedFlag struct {
	value interface {
		Set(text string) error
		String() string
	}
	all []string
}

// replace takes the place of the value of a flag.
func (r *repeatedFlag) replace(cmd *cobra.Command, name, usage string) {
	flag := cmd.Flags().Lookup(name)
	r.value, flag.Value = flag.Value, r
	flag.Usage += usage
}

func (r *repeatedFlag) Set(text string) error {
	if len(r.all) > 0 { // The first one is what a single report is of.
		r.all = append(r.all, text)
		return nil
	}
	r.all = []string{text}
	return r.value.Set(text)
}

func (r *repeatedFlag) String() string {
	if r.value == nil {
		return ""
	}
	return r.value.String()
}

func (r *repeatedFlag) Type() string { return "stringArray" }

// parseKeys reads the clusters, the keys of rows, and the filter.
func (o *metricsOptions) parseKeys(q *app.MetricsRequest) error {
	if len(o.froms.all) > 0 && len(o.contexts.all) > 1 {
		return hint.With(fmt.Errorf("--from and several --context exclude each other"), "write a snapshot of each context, and name each with --from")
	}
	for _, from := range o.froms.all {
		q.Clusters = append(q.Clusters, app.ClusterSource{From: from})
	}
	for _, name := range o.contexts.all {
		if len(o.froms.all) == 0 {
			q.Clusters = append(q.Clusters, app.ClusterSource{Context: name})
		}
	}
	if len(q.Clusters) > 1 && o.of.Name != "" {
		return fmt.Errorf("--system is a System of one cluster: it excludes several --from and --context")
	}
	keys := o.by
	if slices.Equal(keys, []string{cost.ByStack}) && len(q.Clusters) > 1 {
		keys = []string{cost.ByCluster, cost.ByStack}
	}
	var err error
	if q.Keys, err = cost.ParseKeys(keys); err != nil {
		return fmt.Errorf("--by: %w", err)
	}
	if len(q.Keys) == 0 {
		return hint.With(fmt.Errorf("--by: there is no key"), "write one of "+strings.Join(cost.KeyNames(), ", "))
	}
	for _, text := range o.filter {
		f, err := cost.ParseFilter(text)
		if err != nil {
			return fmt.Errorf("--filter: %w", err)
		}
		q.Filter = append(q.Filter, f...)
	}
	return nil
}

// sharings are the values of --share.
func sharings() []string {
	var all []string
	for _, s := range cost.Sharings() {
		all = append(all, string(s))
	}
	return all
}
