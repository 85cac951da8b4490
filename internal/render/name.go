package render

import (
	"fmt"
	"io"

	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// names writes an identifier a line, for a script to read.
func names(w io.Writer, a view.Output, _ Options) error {
	for _, n := range a.Names {
		if _, err := fmt.Fprintln(w, clean(n)); err != nil {
			return err
		}
	}
	return nil
}
