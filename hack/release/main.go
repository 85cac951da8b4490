// Command release makes what is published of the suite: see docs/releasing.md.
//
//	go run ./hack/release build --version v0.1.0
//	go run ./hack/release verify --version v0.1.0 [--against dist/checksums.txt]
//	go run ./hack/release licences
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/release"
	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	commands := map[string]func(context.Context, release.Options, string, io.Writer) error{"build": build, "verify": verify, "licences": licences}
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("want one of build, verify, licences")
	}
	flags := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	flags.SetOutput(stderr)
	o := release.Options{Log: stderr}
	flags.StringVar(&o.Version, "version", "", "the `version` to build, as in v0.1.0")
	flags.StringVar(&o.Root, "root", ".", "the `folder` of the checkout")
	flags.StringVar(&o.Out, "out", "dist", "the `folder` that is written; an earlier release in it is replaced")
	flags.StringVar(&o.Cache, "cache", "", "another build cache than Go's own, a `folder`")
	flags.IntVar(&o.Jobs, "jobs", 0, "how many compilers run side by side; 0 is one a processor")
	flags.BoolVar(&o.AllowDirty, "allow-dirty", false, "build what is not committed too, to try it out")
	platforms := flags.String("platforms", "", "only these, as in linux/amd64,darwin/arm64")
	against := flags.String("against", "", "compare with the sums in this `file`, instead of building twice")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s: unexpected argument", flags.Arg(0))
	}
	if err := complete(&o, *platforms); err != nil {
		return err
	}
	return commands[args[0]](ctx, o, *against, stdout)
}

// complete reads the options that are no flags: plugins.yaml and SOURCE_DATE_EPOCH.
func complete(o *release.Options, platforms string) (err error) {
	if o.Suite, err = suite.Read(filepath.Join(o.Root, "plugins.yaml")); err != nil {
		return err
	}
	if o.Cache != "" {
		if o.Cache, err = filepath.Abs(o.Cache); err != nil {
			return err
		}
	}
	if o.Platforms, err = choose(o.Suite.Platforms, platforms); err != nil {
		return err
	}
	if text := os.Getenv("SOURCE_DATE_EPOCH"); text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH is %q: want seconds since 1970", text)
		}
		o.Epoch = time.Unix(seconds, 0)
	}
	return nil
}

func choose(all []suite.Platform, names string) ([]suite.Platform, error) {
	if names == "" {
		return all, nil
	}
	known := map[string]suite.Platform{}
	for _, p := range all {
		known[p.String()] = p
	}
	var chosen []suite.Platform
	for name := range strings.SplitSeq(names, ",") {
		p, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("platform %s is not in plugins.yaml: it has %v", name, all)
		}
		chosen = append(chosen, p)
	}
	return chosen, nil
}

func build(ctx context.Context, o release.Options, _ string, stdout io.Writer) error {
	r, err := release.Build(ctx, o)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, a := range r.Artifacts {
		fmt.Fprintf(table, "%s\t%s\t%d\n", a.SHA256, filepath.Join(o.Out, a.Name), a.Size)
	}
	fmt.Fprintf(table, "%s built with %s, dated %s\n", r.Version, r.Go, r.Epoch.Format(time.RFC3339))
	return table.Flush()
}

func verify(ctx context.Context, o release.Options, against string, stdout io.Writer) error {
	var published map[string]string
	if against != "" {
		var err error
		if published, err = release.ReadChecksums(against); err != nil {
			return err
		}
	}
	rows, err := release.Verify(ctx, o, published)
	if err != nil {
		return err
	}
	table, different := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0), 0
	fmt.Fprintln(table, "ARTIFACT\tFIRST\tSECOND\tBYTES\t")
	for _, row := range rows {
		verdict := "same"
		if !row.Same() {
			verdict = "DIFFERENT"
			different++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\n", row.Name, row.First, row.Second, row.Size, verdict)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if different > 0 {
		return fmt.Errorf("%d of %d artifacts are different: is it the same commit and the same Go? Those of a release are in its bill of materials", different, len(rows))
	}
	return nil
}

func licences(ctx context.Context, o release.Options, _ string, stdout io.Writer) error {
	all, err := release.Licences(ctx, o)
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MODULE\tVERSION\tLICENCE\tFILES")
	for _, l := range all {
		var files []string
		for _, t := range l.Texts {
			files = append(files, t.Name)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", l.Module, l.Version, l.Expression(), strings.Join(files, ", "))
	}
	return errors.Join(table.Flush(), err)
}
