package standin

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/krew"
)

// detached is the index of what was installed from a manifest.
const detached = "detached"

// defaultIndex is the one that names without an index mean.
const defaultIndex = "default"

// plugin is a manifest, and the index that it is from.
type plugin struct {
	krew.Manifest
	index string
}

// full is how krew calls it: an index of one's own before the name.
func (p plugin) full() string {
	if p.index == defaultIndex {
		return p.Metadata.Name
	}
	return p.index + "/" + p.Metadata.Name
}

// receipt is a manifest as it was when it was installed, and where it was from.
type receipt struct {
	krew.Manifest
	Status struct {
		Source struct {
			Name string `json:"name"`
		} `json:"source"`
	} `json:"status"`
}

// read reads a manifest, and refuses it as krew does. The file is the name that it is to have:
// of a manifest that is given by itself it is the plugin's own.
func read(path, index string) (plugin, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return plugin{}, err
	}
	m, err := krew.Parse(text)
	if err != nil {
		return plugin{}, fmt.Errorf("%s: %w", path, err)
	}
	file := filepath.Base(path)
	if index == detached {
		file = m.Metadata.Name + krew.Extension
	}
	var errs []error
	for _, f := range krew.Lint(file, text, nil) {
		if f.Rule.By == krew.Krew {
			errs = append(errs, fmt.Errorf("%s: plugin manifest validation error: %s", path, f))
		}
	}
	return plugin{m, index}, errors.Join(errs...)
}

// find finds a plugin by NAME or INDEX/NAME.
func (k *Krew) find(name string) (plugin, error) {
	index, short, ok := strings.Cut(name, "/")
	if !ok {
		index, short = defaultIndex, name
	}
	p, err := read(filepath.Join(k.index(index), "plugins", short+krew.Extension), index)
	if errors.Is(err, fs.ErrNotExist) {
		return plugin{}, fmt.Errorf("plugin %q does not exist in the plugin index", name)
	}
	return p, err
}

// installed is the receipt of a plugin; there may be none.
func (k *Krew) installed(name string) (plugin, bool, error) {
	text, err := os.ReadFile(k.receipt(name))
	if errors.Is(err, fs.ErrNotExist) {
		return plugin{}, false, nil
	}
	if err != nil {
		return plugin{}, false, err
	}
	var r receipt
	if err := yaml.Unmarshal(text, &r); err != nil {
		return plugin{}, false, fmt.Errorf("%s: %w", k.receipt(name), err)
	}
	return plugin{r.Manifest, r.Status.Source.Name}, true, nil
}

// all are the plugins that are installed, in the order of their names.
func (k *Krew) all() ([]plugin, error) {
	names, err := entriesOf(filepath.Join(k.Root, "receipts"))
	if err != nil {
		return nil, err
	}
	var plugins []plugin
	for _, name := range names {
		p, ok, err := k.installed(strings.TrimSuffix(name, krew.Extension))
		if err != nil {
			return nil, err
		}
		if ok {
			plugins = append(plugins, p)
		}
	}
	slices.SortFunc(plugins, func(a, b plugin) int { return cmp.Compare(a.Metadata.Name, b.Metadata.Name) })
	return plugins, nil
}

func (k *Krew) writeReceipt(p plugin) error {
	r := receipt{Manifest: p.Manifest}
	r.Status.Source.Name = p.index
	text, err := yaml.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(k.receipt(p.Metadata.Name), text, 0o644)
}

// platform is the first that is for this one.
func (k *Krew) platform(p plugin) (krew.Platform, bool) {
	for _, candidate := range p.Spec.Platforms {
		if candidate.Selects(k.Platform) {
			return candidate, true
		}
	}
	return krew.Platform{}, false
}
