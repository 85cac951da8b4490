package standin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
)

var indexName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (k *Krew) indexes() ([]string, error) { return entriesOf(filepath.Join(k.Root, "index")) }

func (k *Krew) runIndex(ctx context.Context, args []string) error {
	switch {
	case len(args) == 3 && args[0] == "add":
		if err := k.addIndex(ctx, args[1], args[2]); err != nil {
			return err
		}
		fmt.Fprintf(k.Err, "WARNING: You have added a new index from %q\nThe plugins in this index are not audited for security by the Krew maintainers.\nInstall them at your own risk.\n", args[2])
		return nil
	case len(args) == 1 && args[0] == "list":
		return k.listIndexes(ctx)
	case len(args) == 2 && args[0] == "remove":
		return k.removeIndex(args[1])
	}
	return errors.New("want index add NAME URL, index list, or index remove NAME")
}

func (k *Krew) addIndex(ctx context.Context, name, url string) error {
	if !indexName.MatchString(name) {
		return errors.New("invalid index name")
	}
	if _, err := os.Stat(k.index(name)); err == nil {
		return errors.New("index already exists")
	}
	return git(ctx, "clone", "--quiet", url, k.index(name))
}

func (k *Krew) listIndexes(ctx context.Context) error {
	names, err := k.indexes()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, name := range names {
		url, err := exec.CommandContext(ctx, "git", "-C", k.index(name), "config", "--get", "remote.origin.url").Output()
		if err != nil {
			return fmt.Errorf("ask index %s where it is from: %w", name, err)
		}
		rows = append(rows, []string{name, strings.TrimSpace(string(url))})
	}
	return k.table([]string{"INDEX", "URL"}, rows)
}

func (k *Krew) removeIndex(name string) error {
	if !indexName.MatchString(name) {
		return errors.New("invalid index name")
	}
	plugins, err := k.all()
	if err != nil {
		return err
	}
	for _, p := range plugins {
		if p.index == name {
			return errors.New("there are still plugins installed from this index")
		}
	}
	if _, err := os.Stat(k.index(name)); err != nil {
		return fmt.Errorf("index %q does not exist", name)
	}
	return os.RemoveAll(k.index(name))
}

// update brings every index up to date, and gets the default one where there is none.
func (k *Krew) update(ctx context.Context) error {
	names, err := k.indexes()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if k.DefaultIndex == "" {
			return errors.New("there is no index, and the stand-in knows no address of one: set KREW_DEFAULT_INDEX_URI, or add an index")
		}
		return k.addIndex(ctx, defaultIndex, k.DefaultIndex)
	}
	for _, name := range names {
		if err := git(ctx, "-C", k.index(name), "fetch", "--quiet"); err != nil {
			return err
		}
		if err := git(ctx, "-C", k.index(name), "reset", "--quiet", "--hard", "@{upstream}"); err != nil {
			return err
		}
	}
	fmt.Fprintln(k.Err, "Updated the local copy of plugin index.")
	return nil
}

func git(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "git", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// available are the plugins of all indexes.
func (k *Krew) available() ([]plugin, error) {
	indexes, err := k.indexes()
	if err != nil {
		return nil, err
	}
	var plugins []plugin
	for _, index := range indexes {
		files, err := entriesOf(filepath.Join(k.index(index), "plugins"))
		if err != nil {
			return nil, fmt.Errorf("index %s: %w", index, err)
		}
		for _, f := range files {
			if filepath.Ext(f) != krew.Extension {
				continue
			}
			p, err := read(filepath.Join(k.index(index), "plugins", f), index)
			if err != nil {
				return nil, err
			}
			plugins = append(plugins, p)
		}
	}
	return plugins, nil
}

// runSearch finds by a part of the name; krew's own search is laxer.
func (k *Krew) runSearch(args []string) error {
	plugins, err := k.available()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, p := range plugins {
		if !strings.Contains(p.full(), strings.Join(args, "")) {
			continue
		}
		short := p.Spec.ShortDescription
		if len(short) > 50 {
			short = short[:47] + "..."
		}
		status := "no"
		old, there, err := k.installed(p.Metadata.Name)
		if err != nil {
			return err
		}
		if _, ok := k.platform(p); there && old.index == p.index {
			status = "yes"
		} else if !ok {
			status = "unavailable on " + k.Platform.String()
		}
		rows = append(rows, []string{p.full(), short, status})
	}
	if len(rows) == 0 {
		return nil
	}
	return k.table([]string{"NAME", "DESCRIPTION", "INSTALLED"}, rows)
}

// runList prints names alone: krew prints a table to a terminal.
func (k *Krew) runList([]string) error {
	plugins, err := k.all()
	if err != nil {
		return err
	}
	for _, p := range plugins {
		fmt.Fprintln(k.Out, p.full())
	}
	return nil
}

func (k *Krew) runInfo(args []string) error {
	if len(args) != 1 {
		return errors.New("want the name of one plugin")
	}
	p, err := k.find(args[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(k.Out, "NAME: %s\nINDEX: %s\n", p.Metadata.Name, p.index)
	if on, ok := k.platform(p); ok {
		fmt.Fprintf(k.Out, "URI: %s\nSHA256: %s\n", on.URI, on.SHA256)
	}
	fmt.Fprintf(k.Out, "VERSION: %s\nHOMEPAGE: %s\nDESCRIPTION: \n%s\n", p.Spec.Version, p.Spec.Homepage, p.Spec.Description)
	if p.Spec.Caveats != "" {
		fmt.Fprintf(k.Out, "CAVEATS:\n%s\n", indented(p.Spec.Caveats))
	}
	return nil
}

func (k *Krew) table(head []string, rows [][]string) error {
	w := tabwriter.NewWriter(k.Out, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}
