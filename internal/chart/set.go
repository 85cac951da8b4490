package chart

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// connect writes Options.Set into an object.
func (p *splitter) connect(d document) error {
	ref := object.RefOf(d.object)
	values, ok := p.opts.Set[ref]
	if !ok {
		return nil
	}
	p.set[ref] = true
	for _, v := range values {
		if err := connection.Set(d.object, v.Field, v.Value); err != nil {
			return fmt.Errorf("%s: %w", d, err)
		}
	}
	return nil
}
