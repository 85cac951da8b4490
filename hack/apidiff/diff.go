package main

import (
	"fmt"
	"go/types"
	"io"
	"maps"
	"slices"

	"golang.org/x/exp/apidiff"
)

// difference is the result of a comparison of two checkouts.
type difference struct {
	packages []packageDiff // those that changed, by path
	same     int           // number of unchanged ones
	breaks   int
	adds     int
}

// packageDiff is what changed in a package.
type packageDiff struct {
	path         string
	gone, new    bool
	breaks, adds []string
}

// diff compares packages by their paths. A removed one is a breaking change.
func diff(before, now map[string]*types.Package) difference {
	paths := maps.Clone(before)
	maps.Copy(paths, now)
	var d difference
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		p := packageDiff{path: path, gone: now[path] == nil, new: before[path] == nil}
		switch {
		case p.gone:
			d.breaks++
		case p.new:
			d.adds++
		default:
			for _, c := range apidiff.Changes(before[path], now[path]).Changes {
				if c.Compatible {
					p.adds = append(p.adds, c.Message)
				} else {
					p.breaks = append(p.breaks, c.Message)
				}
			}
			if len(p.breaks)+len(p.adds) == 0 {
				d.same++
				continue
			}
			d.breaks += len(p.breaks)
			d.adds += len(p.adds)
		}
		d.packages = append(d.packages, p)
	}
	return d
}

func (d difference) write(out io.Writer, base string) {
	for _, p := range d.packages {
		switch {
		case p.gone:
			fmt.Fprintf(out, "%s is gone: breaks who imports it\n", p.path)
		case p.new:
			fmt.Fprintf(out, "%s is new\n", p.path)
		default:
			fmt.Fprintln(out, p.path)
			list(out, "breaks", p.breaks)
			list(out, "adds", p.adds)
		}
	}
	fmt.Fprintf(out, "since %s: %d incompatible, %d compatible, in %d of %d packages\n", base, d.breaks, d.adds, len(d.packages), len(d.packages)+d.same)
}

func list(out io.Writer, head string, messages []string) {
	if len(messages) == 0 {
		return
	}
	fmt.Fprintf(out, "  %s\n", head)
	for _, m := range messages {
		fmt.Fprintf(out, "    %s\n", m)
	}
}
