package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// helpTexts has a file for each command, by its path: help/regulate_plan.txt. The first line is
// the short text; the long one follows, and the examples under "Examples:".
//
//go:embed help/*.txt
var helpTexts embed.FS

// describe gives a command and all below it the texts of help.
func describe(root *cobra.Command) {
	eachCommand(root, func(cmd *cobra.Command) {
		if cmd.Short != "" {
			return // cobra describes its own
		}
		path := strings.TrimPrefix(cmd.CommandPath(), root.CommandPath()+" ")
		if cmd == root {
			path = root.Name()
		}
		text, err := helpTexts.ReadFile("help/" + strings.ReplaceAll(path, " ", "_") + ".txt")
		must(err)
		about, examples, _ := strings.Cut(string(text), "\nExamples:\n\n")
		short, long, _ := strings.Cut(about, "\n")
		cmd.Short, cmd.Long, cmd.Example = short, strings.TrimSpace(long), strings.TrimRight(examples, "\n")
	})
}
