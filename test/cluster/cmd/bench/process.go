//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// measured is the cost of one process.
type measured struct {
	requests, bytes int64
	cpu             float64 // seconds, user and system
	rss             float64 // MB, the highest
	wall            float64 // seconds
}

// repeat runs a command once uncounted, which fills the discovery cache, and then the given number
// of times, and returns the median of each figure.
func (b *bench) repeat(ctx context.Context, program string, args []string) (measured, error) {
	var all []measured
	for i := range b.runs + 1 {
		m, err := b.once(ctx, program, args)
		if err != nil {
			return m, err
		}
		if i > 0 {
			all = append(all, m)
		}
	}
	return measured{
		requests: median(all, func(m measured) int64 { return m.requests }),
		bytes:    median(all, func(m measured) int64 { return m.bytes }),
		cpu:      median(all, func(m measured) float64 { return m.cpu }),
		rss:      median(all, func(m measured) float64 { return m.rss }),
		wall:     median(all, func(m measured) float64 { return m.wall }),
	}, nil
}

func median[T cmp.Ordered](all []measured, of func(measured) T) T {
	values := make([]T, 0, len(all))
	for _, m := range all {
		values = append(values, of(m))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (b *bench) once(ctx context.Context, program string, args []string) (measured, error) {
	cmd := exec.CommandContext(ctx, b.programs.usage, append([]string{program}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+b.cluster.Kubeconfig, "KUBECACHEDIR="+b.dir+"/cache", "HOME="+b.dir)
	var out, talk bytes.Buffer
	cmd.Stderr = &talk
	if program == b.programs.floor {
		cmd.Stdout = &out
	}
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return measured{}, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, talk.String())
	}
	text := out.String() + talk.String()
	return measured{
		wall: time.Since(start).Seconds(), cpu: float64(count(text, "cpu_ns")) / 1e9, rss: float64(count(text, "peak_kib")) * 1024 / 1e6,
		requests: count(text, "requests"), bytes: count(text, "bytes"),
	}, nil
}

// count reads "requests 12" or "requests=12" in the output of a program.
func count(text, name string) int64 {
	found := regexp.MustCompile(`\b` + name + `[ =](\d+)`).FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func numbers(list string) ([]int, error) {
	var out []int
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n <= objects(deployments) {
			return nil, fmt.Errorf("size %q: want a number above %d", s, objects(deployments))
		}
		out = append(out, n)
	}
	return out, nil
}
