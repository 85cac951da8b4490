package completion

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
)

// Entries offers entries of the catalogs, and behind "@" their versions, newest first. No cluster is
// asked for it, and nothing is fetched: of further catalogs what is here.
func Entries(options func() catalogs.Options, wanted func(catalog.Entry) bool) Completer {
	return func(ctx context.Context, s *Shell, args []string, typed string) Answer {
		name, _, versions := strings.Cut(typed, "@")
		return Answer{Ordered: versions, Words: s.Within(ctx, func(ctx context.Context) []string {
			entries := knownEntries(ctx, options())
			if versions {
				return versionsOf(entries, name, typed)
			}
			var out []string
			for _, e := range entries {
				if wanted(e) && !slices.ContainsFunc(args, func(a string) bool { return a == e.Name || strings.HasPrefix(a, e.Name+"@") }) {
					out = append(out, e.Name+"\t"+e.Title)
				}
			}
			return Beginning(out, typed)
		})}
	}
}

// knownEntries are the entries that are known without a request.
func knownEntries(ctx context.Context, local catalogs.Options) []catalog.Entry {
	local.Offline = true
	skip := func(catalogs.Source, error) error { return nil } // The others are offered all the same.
	if cats, err := catalogs.Load(ctx, local, skip); err == nil {
		return cats.Entries()
	}
	return catalog.All()
}

// versionsOf are NAME@VERSION, newest first.
func versionsOf(entries []catalog.Entry, name, typed string) []string {
	i := slices.IndexFunc(entries, func(e catalog.Entry) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	var out []string
	for _, v := range entries[i].NewestFirst() {
		if word := name + "@" + v.Version; strings.HasPrefix(word, typed) {
			out = append(out, word)
		}
	}
	return out
}

// Installed offers what was installed.
func Installed(ctx context.Context, s *Shell, _ []string, typed string) Answer {
	return Answer{Words: s.ask(ctx, typed, func(ctx context.Context, w *Source) []string { return w.Installed(ctx) })}
}

// Upgrades offers what was installed, and behind "@" the versions of entries.
func Upgrades(entries Completer) Completer {
	return func(ctx context.Context, s *Shell, args []string, typed string) Answer {
		if strings.Contains(typed, "@") {
			return entries(ctx, s, args, typed)
		}
		installed := Installed(ctx, s, args, typed).Words
		return Answer{Words: slices.DeleteFunc(installed, func(name string) bool { return slices.Contains(args, name) })}
	}
}
