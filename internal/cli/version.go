package cli

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// Version is set by the linker in a release; else the version of the module.
var Version = ""

// buildVersion is the version of this program.
func buildVersion() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// versionDocument is the answer of the version command (docs/schema/version.json).
type versionDocument struct {
	view.Head `json:",inline"`
	Version   string `json:"version"`
	GoVersion string `json:"goVersion"`
	Revision  string `json:"revision,omitempty"`
}

func newVersion(env command.Env) *cobra.Command {
	c := command.NewCommon(env, "table", "json", "yaml")
	cmd := c.NewCommand("version", cobra.NoArgs, cobra.NoFileCompletions, func(context.Context, []string) error {
		doc := versionDocument{Head: view.Head{APIVersion: view.APIVersion, Kind: "Version"}, Version: env.Version}
		if info, ok := debug.ReadBuildInfo(); ok {
			doc.GoVersion = info.GoVersion
			for _, s := range info.Settings {
				if s.Key == "vcs.revision" {
					doc.Revision = s.Value
				}
			}
		}
		if c.Output == "table" {
			_, err := fmt.Fprintf(env.Out, "kubectl-sysop %s (%s)\n", doc.Version, doc.GoVersion)
			return err
		}
		return c.Write(view.Output{Document: doc})
	})
	c.AddOutputFlags(cmd)
	return cmd
}
