// Command krew writes the manifests of krew/plugins from plugins.yaml and the checksums of a
// release, and judges manifests by the rules of krew and of its index.
//
//	go run ./hack/krew generate --version v0.1.0 --checksums dist/checksums.txt --out krew/plugins
//	go run ./hack/krew lint --archives dist krew/plugins/*.yaml
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

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
	if len(args) == 0 {
		return errors.New("want a command: generate or lint")
	}
	switch args[0] {
	case "generate":
		return generate(args[1:], out)
	case "lint":
		return lint(args[1:], out)
	default:
		return fmt.Errorf("no command %q: want generate or lint", args[0])
	}
}

func generate(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	manifest := flags.String("suite", "plugins.yaml", "the suite")
	version := flags.String("version", "", "version of the release, as in v0.1.0")
	checksums := flags.String("checksums", "dist/checksums.txt", "sums of the archives, as sha256sum writes them")
	download := flags.String("download", "", "where archives are, with {version} and {archive} in it, if not where the suite says")
	folder := flags.String("out", "krew/plugins", "folder to write to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("generate takes no %q", flags.Arg(0))
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
	if err := krew.WriteIndex(*folder, files, text); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d manifests of %s written to %s\n", len(files), *version, *folder)
	return nil
}

func lint(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("lint", flag.ContinueOnError)
	folder := flags.String("archives", "", "folder with the archives, to look into them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("lint wants manifests: the files of a folder plugins")
	}
	var archives *krew.Archives
	if *folder != "" {
		if _, err := os.Stat(*folder); err != nil {
			return err
		}
		archives = krew.NewArchives(os.DirFS(*folder))
	}
	count := 0
	for _, file := range flags.Args() {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, f := range krew.Lint(filepath.Base(file), text, archives) {
			fmt.Fprintf(out, "%s: %s\n", file, f)
			count++
		}
	}
	if count > 0 {
		return fmt.Errorf("%d findings in %d manifests", count, flags.NArg())
	}
	fmt.Fprintf(out, "%d manifests keep all %d rules\n", flags.NArg(), len(krew.Rules()))
	return nil
}
