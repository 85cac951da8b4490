package render

import (
	"io"

	// page is the name of a format here.
	pages "github.com/kubectl-sysop/kubectl-sysop/internal/page"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// html writes the page, or an invoice, as one file.
func html(w io.Writer, a view.Output, _ Options) error {
	if a.Invoice != nil {
		return invoice(w, a.Invoice)
	}
	return pages.File(w, a.UIState)
}
