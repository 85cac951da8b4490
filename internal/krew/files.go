package krew

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// everything is what files is where it is left out.
func everything() []File { return []File{{From: "*", To: "."}} }

// half is a rule that krew refuses.
func (f File) half() bool { return f.From == "" || f.To == "" }

// Move is a file of an archive and where it is installed. Both are paths with slashes, the
// one in the archive, the other below the folder of the plugin's version.
type Move struct{ From, To string }

// Installed is what becomes of the entries of an archive: a move for each file. The rules of
// files are applied in order, as krew does: what one rule has moved the next no longer finds.
// A rule that finds nothing, or that moves something out of the folder, is an error.
func (p Platform) Installed(entries []Entry) ([]Move, error) {
	rules := p.Files
	if rules == nil {
		rules = everything()
	}
	left := filesOf(entries)
	var moves []Move
	for _, rule := range rules {
		targets, err := targets(left, rule)
		if err != nil {
			return nil, err
		}
		for _, t := range targets {
			left = slices.DeleteFunc(left, func(file string) bool {
				rest, ok := cutPath(file, t.From)
				if ok {
					to := path.Join(t.To, rest)
					moves = slices.DeleteFunc(moves, func(m Move) bool { return m.To == to })
					moves = append(moves, Move{file, to})
				}
				return ok
			})
		}
	}
	return moves, nil
}

func filesOf(entries []Entry) []string {
	var files []string
	for _, e := range entries {
		if !e.Mode.IsDir() {
			files = append(files, e.Name)
		}
	}
	return files
}

// targets are the files and folders that a rule finds, and where it moves them.
func targets(files []string, rule File) ([]Move, error) {
	if clean := path.Clean(rule.To); clean != rule.To {
		return nil, fmt.Errorf("to: %q must be written %q", rule.To, clean)
	}
	from := path.Clean(rule.From)
	if !inside(from) || !inside(rule.To) {
		return nil, fmt.Errorf("from %q to %q leads out of the directory", rule.From, rule.To)
	}
	if slices.ContainsFunc(files, func(f string) bool { _, ok := cutPath(f, from); return ok }) {
		to := rule.To
		if to == "." {
			to = path.Base(from)
		}
		return []Move{{from, to}}, nil
	}
	var found []Move
	for _, f := range files {
		// A glob finds what has as many parts as it has itself: a folder with all in it.
		parts := strings.Split(f, "/")
		depth := strings.Count(from, "/") + 1
		if len(parts) < depth {
			continue
		}
		name := strings.Join(parts[:depth], "/")
		ok, err := path.Match(from, name)
		if err != nil {
			return nil, fmt.Errorf("from: %q is not a glob: %w", rule.From, err)
		}
		if m := (Move{name, path.Join(rule.To, path.Base(name))}); ok && !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("from: %q finds nothing in the archive", rule.From)
	}
	return found, nil
}

// cutPath says whether a file is at or below a path, and what is left of it then.
func cutPath(file, at string) (string, bool) {
	if at == "." {
		return file, true
	}
	if file == at {
		return "", true
	}
	return strings.CutPrefix(file, at+"/")
}

// inside says whether a clean path stays below where it begins.
func inside(name string) bool {
	return name != ".." && !strings.HasPrefix(name, "../") && !strings.HasPrefix(name, "/")
}
