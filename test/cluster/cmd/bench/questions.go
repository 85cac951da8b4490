//go:build unix

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// question is asked to the plugin, and to the floor: a program that reads the same, and drops it.
type question struct {
	name  string
	floor []string // arguments of the floor
	args  []string // of the plugin
}

// What the floor reads: pods and workloads whole, and of all else the metadata; all that the
// plugin knows the fields of; that without the metrics.
var (
	workloads = []string{}
	fields    = []string{"-encoding", "fields"}
	unmetered = []string{"-encoding", "fields", "-without", "metrics.k8s.io"}
)

func questions() []question {
	one := []string{"-n", fixed + "-0"}
	return []question{
		{"graph -A", workloads, []string{"graph", "clusterrole/cluster-admin", "-A", "-o", "name"}},
		{"graph one stack", one, []string{"graph", "deployment/app-0", "-n", fixed + "-0", "-o", "name"}},
		{"graph -A -o json", workloads, []string{"graph", "deployments", "-A", "-o", "json"}},
		{"impact", workloads, []string{"impact", "node/node-0", "-A"}},
		{"stacks -A", fields, []string{"stacks", "-A"}},
		{"health -A", unmetered, []string{"health", "-A"}},
		{"metrics -A", fields, []string{"metrics", "-A"}},
		{"check -A", unmetered, []string{"check", "-A"}},
		{"health one stack", one, []string{"health", "deployment/app-0", "-n", fixed + "-0"}},
		{"metrics one stack", one, []string{"metrics", "deployment/app-0", "-n", fixed + "-0"}},
		{"impact one stack", one, []string{"impact", "deployment/app-0", "-n", fixed + "-0"}},
		{"check one stack", one, []string{"check", "deployment/app-0", "-n", fixed + "-0"}},
	}
}

func (b *bench) questions(ctx context.Context, objects int) error {
	for _, q := range questions() {
		if !strings.Contains(q.name, b.only) {
			continue
		}
		programs := []string{b.programs.floor, b.programs.sysop}
		if b.against != "" {
			programs = append(programs, b.against)
		}
		for _, program := range programs {
			args := append(slices.Clone(q.args), "--timings")
			if program == b.programs.floor {
				args = q.floor
			}
			m, err := b.repeat(ctx, program, args)
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %d | %s | %d | %.1f | %.3f | %.1f | %.3f |\n",
				q.name, objects, filepath.Base(program), m.requests, float64(m.bytes)/1e6, m.cpu, m.rss, m.wall)
		}
	}
	return nil
}
