package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/oklog/ulid/v2"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/tsdb/index"
)

const (
	// blockLength is about that of the largest blocks that a server with a month of retention makes.
	blockLength = 54 * 3_600_000
	// chunkSamples is how many samples a server writes into a chunk.
	chunkSamples = 120
)

// writeBlock writes the samples of [from, to) of all series, one by one, as a block. Without
// samples there is none.
func writeBlock(ctx context.Context, dir string, all []*series, from, to int64) error {
	id, err := ulid.New(uint64(from), rand.Reader)
	if err != nil {
		return err
	}
	meta := &tsdb.BlockMeta{
		ULID: id, MinTime: from, MaxTime: to, Version: 1, Compaction: tsdb.BlockMetaCompaction{Level: 1, Sources: []ulid.ULID{id}},
	}
	dir = filepath.Join(dir, id.String())
	if err := os.MkdirAll(filepath.Join(dir, "chunks"), 0o700); err != nil {
		return err
	}
	if err := writeSeries(ctx, dir, all, meta); err != nil {
		return err
	}
	if meta.Stats.NumSamples == 0 {
		return os.RemoveAll(dir)
	}
	text, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "meta.json"), text, 0o600)
}

func writeSeries(ctx context.Context, dir string, all []*series, meta *tsdb.BlockMeta) (err error) {
	data, err := chunks.NewWriter(filepath.Join(dir, "chunks"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	at, err := index.NewWriter(ctx, filepath.Join(dir, "index"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	for _, symbol := range symbols(all) {
		if err := at.AddSymbol(symbol); err != nil {
			return err
		}
	}
	for i, s := range all {
		parts, err := encode(s, meta)
		if err != nil {
			return err
		}
		if len(parts) == 0 {
			continue
		}
		if err := data.WriteChunks(parts...); err != nil {
			return err
		}
		if err := at.AddSeries(storage.SeriesRef(i), s.labels, parts...); err != nil {
			return err
		}
		meta.Stats.NumSeries++
		meta.Stats.NumChunks += uint64(len(parts))
	}
	return nil
}

// symbols are the names and values of all labels, in order.
func symbols(all []*series) []string {
	found := map[string]bool{}
	for _, s := range all {
		s.labels.Range(func(l labels.Label) { found[l.Name], found[l.Value] = true, true })
	}
	out := make([]string, 0, len(found))
	for symbol := range found {
		out = append(out, symbol)
	}
	slices.Sort(out)
	return out
}

// encode writes the samples of a series within a block as chunks.
func encode(s *series, meta *tsdb.BlockMeta) ([]chunks.Meta, error) {
	var parts []chunks.Meta
	var appender chunkenc.Appender
	n := 0
	for t, v := range s.samples(meta.MinTime, meta.MaxTime) {
		if n%chunkSamples == 0 {
			chunk := chunkenc.NewXORChunk()
			var err error
			if appender, err = chunk.Appender(); err != nil {
				return nil, err
			}
			parts = append(parts, chunks.Meta{Chunk: chunk, MinTime: t})
		}
		appender.Append(0, t, v)
		parts[len(parts)-1].MaxTime = t
		n++
	}
	meta.Stats.NumSamples += uint64(n)
	return parts, nil
}
