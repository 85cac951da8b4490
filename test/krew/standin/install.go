package standin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

func (k *Krew) runInstall(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("install", flag.ContinueOnError)
	manifest := flags.String("manifest", "", "")
	archive := flags.String("archive", "", "")
	noUpdate := flags.Bool("no-update-index", false, "")
	names, err := parse(flags, args)
	switch {
	case err != nil:
		return err
	case *manifest != "" && len(names) > 0:
		return errors.New("want either names of plugins or --manifest, not both")
	case *archive != "" && *manifest == "":
		return errors.New("--archive can be specified only with --manifest or --manifest-url")
	case *manifest == "" && len(names) == 0:
		return errors.New("want the name of a plugin")
	}
	var plugins []plugin
	if *manifest != "" {
		p, err := read(*manifest, detached)
		if err != nil {
			return fmt.Errorf("failed to load custom manifest file: %w", err)
		}
		plugins = append(plugins, p)
	} else if !*noUpdate {
		if err := k.update(ctx); err != nil {
			return err
		}
	}
	for _, name := range names {
		p, err := k.find(name)
		if err != nil {
			return err
		}
		plugins = append(plugins, p)
	}
	var failed []string
	for _, p := range plugins {
		if err := k.install(ctx, p, *archive); err != nil {
			fmt.Fprintf(k.Err, "W failed to install plugin %q: %v\n", p.Metadata.Name, err)
			failed = append(failed, p.Metadata.Name)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed to install some plugins: %v", failed)
	}
	return nil
}

// install installs what is not installed yet, from an archive if one is given.
func (k *Krew) install(ctx context.Context, p plugin, archive string) error {
	name := p.Metadata.Name
	_, there, err := k.installed(name)
	if err != nil {
		return err
	}
	if there {
		fmt.Fprintf(k.Err, "W Skipping plugin %q, it is already installed\n", name)
		return nil
	}
	fmt.Fprintf(k.Err, "Installing plugin: %s\n", name)
	if err := k.place(ctx, p, archive); err != nil {
		return err
	}
	if err := k.writeReceipt(p); err != nil {
		return err
	}
	fmt.Fprintf(k.Err, "Installed plugin: %s\n", name)
	fmt.Fprintln(k.Err, k.usage(p))
	return nil
}

// usage is what who has just installed a plugin reads.
func (k *Krew) usage(p plugin) string {
	text := "Use this plugin:\n\tkubectl " + p.Metadata.Name + "\n"
	if p.Spec.Homepage != "" {
		text += "Documentation:\n\t" + p.Spec.Homepage + "\n"
	}
	if p.Spec.Caveats != "" {
		text += "Caveats:\n" + indented(p.Spec.Caveats) + "\n"
	}
	return indented(text)
}

var lineStart = regexp.MustCompile("(?m)^")

func indented(text string) string {
	return "\\\n" + lineStart.ReplaceAllString(strings.TrimSpace(text), " | ") + "\n/"
}

// place unpacks a plugin into the store and links it.
func (k *Krew) place(ctx context.Context, p plugin, archive string) error {
	platform, ok := k.platform(p)
	if !ok {
		return fmt.Errorf("plugin %q does not offer installation for this platform (%s)", p.Metadata.Name, k.Platform)
	}
	data, err := fetch(ctx, platform, archive)
	if err != nil {
		return err
	}
	version := filepath.Join(k.store(p.Metadata.Name), p.Spec.Version)
	if err := unpack(data, platform, version); err != nil {
		return err
	}
	executable := filepath.Join(version, filepath.FromSlash(platform.Bin))
	inside, err := filepath.Rel(version, executable)
	if err != nil {
		return err
	}
	if !filepath.IsLocal(inside) {
		// krew says nothing either: there is no link, and the plugin counts as installed.
		return nil
	}
	return k.relink(executable, p.Metadata.Name)
}

// relink lets the plugin's name lead to an executable.
func (k *Krew) relink(executable, name string) error {
	link := k.link(name)
	if err := unlink(link); err != nil {
		return err
	}
	if _, err := os.Stat(executable); err != nil {
		return fmt.Errorf("can't create symbolic link, source binary (%q) cannot be found in extracted archive", executable)
	}
	target, err := filepath.Rel(k.bin(), executable)
	if err != nil {
		return err
	}
	return os.Symlink(target, link)
}

// unlink removes a link, if there is one. What is no link is somebody else's.
func unlink(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("file %q is not a symlink (mode=%s)", path, info.Mode())
	}
	return os.Remove(path)
}

func (k *Krew) runUpgrade(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("upgrade", flag.ContinueOnError)
	noUpdate := flags.Bool("no-update-index", false, "")
	names, err := parse(flags, args)
	if err != nil {
		return err
	}
	if !*noUpdate {
		if err := k.update(ctx); err != nil {
			return err
		}
	}
	if len(names) > 0 {
		for _, name := range names {
			if err := k.upgrade(ctx, name); err != nil {
				return fmt.Errorf("failed to upgrade plugin %q: %w", name, err)
			}
		}
		return nil
	}
	plugins, err := k.all()
	if err != nil {
		return err
	}
	for _, p := range plugins {
		err := k.upgrade(ctx, p.Metadata.Name)
		switch {
		case errors.Is(err, errNewest):
			fmt.Fprintf(k.Err, "Skipping plugin %s, it is already on the newest version\n", p.full())
		case err != nil:
			fmt.Fprintf(k.Err, "WARNING: failed to upgrade plugin %q, skipping (error: %v)\n", p.full(), err)
		}
	}
	return nil
}

var errNewest = errors.New("can't upgrade, the newest version is already installed")

// upgrade goes by the index that the plugin was installed from.
func (k *Krew) upgrade(ctx context.Context, name string) error {
	_, name = filepath.Split(name)
	old, ok, err := k.installed(name)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("plugin is not installed")
	}
	fresh, err := k.find(old.index + "/" + name)
	if err != nil {
		return err
	}
	if semver.Compare(fresh.Spec.Version, old.Spec.Version) <= 0 {
		return errNewest
	}
	fmt.Fprintf(k.Err, "Upgrading plugin: %s\n", fresh.full())
	if err := k.place(ctx, fresh, ""); err != nil {
		return err
	}
	if err := k.writeReceipt(fresh); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(k.store(name), old.Spec.Version)); err != nil {
		return err
	}
	fmt.Fprintf(k.Err, "Upgraded plugin: %s\n", fresh.full())
	return nil
}

func (k *Krew) runUninstall(args []string) error {
	if len(args) == 0 {
		return errors.New("want the name of a plugin")
	}
	for _, name := range args {
		_, there, err := k.installed(name)
		if err != nil {
			return err
		}
		if !there {
			return fmt.Errorf("failed to uninstall plugin %s: plugin is not installed", name)
		}
		if err := unlink(k.link(name)); err != nil {
			return err
		}
		if err := os.RemoveAll(k.store(name)); err != nil {
			return err
		}
		if err := os.Remove(k.receipt(name)); err != nil {
			return err
		}
		fmt.Fprintf(k.Err, "Uninstalled plugin: %s\n", name)
	}
	return nil
}
