package app

import (
	"context"
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
)

// Objects reads what surrounds the named objects and returns their nodes. Each argument must name
// exactly one object.
func (c *Input) Objects(ctx context.Context, args []string, opts graph.StackOptions) (*Session, *graph.Graph, []graph.ID, error) {
	s, err := c.Open(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	var roots []Root
	for _, a := range args {
		r, err := ParseRoots([]string{a}, s.Kinds)
		if err != nil {
			return nil, nil, nil, err
		}
		if r[0].Name == "" || r[0].Group != "" && r[0].Group != graph.BySystem {
			return nil, nil, nil, fmt.Errorf("%q is not an object: expected TYPE/NAME", a)
		}
		r[0].Missing = c.Named
		roots = append(roots, r[0])
	}
	g, err := s.Read(ctx, s.Query(roots), func(g *graph.Graph) []graph.ID { return s.Resolve(g, roots, nil) }, opts)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := s.Missing(g, roots, nil); err != nil {
		return nil, nil, nil, err
	}
	s.ReportGaps(g)
	var ids []graph.ID
	for _, r := range roots {
		if r.Group == graph.BySystem {
			id, err := s.SingleManager(g, r)
			if err != nil {
				return nil, nil, nil, err
			}
			ids = append(ids, id)
			continue
		}
		ids = append(ids, s.Nodes(g, r, nil)[0])
	}
	return s, g, ids, nil
}
