package app

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// maxBookBytes is more than any price book has.
const maxBookBytes = 16 << 20

// DefaultPrices names the default prices where a file is expected.
const DefaultPrices = "default"

// PriceBookHint is the hint of an error in a price book.
const PriceBookHint = "docs/price-book.md is the format; kubectl sysop prices show -o yaml writes a book to start from"

// ReadPrices reads the price book of --prices; the default prices where name is
// "default" or empty. Any problem refuses the book.
func ReadPrices(ctx context.Context, name string) (*cost.Book, error) {
	book, problems, err := ParsePrices(ctx, name)
	if len(problems) > 0 {
		return nil, hint.With(&hint.Lines{Lines: hint.Placed(name, problems)}, PriceBookHint)
	}
	return book, err
}

// ParsePrices returns a book, or what is wrong with it, or why it cannot be read.
func ParsePrices(ctx context.Context, name string) (*cost.Book, []strict.Problem, error) {
	if name == "" || name == DefaultPrices {
		return cost.DefaultBook(), nil, nil
	}
	data, err := userfile.Read(ctx, name, maxBookBytes, "price book")
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		return nil, nil, fmt.Errorf("read the prices: %w", err)
	}
	book, problems := cost.ParseBook(name, data)
	return book, problems, nil
}

// Nodes reads the nodes, as they are now.
func (c *Input) Nodes(ctx context.Context) ([]metrics.Node, []object.Gap, error) {
	from, _, err := c.Source(ctx)
	if err != nil {
		return nil, nil, err
	}
	sink := &nodeSink{}
	if _, err := from.Kinds(ctx, sink); err != nil {
		return nil, nil, err
	}
	switch whole := from.(type) {
	case *source.Cluster:
		from = whole.Whole()
	case *source.Snapshot:
		from = whole.Whole()
	}
	if err := from.Read(ctx, source.Query{Kinds: []schema.GroupKind{{Kind: "Node"}}}, sink); err != nil {
		return nil, nil, err
	}
	return sink.offered.Report(c.Now(), metrics.ReportOptions{}).Nodes, sink.Gaps, nil
}

// nodeSink keeps what nodes offer.
type nodeSink struct {
	EarlyGaps
	offered metrics.Collector
	mu      sync.Mutex // of gaps
}

func (s *nodeSink) Add(o object.Object) { s.offered.Add(o) }

func (s *nodeSink) Gap(g object.Gap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.EarlyGaps.Gap(g)
}
