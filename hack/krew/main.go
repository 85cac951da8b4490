// Command krew writes the manifests of krew/plugins from plugins.yaml and the checksums of a
// release.
//
//	go run ./hack/krew --version v0.1.0 --checksums dist/checksums.txt --out krew/plugins
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
	"github.com/kubectl-sysop/kubectl-sysop/internal/release"
	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "krew:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("krew", flag.ContinueOnError)
	manifest := flags.String("suite", "plugins.yaml", "the suite")
	version := flags.String("version", "", "version of the release, as in v0.1.0")
	checksums := flags.String("checksums", "dist/checksums.txt", "sums of the archives, as sha256sum writes them")
	download := flags.String("download", "", "where archives are, with {version} and {archive} in it, if not where the suite says")
	dir := flags.String("out", "krew/plugins", "directory to write to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: everything is a flag, see --help", flags.Arg(0))
	}
	s, err := suite.Read(*manifest)
	if err != nil {
		return err
	}
	if *download != "" {
		s.Download = *download
	}
	text, err := os.ReadFile(*checksums)
	if err != nil {
		return err
	}
	sums, err := release.ReadChecksums(*checksums)
	if err != nil {
		return err
	}
	files, err := krew.Generate(s, *version, sums)
	if err != nil {
		return err
	}
	if err := krew.WriteIndex(*dir, files, text); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d manifests of %s written to %s\n", len(files), *version, *dir)
	return nil
}
