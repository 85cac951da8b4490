package metrics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// volume is a PersistentVolume, for as long as no claim has it.
type volume struct {
	class          string
	lane           gauge
	there          []sample // of the piece: when it was without a claim
	hours, claimed amount
}

// wholeCluster says that the question is about all that there is.
func (o HistoryOptions) wholeCluster() bool { return len(o.Namespaces) == 0 && o.Pods == nil }

// volumeStreams are volumes without a claim; they are of no namespace.
func (p *windowState) volumeStreams() []stream {
	if !p.options.wholeCluster() {
		return nil
	}
	return []stream{{
		name: "kube_persistentvolume_status_phase", matchers: `phase=~"Available|Released|Failed"`, everywhere: true, back: backGauge,
		take: func(list []series) {
			for _, g := range groups(list, "persistentvolume") {
				v := entry(p.volumes, g.labels["persistentvolume"])
				v.there = append(v.there, g.samples()...)
			}
		},
	}}
}

// settle ends a piece: a volume counts with the capacity that it had.
func (v *volume) settle(capacity *steps) {
	samples := v.there[:0]
	for _, s := range v.there {
		size, known := capacity.at(s.t-staleness, s.t)
		if s.v == 0 || !known {
			size = 0
		}
		samples = append(samples, sample{s.t, size})
	}
	got, _ := v.lane.feed(samples, span{})
	for _, i := range got {
		if i.n > 0 {
			v.claimed.area(i)
			v.hours.add(uint64(i.b - i.a))
		}
	}
	v.there = v.there[:0]
}

// fillVolumes replaces the volumes of a reading by those of the window.
func (p *windowState) fillVolumes(r *UsageReport) {
	present := map[string]Volume{}
	for _, v := range r.Unclaimed {
		present[v.Name] = v
	}
	r.Unclaimed = nil
	for name, v := range p.volumes {
		if !v.hours.known {
			continue
		}
		out := present[name]
		delete(present, name)
		out.Name, out.Class = name, cmp.Or(out.Class, v.class)
		out.Hours, out.Claimed = v.hours.perUnits(milliseconds), v.claimed.perUnits(milliseconds)
		r.Unclaimed = append(r.Unclaimed, out)
	}
	slices.SortFunc(r.Unclaimed, func(a, b Volume) int { return strings.Compare(a.Name, b.Name) })
	p.unknown(r, "volumes without a claim", len(present))
}

// Ref is the volume as an object.
func (v *Volume) Ref() object.Ref { return object.Ref{Kind: "PersistentVolume", Name: v.Name} }
