package main

import (
	"iter"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
)

// series has its samples, or the ramp that makes them.
type series struct {
	Metric model.Metric       `json:"metric"`
	Values []model.SamplePair `json:"values"`
	Ramp   *ramp              `json:"ramp"`

	labels labels.Labels
}

// ramp is a sample each Every seconds of [From, To], which grows by Growth and is off by up to
// Noise. Without both it is a constant.
type ramp struct {
	From, To, Every      int64
	Start, Growth, Noise float64
}

// from is the time of the first sample, in milliseconds.
func (s *series) from() int64 {
	if s.Ramp != nil {
		return s.Ramp.From * 1000
	}
	return int64(s.Values[0].Timestamp)
}

// to is the time of the last sample, or a little later.
func (s *series) to() int64 {
	if s.Ramp != nil {
		return s.Ramp.To * 1000
	}
	return int64(s.Values[len(s.Values)-1].Timestamp)
}

// samples are those of [from, to).
func (s *series) samples(from, to int64) iter.Seq2[int64, float64] {
	if s.Ramp != nil {
		return s.Ramp.samples(from, to)
	}
	return func(yield func(int64, float64) bool) {
		first := sort.Search(len(s.Values), func(i int) bool { return int64(s.Values[i].Timestamp) >= from })
		for _, p := range s.Values[first:] {
			v := float64(p.Value)
			if math.IsNaN(v) {
				v = math.Float64frombits(value.StaleNaN)
			}
			if int64(p.Timestamp) >= to || !yield(int64(p.Timestamp), v) {
				return
			}
		}
	}
}

func (r *ramp) samples(from, to int64) iter.Seq2[int64, float64] {
	begin, every := r.From*1000, r.Every*1000
	return func(yield func(int64, float64) bool) {
		noise := rand.New(rand.NewPCG(uint64(from), math.Float64bits(r.Start))) //nolint:gosec // the same bytes each time
		first := max((from-begin+every-1)/every, 0)
		for i := first; begin+i*every < to && begin+i*every <= r.To*1000; i++ {
			v := r.Start + r.Growth*float64(i)
			if r.Noise != 0 {
				v += r.Noise * noise.Float64()
			}
			if !yield(begin+i*every, v) {
				return
			}
		}
	}
}
