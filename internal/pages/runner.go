package pages

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Runner runs the commands of pages.
type Runner struct {
	// Plugin is the binary for kubectl-sysop and kubectl_complete-sysop on the PATH.
	Plugin string
	// Kubectl is the kubectl on the PATH. By default it is a script that supports only "kubectl
	// sysop".
	Kubectl string
	// Kubeconfig is that of a cluster. By default it names a file that does not exist.
	Kubeconfig string
	// Env has further variables, NAME=VALUE.
	Env []string
	// Timeout limits one command of a console block, or one script; 0 is a minute.
	Timeout time.Duration
	// Update writes different output into the page instead of reporting it.
	Update bool
}

// Result is the result of a page.
type Result struct {
	// Ran counts the commands of console blocks and the scripts that were run.
	Ran int
	// Findings are the differences. After a command that failed or hung, the rest of the page is
	// not run.
	Findings []Finding
	// Updated lists the changes that Update made in the file.
	Updated []Finding
}

// Run runs a page, whether or not it needs a cluster. The error is of the runner itself (no bash,
// no directory); errors in the page are in the result.
func (r Runner) Run(ctx context.Context, p Page) (Result, error) {
	dir, err := os.MkdirTemp("", "page-")
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := r.furnish(dir, p.Root); err != nil {
		return Result{}, fmt.Errorf("directory of %s: %w", p.Path, err)
	}
	s, err := newSession(ctx, dir, r.environment(dir))
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	run := pageRun{runner: r, page: p, session: s, dir: filepath.Join(dir, "work")}
	if err := run.blocks(); err != nil {
		return run.result, err
	}
	return run.result, run.write()
}

// pageRun is a run of a page.
type pageRun struct {
	runner  Runner
	page    Page
	session *session
	dir     string
	result  Result
	// written is the new text between the fences of a block, by its line.
	written map[int]string
}

func (r *pageRun) find(line int, format string, args ...any) {
	r.result.Findings = append(r.result.Findings, Finding{r.page.Path, line, fmt.Sprintf(format, args...)})
}

// blocks runs them in turn, up to the first command with an unexpected end.
func (r *pageRun) blocks() error {
	for _, b := range r.page.Blocks {
		switch {
		case b.File != "":
			name := filepath.Join(r.dir, filepath.FromSlash(b.File))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(name, []byte(b.Text), 0o644); err != nil {
				return err
			}
		case !b.Commands() || b.Elsewhere != "":
		case b.Foreign != "" && !runsHere(b.Foreign):
			if err := r.syntax(b); err != nil {
				return err
			}
		default:
			if goesOn, err := r.block(b); err != nil || !goesOn {
				return err
			}
		}
	}
	return nil
}

// runsHere reports whether an optional tool is run if it is installed.
func runsHere(tool string) bool {
	if tool != "openssl" {
		return false
	}
	_, err := exec.LookPath(tool)
	return err == nil
}

// syntax checks the syntax of commands with bash.
func (r *pageRun) syntax(b Block) error {
	for _, s := range b.steps() {
		check := exec.CommandContext(r.session.ctx, "bash", "-n")
		check.Stdin = strings.NewReader(s.text)
		out, err := check.CombinedOutput()
		if err != nil && check.ProcessState == nil {
			return err
		}
		if err != nil || len(out) > 0 {
			r.find(s.line, "bash cannot read it: %s", bytes.TrimSpace(out))
		}
	}
	return nil
}

// block runs the commands of a block, and reports whether to continue with the page.
func (r *pageRun) block(b Block) (bool, error) {
	text := strings.Split(b.Text, "\n")
	var out []string
	from := 0
	for _, s := range b.steps() {
		r.result.Ran++
		o, err := r.session.run(s.text, s.fails, r.timeout())
		if err != nil {
			return false, err
		}
		if !r.ended(s, o) {
			return false, nil
		}
		if b.Language != "console" {
			continue
		}
		got := trimmed(strings.Split(o.output, "\n"))
		out = append(out, text[from:s.last-b.Line]...)
		from = s.last - b.Line + len(s.want)
		if ok, at := matches(s.want, got); !ok {
			out = append(out, r.differs(s, got, at)...)
		} else {
			out = append(out, s.want...)
		}
	}
	if now := strings.Join(append(out, text[from:]...), "\n"); r.runner.Update && b.Language == "console" && now != b.Text {
		if r.written == nil {
			r.written = map[int]string{}
		}
		r.written[b.Line] = now
	}
	return true, nil
}

func (r *pageRun) timeout() time.Duration {
	if r.runner.Timeout > 0 {
		return r.runner.Timeout
	}
	return time.Minute
}

// ended reports whether a command ended as expected, and records a finding if not.
func (r *pageRun) ended(s step, o outcome) bool {
	// A failure in a function of another script has a line number outside of this one.
	line, lines := s.line, strings.Split(s.text, "\n")
	if o.at > 1 && o.at <= len(lines) {
		line += o.at - 1
	}
	command := strings.TrimSpace(lines[line-s.line])
	switch {
	case o.hung:
		r.find(s.line, "%s: it has not ended after %v, and was ended; it wrote\n%s", strings.TrimSpace(s.text), r.timeout(), o.output)
	case o.over:
		r.find(line, "%s: it ended the session with code %d; it wrote\n%s", command, o.code, o.output)
	case s.fails && o.code == 0:
		r.find(s.last, "%s: it has to fail, and ended with 0; it wrote\n%s", strings.TrimSpace(s.text), o.output)
	default:
		return true
	}
	return false
}

// differs records different output, or updates it, and returns the new output for the page.
func (r *pageRun) differs(s step, got []string, at int) []string {
	if r.runner.Update {
		now := renewed(s.want, got)
		message := "$ " + strings.TrimSpace(s.text) + ": its output was updated"
		if slices.ContainsFunc(s.want, elided) {
			message += `, without its former lines "...": restore them where needed`
		}
		r.result.Updated = append(r.result.Updated, Finding{r.page.Path, s.line, message})
		return now
	}
	message := "there is more output than the page has"
	if at < len(s.want) {
		message = "not found: " + s.want[at]
	}
	r.find(min(s.last+1+at, s.last+max(len(s.want), 1)), "$ %s\n%s\ngot\n%s\nwant\n%s\n(-update writes it)", strings.TrimSpace(s.text), message, indent(got), indent(s.want))
	return s.want
}

func indent(lines []string) string {
	if len(lines) == 0 {
		return "    (nothing)"
	}
	return "    " + strings.Join(lines, "\n    ")
}

// write writes the updates into the file.
func (r *pageRun) write() error {
	if len(r.written) == 0 {
		return nil
	}
	eol := "\n"
	if bytes.Contains(r.page.Source, []byte("\r\n")) {
		eol = "\r\n"
	}
	lines := strings.Split(strings.ReplaceAll(string(r.page.Source), "\r\n", "\n"), "\n")
	var out []string
	from := 0
	for _, b := range r.page.Blocks {
		text, ok := r.written[b.Line]
		if !ok {
			continue
		}
		out = append(out, lines[from:b.content[0]]...)
		for line := range strings.Lines(text) {
			out = append(out, strings.TrimRight(b.prefix+strings.TrimSuffix(line, "\n"), " "))
		}
		from = b.content[1]
	}
	out = append(out, lines[from:]...)
	return os.WriteFile(filepath.Join(r.page.Root, filepath.FromSlash(r.page.Path)), []byte(strings.Join(out, eol)), 0o644)
}
