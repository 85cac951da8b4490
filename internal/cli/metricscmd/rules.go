package metricscmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/export"
)

func newMetricsRules(env command.Env) *cobra.Command {
	var matchers string
	var file bool
	cmd := &cobra.Command{
		Use:               "rules",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			return printRules(env, matchers, file)
		},
	}
	cmd.Flags().StringVar(&matchers, "prometheus-matchers", "", `PromQL label matchers for every series, if a server has the series of several clusters (cluster="eu-1")`)
	cmd.Flags().BoolVar(&file, "file", false, "print a rules file, without the PrometheusRule around it")
	return cmd
}

func printRules(env command.Env, matchers string, file bool) error {
	text, err := yaml.Marshal(export.RecordingRules(matchers, file))
	if err != nil {
		return fmt.Errorf("write the rules: %w", err)
	}
	_, err = env.Out.Write(text)
	return err
}
