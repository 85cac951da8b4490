package metricscmd

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

func NewPrices(env command.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "prices",
	}
	command.MakeGroup(cmd)
	cmd.AddCommand(newPricesShow(env), newPricesValidate(env))
	return cmd
}

// PricesFlag adds --prices.
func PricesFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "prices", "", `price book: a YAML FILE, or OpenCost's JSON or CSV; without it, or with "default", OpenCost's public prices`)
	command.Complete(cmd, "prices", command.CompleteFileOr(app.DefaultPrices+"\tOpenCost's public prices", "yaml", "yml", "json", "csv"))
}

func newPricesValidate(env command.Env) *cobra.Command {
	return &cobra.Command{
		Use:  "validate FILE...",
		Args: command.RangeArgs(1, math.MaxInt, "a FILE, or several"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{app.DefaultPrices + "\tOpenCost's public prices"}, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error { return validatePrices(cmd.Context(), env, args) },
	}
}

// validatePrices checks every file, whatever is wrong with another.
func validatePrices(ctx context.Context, env command.Env, files []string) error {
	var wrong []string
	for _, name := range files {
		book, problems, err := app.ParsePrices(ctx, name)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			wrong = append(wrong, err.Error())
		case len(problems) > 0:
			wrong = append(wrong, hint.Placed(name, problems)...)
		default:
			fmt.Fprintf(env.Out, "%s: valid: %d prices in %s\n", command.Safe(name), len(book.Lines()), book.Currency)
		}
	}
	if len(wrong) > 0 {
		return hint.With(&hint.Lines{Lines: wrong}, app.PriceBookHint)
	}
	return nil
}
