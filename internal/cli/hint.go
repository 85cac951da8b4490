package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// hintError is an error with a way out.
type hintError struct {
	error
	hint string
}

func (e *hintError) Unwrap() error { return e.error }

func withHint(err error, hint string) error { return &hintError{err, hint} }

// hintFor returns a way out of an error, where there is one to name.
func hintFor(err error) string {
	if hinted, ok := errors.AsType[*hintError](err); ok {
		return hinted.hint
	}
	if _, ok := errors.AsType[*source.ConnectError](err); ok {
		return "check --kubeconfig and --context, or try it without a cluster: --from demo"
	}
	return ""
}

// linesError is several errors, a line each.
type linesError struct{ lines []string }

func (e *linesError) Error() string { return strings.Join(e.lines, "; ") }

// placed writes problems with their places, a line each.
func placed(name string, problems []strict.Problem) []string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", name, p.Line, p.Column, p.Message))
	}
	return lines
}
