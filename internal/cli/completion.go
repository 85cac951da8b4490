package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
)

// addCompletion adds the kubectl plugin's completion to cobra's scripts for shells.
func addCompletion(env Env, root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == "completion" })
	cmd := root.Commands()[i]
	cmd.Short = "Set up shell completion"
	cmd.Long = `kubectl completes its own commands with its own script, and runs a file beside the
plugin, kubectl_complete-sysop, to complete what follows kubectl sysop. "completion
install" writes that file, which is a link to the plugin.

The other commands write scripts for those who run kubectl-sysop directly, without
kubectl. See docs/completion.md.`
	holds(cmd)
	cmd.AddCommand(newCompletionInstall(env), newCompletionUninstall(env))
}

// completionOptions are those of completion install and uninstall.
type completionOptions struct {
	env     Env
	dir     string
	aliases bool
	force   bool
	windows bool
}

func newCompletionInstall(env Env) *cobra.Command {
	o := &completionOptions{env: env, windows: runtime.GOOS == "windows"}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write the link that lets kubectl complete the plugin",
		Long: `Write the link kubectl_complete-sysop beside the plugin, to the name of the plugin, so
that it stays valid when krew upgrades the file behind that name. On Windows it is a
small command file. Single commands of the suite that are already installed as plugins
(kubectl-sysop_graph) get a link of their own; --aliases makes all of them.

A file that is no such link is not replaced, unless --force is given. Either all links
are written, or none.`,
		Example: `  # beside the plugin
  kubectl sysop completion install

  # with kubectl sysop-graph and the others as plugins of their own
  kubectl sysop completion install --aliases`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.install(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "the directory to write to, which should be on PATH (default: that of the plugin)")
	f.BoolVar(&o.aliases, "aliases", false, "also make separate plugins of the commands: "+strings.Join(published(), ", "))
	f.BoolVar(&o.force, "force", false, "replace files that are not such links")
	return cmd
}

func newCompletionUninstall(env Env) *cobra.Command {
	o := &completionOptions{env: env, windows: runtime.GOOS == "windows"}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the links of completion install",
		Example: `  # beside the plugin
  kubectl sysop completion uninstall`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return o.uninstall() },
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "the directory to remove them from (default: that of the plugin)")
	return cmd
}

// plugin is the file of the plugin, by the name that it was called by: links are not followed,
// since krew's is moved by an upgrade.
func (o *completionOptions) plugin() (string, error) {
	program := cmp.Or(o.env.Program, pluginName)
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
func (o *completionOptions) directory() (dir, target string, err error) {
	if o.dir != "" {
		if dir, err = filepath.Abs(o.dir); err != nil {
			return "", "", err
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return "", "", hint.With(fmt.Errorf("--dir %s: no such directory", o.dir), "name a directory that exists and is on PATH")
		}
	}
	plugin, failed := o.plugin()
	if dir == "" {
		if failed != nil {
			return "", "", failed
		}
		dir = filepath.Dir(plugin)
	}
	sibling := o.file(pluginName)
	if fileExists(filepath.Join(dir, sibling)) {
		return dir, sibling, nil
	}
	if failed == nil && filepath.Base(plugin) == sibling {
		return dir, plugin, nil
	}
	return "", "", hint.With(fmt.Errorf("there is no %s in %s", sibling, dir), "kubectl runs the plugin by that name; --dir names its directory")
}

// file is the name of an executable.
func (o *completionOptions) file(name string) string {
	if o.windows {
		return name + ".exe"
	}
	return name
}

func fileExists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// links returns the links to write into a directory.
func (o *completionOptions) links(dir, target string) []link {
	out := []link{{completerName, target, cobra.ShellCompRequestCmd}}
	for _, command := range published() {
		alias, completer := pluginName+"_"+command, completerName+"_"+command
		switch file := o.file(alias); {
		case fileExists(filepath.Join(dir, file)) && !o.ours(dir, link{name: alias, target: target, args: command}):
			// The link of another installer, such as krew: it finds its command by its own name.
			out = append(out, link{completer, file, cobra.ShellCompRequestCmd})
		case o.aliases || fileExists(filepath.Join(dir, o.written(alias))):
			out = append(out, link{alias, target, command}, link{completer, target, cobra.ShellCompRequestCmd + " " + command})
		}
	}
	return out
}

// written is the name of the file of a link.
func (o *completionOptions) written(name string) string {
	if o.windows {
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
func (o *completionOptions) ours(dir string, l link) bool {
	file := filepath.Join(dir, o.written(l.name))
	if o.windows {
		text, err := os.ReadFile(file)
		return err == nil && strings.HasPrefix(string(text), "@\"") && strings.Contains(string(text), pluginName) && strings.HasSuffix(string(text), l.args+" %*\r\n")
	}
	if target, err := os.Readlink(file); err == nil {
		completer := strings.HasPrefix(l.name, completerName) && strings.HasPrefix(filepath.Base(target), pluginName)
		return completer || target == l.target
	}
	text, err := os.ReadFile(file)
	return err == nil && string(text) == formerScript
}

// isDone says whether a link is as it would be written.
func (o *completionOptions) isDone(dir string, l link) bool {
	file := filepath.Join(dir, o.written(l.name))
	if o.windows {
		text, err := os.ReadFile(file)
		return err == nil && string(text) == l.script()
	}
	target, err := os.Readlink(file)
	return err == nil && target == l.target
}

func (o *completionOptions) install(ctx context.Context) error {
	dir, target, err := o.directory()
	if err != nil {
		return err
	}
	all := o.links(dir, target)
	var refused hint.Lines
	for _, l := range all {
		file := filepath.Join(dir, o.written(l.name))
		info, err := os.Lstat(file)
		switch {
		case err == nil && info.IsDir():
			refused.Lines = append(refused.Lines, file+" is a directory")
		case err == nil && !o.force && !o.ours(dir, l):
			refused.Lines = append(refused.Lines, file+" exists, and is not a link to the plugin")
		}
	}
	if len(refused.Lines) > 0 {
		return hint.With(&refused, "nothing was written; move it away, or use --force to replace it")
	}
	done, err := o.writeAll(ctx, dir, all)
	if err != nil {
		o.takeBack(dir, done)
		err = fmt.Errorf("write into %s: %w", dir, err)
		if errors.Is(err, fs.ErrPermission) {
			return hint.With(err, "run it as a user with write permission, or name another directory on PATH with --dir")
		}
		return err
	}
	for _, l := range all {
		word := "is there"
		if slices.Contains(done, l) {
			word = "linked"
		}
		fmt.Fprintf(o.env.Out, "%s %s\n", word, safe(filepath.Join(dir, o.written(l.name))))
	}
	if !onPath(o.env.Getenv("PATH"), dir) {
		fmt.Fprintf(o.env.ErrOut, "note: %s is not on PATH: kubectl does not find it there\n", safe(dir))
	}
	return nil
}

// writeAll writes the links that are not as they should be, and returns those.
func (o *completionOptions) writeAll(ctx context.Context, dir string, all []link) (done []link, err error) {
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
func (o *completionOptions) takeBack(dir string, done []link) {
	for _, l := range done {
		_ = os.Remove(filepath.Join(dir, o.written(l.name))) // what went wrong before says more
	}
}

// write writes one link beside its place, and then puts it there.
func (o *completionOptions) write(dir string, l link) error {
	scratch, err := os.MkdirTemp(dir, ".kubectl-sysop-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	file := filepath.Join(scratch, o.written(l.name))
	if o.windows {
		err = os.WriteFile(file, []byte(l.script()), 0o755) //nolint:gosec // it is a command
	} else {
		err = os.Symlink(l.target, file)
	}
	if err != nil {
		return err
	}
	return os.Rename(file, filepath.Join(dir, o.written(l.name)))
}

func (o *completionOptions) uninstall() error {
	dir, target, err := o.directory()
	if err != nil {
		return err
	}
	found := false
	for _, command := range append([]string{""}, published()...) {
		links := []link{{completerName, target, cobra.ShellCompRequestCmd}}
		if command != "" {
			links = []link{{completerName + "_" + command, target, ""}, {pluginName + "_" + command, target, command}}
		}
		for _, l := range links {
			file := filepath.Join(dir, o.written(l.name))
			if !fileExists(file) || !o.ours(dir, l) {
				continue
			}
			if err := os.Remove(file); err != nil {
				return fmt.Errorf("remove the links: %w", err)
			}
			found = true
			fmt.Fprintf(o.env.Out, "removed %s\n", safe(file))
		}
	}
	if !found {
		fmt.Fprintf(o.env.ErrOut, "nothing was linked in %s\n", safe(dir))
	}
	return nil
}

// onPath says whether a directory is on PATH.
func onPath(path, dir string) bool {
	return slices.ContainsFunc(filepath.SplitList(path), func(p string) bool {
		if p == dir {
			return true
		}
		a, errA := os.Stat(p)
		b, errB := os.Stat(dir)
		return errA == nil && errB == nil && os.SameFile(a, b)
	})
}
