package metrics

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

func never(int64) int64 { return 0 }

func sum(list []interval) uint64 {
	var n uint64
	for _, v := range list {
		n += v.whole()
	}
	return n
}

// TestIncreaseVector has the samples of a published question about increase: what was
// used is the difference of the last and the first, and no extrapolation of it.
func TestIncreaseVector(t *testing.T) {
	text, err := os.ReadFile("testdata/windows/increase.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Scrape  int64   `json:"scrape_s"`
		Samples []int64 `json:"samples"`
		Want    uint64  `json:"first_to_last_difference"`
		Wrong   uint64  `json:"increase_extrapolated"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	var samples []sample
	for i, n := range v.Samples {
		samples = append(samples, sample{fakeBegin + int64(i)*v.Scrape*second, n})
	}
	var c counter
	got, _ := c.feed(merge(map[string][]sample{"a": samples}), never)
	if n := sum(got); n != v.Want || n == v.Wrong {
		t.Errorf("increase is %d, want %d", n, v.Want)
	}
	// The same through the API.
	f := &fakeServer{}
	var sent []fakeSample
	for _, s := range samples {
		sent = append(sent, fakeSample{s.t, strconv.FormatFloat(float64(s.v), 'g', -1, 64)})
	}
	f.add("container_network_receive_bytes_total", map[string]string{"namespace": "a", "pod": "b", "interface": "eth0"}, sent...)
	r := measure(t, f.start(t), window(fakeBegin-second, fakeBegin+299*second), nil)
	equal(t, "received", r.Pods[0].Used[Received], strconv.FormatUint(v.Want, 10))
}

// whole is a counter that one scraper saw without a miss, and the increase of it.
func whole(r *rand.Rand) (samples []sample, increase uint64) {
	v, at := r.Int64N(1e12), fakeBegin
	samples = append(samples, sample{at, v})
	for range 20 + r.IntN(60) {
		at += (15 + r.Int64N(120)) * second
		if r.IntN(8) == 0 { // a hole
			at += r.Int64N(reach - 200*second)
		}
		if r.IntN(6) == 0 {
			v = r.Int64N(v/2 + 1)
			increase += uint64(v)
		} else {
			n := r.Int64N(1e10)
			v += n
			increase += uint64(n)
		}
		samples = append(samples, sample{at, v})
	}
	return samples, increase
}

// share deals samples out to scrapers, so that together they have all of them.
func share(r *rand.Rand, samples []sample, scrapers int) map[string][]sample {
	out := map[string][]sample{}
	turns := r.IntN(2) == 0 // each has a part of the time, and not every second sample
	for i, s := range samples {
		owner := r.IntN(scrapers)
		if turns {
			owner = i * scrapers / len(samples)
		}
		for k := range scrapers {
			if k == owner || !turns && r.IntN(3) == 0 {
				name := string(rune('a' + k))
				out[name] = append(out[name], s)
			}
		}
	}
	return out
}

// TestCounterReplicas deals a counter with resets and holes out to one to four
// scrapers: the sum is that of the complete one.
func TestCounterReplicas(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		samples, want := whole(r)
		var c counter
		got, holes := c.feed(merge(share(r, samples, 1+r.IntN(4))), never)
		if sum(got) != want || holes != 0 {
			t.Fatalf("seed %d: increase is %d, want %d; holes of %d", seed, sum(got), want, holes)
		}
	}
}

// TestGaugeReplicas is the same for what is summed over time.
func TestGaugeReplicas(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		samples, _ := whole(r)
		var one, many gauge
		want, holes := one.feed(samples, span{})
		got, others := many.feed(unite(slices.Collect(mapsValues(share(r, samples, 1+r.IntN(4))))...), span{})
		if sum(got) != sum(want) || holes != others {
			t.Fatalf("seed %d: sum is %d, want %d", seed, sum(got), sum(want))
		}
	}
}

func mapsValues(m map[string][]sample) func(func([]sample) bool) {
	return func(yield func([]sample) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// TestCounterLate has two scrapers, of which each sample may be some seconds late: a
// counter that only grows is never taken for one that was reset.
func TestCounterLate(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		lists := map[string][]sample{}
		var most, least int64 = 0, 1 << 62
		for _, by := range []string{"a", "b"} {
			last := int64(0)
			for at := fakeBegin + r.Int64N(30)*second; at < fakeBegin+60*minute; at += 30 * second {
				seen := max(at+r.Int64N(9*second), last) // when it was really taken
				last = seen
				v := (seen - fakeBegin) * 1000
				most, least = max(most, v), min(least, v)
				lists[by] = append(lists[by], sample{at, v})
			}
		}
		var c counter
		got, _ := c.feed(merge(lists), never)
		if n := sum(got); n > uint64(most-least) || n < uint64(most-least)-20_000_000 {
			t.Fatalf("seed %d: increase is %d of %d", seed, n, most-least)
		}
	}
}

func TestCounterCases(t *testing.T) {
	at := func(s int64) int64 { return fakeBegin + s*second }
	for name, c := range map[string]struct {
		lists map[string][]sample
		start int64
		want  uint64
		holes int64
	}{
		"a first value alone says nothing": {lists: map[string][]sample{"a": {{at(60), 100}}}},
		"a first value of a container that started": {
			lists: map[string][]sample{"a": {{at(60), 100}, {at(120), 130}}}, start: at(20), want: 130,
		},
		"one that started after its sample": {
			lists: map[string][]sample{"a": {{at(60), 100}, {at(120), 130}}}, start: at(61), want: 30,
		},
		"one that started too long before": {
			lists: map[string][]sample{"a": {{at(7200), 100}, {at(7260), 130}}}, start: at(0), want: 30,
		},
		"a reset":            {lists: map[string][]sample{"a": {{at(0), 100}, {at(60), 40}, {at(120), 50}}}, want: 50},
		"a reset to nothing": {lists: map[string][]sample{"a": {{at(0), 100}, {at(60), 0}, {at(120), 0}}}},
		"a hole of half an hour is bridged": {
			lists: map[string][]sample{"a": {{at(0), 100}, {at(1800), 400}}}, want: 300,
		},
		"one of more than an hour is not": {
			lists: map[string][]sample{"a": {{at(0), 100}, {at(60), 110}, {at(3661), 400}, {at(3700), 401}}}, want: 11, holes: 3601 * second,
		},
		"a reset that both saw counts once": {
			lists: map[string][]sample{"a": {{at(0), 100}, {at(60), 5}, {at(120), 20}}, "b": {{at(3), 103}, {at(63), 8}, {at(123), 23}}}, want: 3 + 23,
		},
		"a late sample of before the reset": {
			lists: map[string][]sample{"a": {{at(0), 100}, {at(60), 5}, {at(120), 20}}, "b": {{at(1), 101}, {at(61), 130}, {at(121), 21}}}, want: 30 + 21,
		},
		"the other scraper takes over, a little late": {
			lists: map[string][]sample{"a": {{at(0), 100}, {at(60), 160}}, "b": {{at(62), 159}, {at(122), 220}}}, want: 120,
		},
		"the other scraper takes over after a reset": {
			lists: map[string][]sample{"a": {{at(0), 100}, {at(60), 160}}, "b": {{at(120), 30}, {at(180), 40}}}, want: 100,
		},
	} {
		var k counter
		got, holes := k.feed(merge(c.lists), func(int64) int64 { return c.start })
		if sum(got) != c.want || holes != c.holes {
			t.Errorf("%s: increase is %d, want %d; holes %d, want %d", name, sum(got), c.want, holes, c.holes)
		}
	}
}

func TestGaugeCases(t *testing.T) {
	at := func(s int64) int64 { return fakeBegin + s*second }
	for name, c := range map[string]struct {
		samples []sample
		life    span
		want    int64 // in seconds of 1
		holes   int64
	}{
		"each sample stands for the time before": {samples: []sample{{at(0), 2}, {at(60), 1}, {at(120), 3}}, want: 2*60 + 60 + 3*60},
		"the first reaches back to the start":    {samples: []sample{{at(100), 1}, {at(160), 1}}, life: span{start: at(0)}, want: 160},
		"but not far":                            {samples: []sample{{at(1000), 1}, {at(1060), 1}}, life: span{start: at(0)}, want: 120},
		"one sample alone says nothing":          {samples: []sample{{at(1000), 1}}},
		"but with a start":                       {samples: []sample{{at(30), 1}}, life: span{start: at(0)}, want: 30},
		"a hole":                                 {samples: []sample{{at(0), 1}, {at(60), 1}, {at(661), 1}, {at(721), 1}}, want: 120 + 120, holes: 601},
		"five minutes are no hole":               {samples: []sample{{at(0), 1}, {at(60), 1}, {at(360), 1}}, want: 60 + 360},
		"nothing counts after the end":           {samples: []sample{{at(0), 1}, {at(60), 1}, {at(120), 1}, {at(180), 1}}, life: span{end: at(70)}, want: 60 + 70},
		"nor before the start":                   {samples: []sample{{at(0), 1}, {at(60), 1}, {at(120), 1}}, life: span{start: at(10)}, want: 110 + 60},
		"born and ended between two samples":     {samples: []sample{{at(60), 1}}, life: span{start: at(10), end: at(30)}, want: 20},
	} {
		var g gauge
		got, holes := g.feed(c.samples, c.life)
		if sum(got) != uint64(c.want*second) || holes != c.holes*second {
			t.Errorf("%s: is %d s, want %d; holes %d, want %d", name, sum(got)/1000, c.want, holes/1000, c.holes)
		}
	}
}

// TestWeigh compares the sweep with a sum over every millisecond.
func TestWeigh(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 5))
		vs := make(sources, 3)
		for i := range vs {
			for range r.IntN(4) {
				a := r.Int64N(80)
				vs[i] = append(vs[i], interval{a: a, b: a + 1 + r.Int64N(20), n: uint64(r.IntN(9)), flat: true})
			}
		}
		want := uint64(0)
		for at := range int64(100) {
			parts, say := make([]uint64, 3), make([]int, 3)
			for i, list := range vs {
				for _, v := range list {
					if v.a <= at && at < v.b {
						parts[i] += v.n
						say[i]++
					}
				}
			}
			want += paid(1, parts, say)
		}
		if got := vs.weigh(paid); got != (total{lo: want}) {
			t.Fatalf("seed %d: weight is %v, want %d", seed, got, want)
		}
	}
}

// TestPart cuts an amount at random: the parts are the whole.
func TestPart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	for range 1000 {
		a := r.Int64N(1 << 40)
		v := interval{a: a, b: a + 1 + r.Int64N(reach), n: r.Uint64N(1 << 62)}
		x := v.a + r.Int64N(v.b-v.a+1)
		if v.part(v.a, x)+v.part(x, v.b) != v.n {
			t.Fatalf("%+v cut at %d", v, x)
		}
	}
}

func TestTotal(t *testing.T) {
	big := total{}.add(1 << 63).add(1 << 63).add(3_600_000)
	if got := big.perUnits(milliseconds).String(); got != "5124095576031.431004444444444444" {
		t.Errorf("2^64 ms are %s hours and one", got)
	}
	if got := big.minus(big).minus(total{}.add(2)).perUnits(1).String(); got != "-2" {
		t.Errorf("0 - 2 is %s", got)
	}
}

func TestParseScaled(t *testing.T) {
	for _, c := range []struct {
		text  string
		scale int
		want  int64
		ok    bool
	}{
		{"1", 0, 1, true},
		{"0.25", 9, 250_000_000, true},
		{"1234.567890123", 9, 1_234_567_890_123, true},
		{"0.30000000000000004", 9, 300_000_000, true},
		{"1e+06", 0, 1_000_000, true},
		{"2.147483648e+09", 0, 2_147_483_648, true},
		{"1.5", 0, 2, true},
		{"-1.5", 0, -2, true},
		{"1762000000.1239", 3, 1_762_000_000_124, true},
		{"9223372036854775807", 0, 9_223_372_036_854_775_807, true},
		{"9223372036854775808", 0, 0, false},
		{"9.3e18", 0, 0, false},
		{"10000000000", 9, 0, false},
		{"NaN", 0, 0, false},
		{"+Inf", 0, 0, false},
		{"-Inf", 0, 0, false},
		{"", 0, 0, false},
		{".", 0, 0, false},
		{"1/3", 0, 0, false},
		{"5e-324", 9, 0, true},
	} {
		if got, ok := parseScaled(c.text, c.scale); ok != c.ok || ok && got != c.want {
			t.Errorf("%q with scale %d is %d (%t), want %d (%t)", c.text, c.scale, got, ok, c.want, c.ok)
		}
	}
}
