// Package hint adds remedies to errors: what to type, which flag helps, which page to read.
package hint

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Error is an error with a remedy.
type Error struct {
	error
	Text string
}

// Unwrap returns the error without its remedy.
func (e *Error) Unwrap() error { return e.error }

// With adds a remedy to an error.
func With(err error, text string) error { return &Error{err, text} }

// For returns the remedy of an error; empty if none is known.
func For(err error) string {
	if hinted, ok := errors.AsType[*Error](err); ok {
		return hinted.Text
	}
	if _, ok := errors.AsType[*source.ConnectError](err); ok {
		return "check --kubeconfig and --context, or try it without a cluster: --from demo"
	}
	return ""
}

// Lines is several errors, a line each.
type Lines struct{ Lines []string }

func (e *Lines) Error() string { return strings.Join(e.Lines, "; ") }

// Placed writes problems with their places, a line each.
func Placed(name string, problems []strict.Problem) []string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", name, p.Line, p.Column, p.Message))
	}
	return lines
}
