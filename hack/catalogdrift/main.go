// Command catalogdrift compares the catalog with the definitions of a new release. It reports what
// no longer matches, and new kinds and reference-like fields, and rewrites the skeletons of the
// given operators.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "catalogdrift:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("catalogdrift", flag.ContinueOnError)
	crds := flags.String("crds", "", "the folder with the new CRDs")
	folder := flags.String("catalog", "catalog", "the folder of the catalogue")
	source := flags.String("source", "", `where they are from: "repo=github.com/OWNER/NAME tag=v1.2.3 commit=HEX date=YYYY-MM-DD"; without it nothing is written`)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *crds == "" {
		return fmt.Errorf("want --crds DIR, the folder with the new CRDs")
	}
	d, err := read(*folder, *crds)
	if err != nil {
		return err
	}
	d.report(out)
	if *source == "" {
		return nil
	}
	return d.rewrite(*source, out)
}
