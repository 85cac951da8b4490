//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// windowTag names the question about windows, and the namespaces of the pods that it is about.
const windowTag = "window"

const (
	windowNamespaces = 20
	windowTrees      = 200 // with 1,000 pods
	oneNamespace     = 2   // trees, with 10 pods
	scrape           = 30  // seconds
)

// windowTimeout is how long a query may take: the server has two cores, which others use too.
const windowTimeout = "30m"

// windows measures windows of the history of 1,000 pods that are there, and of 10, each by raw
// samples and by recording rules. The server counts the queries, and the most samples that one
// of them holds in memory.
func (b *bench) windows(ctx context.Context) error {
	const byRules = windowTag + " by rules"
	if !strings.Contains(byRules, b.only) || b.days == 0 {
		return nil
	}
	if err := b.load(ctx, windowTag, windowNamespaces, windowTrees); err != nil {
		return err
	}
	if err := b.load(ctx, windowTag+"-few", 1, oneNamespace); err != nil {
		return err
	}
	fmt.Println("| window | evaluated from | program | queries | most samples of one, millions | CPU s | peak RSS MB | wall s |")
	fmt.Println("|---|---|---|---:|---:|---:|---:|---:|")
	if strings.Contains(windowTag, b.only) {
		if err := b.window(ctx, false); err != nil {
			return fmt.Errorf("windows: %w", err)
		}
	}
	if err := b.window(ctx, true); err != nil {
		return fmt.Errorf("windows: %w", err)
	}
	return nil
}

func (b *bench) window(ctx context.Context, recorded bool) (err error) {
	h, err := b.history(ctx, recorded)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.dir, "history-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	log := filepath.Join(dir, "queries.log")
	binaries, err := cluster.BuildPrometheus(ctx, os.Stderr)
	if err != nil {
		return err
	}
	server, err := cluster.RunPrometheus(ctx, binaries, dir, cluster.PrometheusOptions{
		Ramps: h.ramps, Config: "global: {query_log_file: " + log + "}",
		// Blocks are as long as they will be: merging them would take the processor away.
		Flags: []string{"--storage.tsdb.min-block-duration=2h", "--storage.tsdb.max-block-duration=2h", "--query.timeout=" + windowTimeout},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	ask := func(name, by string, days int, args ...string) error {
		window := h.to.AddDate(0, 0, -days).Format(time.DateOnly) + "/" + h.to.Format(time.DateOnly)
		args = append([]string{"metrics", "--window", window, "--prometheus", server.URL, "--request-timeout", windowTimeout, "--timings"}, args...)
		for _, program := range []string{b.programs.sysop, b.against} {
			if program == "" {
				continue
			}
			m, err := b.once(ctx, program, args)
			if err != nil {
				return err
			}
			queries, samples, err := logged(log)
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %s | %s | %d | %.1f | %.3f | %.1f | %.1f |\n", name, by, filepath.Base(program), queries, float64(samples)/1e6, m.cpu, m.rss, m.wall)
		}
		return nil
	}
	month := fmt.Sprintf("1,000 pods, %d days", b.days)
	if recorded {
		return ask(month, "recording rules", b.days, "-A")
	}
	if err := ask("10 pods, a day", "samples", 1, "-n", windowTag+"-few-0"); err != nil {
		return err
	}
	return ask(month, "samples", b.days, "-A")
}

// logged counts the queries in the log of the server, and returns the most samples that one of
// them held in memory. It empties the log.
func logged(file string) (queries, samples int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, fmt.Errorf("read the log of queries: %w", err)
	}
	for line := range bytes.Lines(text) {
		var query struct {
			Stats struct {
				Samples struct {
					Peak int `json:"peakSamples"`
				} `json:"samples"`
			} `json:"stats"`
		}
		if err := json.Unmarshal(line, &query); err != nil {
			return 0, 0, fmt.Errorf("read the log of queries: %w", err)
		}
		queries, samples = queries+1, max(samples, query.Stats.Samples.Peak)
	}
	return queries, samples, os.Truncate(file, 0)
}
