package completion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

const (
	// PluginName is the file that kubectl runs for kubectl sysop.
	PluginName = "kubectl-sysop"
	// CompleterName is the file that kubectl runs to complete it.
	CompleterName = "kubectl_complete-sysop"
	// requestCommand is the command of cobra that answers a shell.
	requestCommand = "__complete"
)

// Published are the commands that have a plugin of their own: the aliases of plugins.yaml.
func Published() []string {
	return []string{"stacks", "graph", "health", "metrics", "check", "regulate"}
}

// Links are the files by which kubectl finds the completion of the plugin, and commands as plugins
// of their own.
type Links struct {
	Program string // the name that the binary was called by
	Dir     string // empty for that of the plugin
	Aliases bool   // also make plugins of the published commands
	Force   bool   // replace files that are not such links
	Windows bool
}

// Changed says which files are links, and which of them were written or removed.
type Changed struct {
	Dir            string
	Files, Written []string
}

// plugin is the file of the plugin, by the name that it was called by: links are not followed,
// since krew's is moved by an upgrade.
func (o *Links) plugin() (string, error) {
	program := cmp.Or(o.Program, PluginName)
	if !strings.ContainsAny(program, `/\`) {
		found, err := exec.LookPath(program)
		if err != nil {
			return "", hint.With(fmt.Errorf("find the plugin: %w", err), "name its directory with --dir")
		}
		program = found
	}
	return filepath.Abs(program)
}

// link is one file that is written.
type link struct {
	name string
	// target is the name of the plugin beside it, or its path.
	target string
	// args stand before those of the user, where a link cannot say which command is meant.
	args string
}

// directory returns the directory of the links, and their target.
func (o *Links) directory() (dir, target string, err error) {
	if o.Dir != "" {
		if dir, err = filepath.Abs(o.Dir); err != nil {
			return "", "", err
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return "", "", hint.With(fmt.Errorf("--dir %s: no such directory", o.Dir), "name a directory that exists and is on PATH")
		}
	}
	plugin, failed := o.plugin()
	if dir == "" {
		if failed != nil {
			return "", "", failed
		}
		dir = filepath.Dir(plugin)
	}
	sibling := o.file(PluginName)
	if fileExists(filepath.Join(dir, sibling)) {
		return dir, sibling, nil
	}
	if failed == nil && filepath.Base(plugin) == sibling {
		return dir, plugin, nil
	}
	return "", "", hint.With(fmt.Errorf("there is no %s in %s", sibling, dir), "kubectl runs the plugin by that name; --dir names its directory")
}

// file is the name of an executable.
func (o *Links) file(name string) string {
	if o.Windows {
		return name + ".exe"
	}
	return name
}

func fileExists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// links returns the links to write into a directory.
func (o *Links) links(dir, target string) []link {
	out := []link{{CompleterName, target, requestCommand}}
	for _, command := range Published() {
		alias, completer := PluginName+"_"+command, CompleterName+"_"+command
		switch file := o.file(alias); {
		case fileExists(filepath.Join(dir, file)) && !o.ours(dir, link{name: alias, target: target, args: command}):
			// The link of another installer, such as krew: it finds its command by its own name.
			out = append(out, link{completer, file, requestCommand})
		case o.Aliases || fileExists(filepath.Join(dir, o.written(alias))):
			out = append(out, link{alias, target, command}, link{completer, target, requestCommand + " " + command})
		}
	}
	return out
}

// written is the name of the file of a link.
func (o *Links) written(name string) string {
	if o.Windows {
		return name + ".cmd"
	}
	return name
}

// script is the command file that replaces a link on Windows, where a hard link would keep the
// binary from before an upgrade.
func (l link) script() string {
	target := l.target
	if !strings.ContainsAny(target, `/\`) {
		target = "%~dp0" + target
	}
	return "@\"" + target + "\" " + l.args + " %*\r\n"
}

// formerScript is what "make install" used to write.
const formerScript = "#!/bin/sh\nexec kubectl-sysop __complete \"$@\"\n"

// ours says whether the file of a link is one that was written here.
func (o *Links) ours(dir string, l link) bool {
	file := filepath.Join(dir, o.written(l.name))
	if o.Windows {
		text, err := os.ReadFile(file)
		return err == nil && strings.HasPrefix(string(text), "@\"") && strings.Contains(string(text), PluginName) && strings.HasSuffix(string(text), l.args+" %*\r\n")
	}
	if target, err := os.Readlink(file); err == nil {
		completer := strings.HasPrefix(l.name, CompleterName) && strings.HasPrefix(filepath.Base(target), PluginName)
		return completer || target == l.target
	}
	text, err := os.ReadFile(file)
	return err == nil && string(text) == formerScript
}

// isDone says whether a link is as it would be written.
func (o *Links) isDone(dir string, l link) bool {
	file := filepath.Join(dir, o.written(l.name))
	if o.Windows {
		text, err := os.ReadFile(file)
		return err == nil && string(text) == l.script()
	}
	target, err := os.Readlink(file)
	return err == nil && target == l.target
}

// Install writes all links, or none. A file that is no such link is replaced by Force alone.
func (o *Links) Install(ctx context.Context) (Changed, error) {
	dir, target, err := o.directory()
	if err != nil {
		return Changed{}, err
	}
	all := o.links(dir, target)
	var refused hint.Lines
	for _, l := range all {
		file := filepath.Join(dir, o.written(l.name))
		info, err := os.Lstat(file)
		switch {
		case err == nil && info.IsDir():
			refused.Lines = append(refused.Lines, file+" is a directory")
		case err == nil && !o.Force && !o.ours(dir, l):
			refused.Lines = append(refused.Lines, file+" exists, and is not a link to the plugin")
		}
	}
	if len(refused.Lines) > 0 {
		return Changed{}, hint.With(&refused, "nothing was written; move it away, or use --force to replace it")
	}
	done, err := o.writeAll(ctx, dir, all)
	if err != nil {
		o.takeBack(dir, done)
		err = fmt.Errorf("write into %s: %w", dir, err)
		if errors.Is(err, fs.ErrPermission) {
			return Changed{}, hint.With(err, "run it as a user with write permission, or name another directory on PATH with --dir")
		}
		return Changed{}, err
	}
	out := Changed{Dir: dir}
	for _, l := range all {
		file := filepath.Join(dir, o.written(l.name))
		out.Files = append(out.Files, file)
		if slices.Contains(done, l) {
			out.Written = append(out.Written, file)
		}
	}
	return out, nil
}

// writeAll writes the links that are not as they should be, and returns those.
func (o *Links) writeAll(ctx context.Context, dir string, all []link) (done []link, err error) {
	for _, l := range all {
		if o.isDone(dir, l) {
			continue
		}
		if err := cmp.Or(ctx.Err(), o.write(dir, l)); err != nil {
			return done, err
		}
		done = append(done, l)
	}
	return done, nil
}

// takeBack removes links that were written before one could not be.
func (o *Links) takeBack(dir string, done []link) {
	for _, l := range done {
		_ = os.Remove(filepath.Join(dir, o.written(l.name))) // what went wrong before says more
	}
}

// write writes one link beside its place, and then puts it there.
func (o *Links) write(dir string, l link) error {
	scratch, err := os.MkdirTemp(dir, ".kubectl-sysop-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	file := filepath.Join(scratch, o.written(l.name))
	if o.Windows {
		err = os.WriteFile(file, []byte(l.script()), 0o755) //nolint:gosec // it is a command
	} else {
		err = os.Symlink(l.target, file)
	}
	if err != nil {
		return err
	}
	return os.Rename(file, filepath.Join(dir, o.written(l.name)))
}

// Uninstall removes the links; the result names those that were removed, also with an error.
func (o *Links) Uninstall() (Changed, error) {
	dir, target, err := o.directory()
	if err != nil {
		return Changed{}, err
	}
	out := Changed{Dir: dir}
	for _, command := range append([]string{""}, Published()...) {
		links := []link{{CompleterName, target, requestCommand}}
		if command != "" {
			links = []link{{CompleterName + "_" + command, target, ""}, {PluginName + "_" + command, target, command}}
		}
		for _, l := range links {
			file := filepath.Join(dir, o.written(l.name))
			if !fileExists(file) || !o.ours(dir, l) {
				continue
			}
			if err := os.Remove(file); err != nil {
				return out, fmt.Errorf("remove the links: %w", err)
			}
			out.Written = append(out.Written, file)
		}
	}
	return out, nil
}

// OnPath says whether a directory is on PATH.
func OnPath(path, dir string) bool {
	return slices.ContainsFunc(filepath.SplitList(path), func(p string) bool {
		if p == dir {
			return true
		}
		a, errA := os.Stat(p)
		b, errB := os.Stat(dir)
		return errA == nil && errB == nil && os.SameFile(a, b)
	})
}
