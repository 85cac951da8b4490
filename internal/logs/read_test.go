package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func named(pod string) Container {
	return Container{Namespace: "shop", Pod: pod, Name: "app", UID: types.UID("uid of " + pod), Instance: "1"}
}

// stamped are lines as a server sends them, a second apart from the first.
func stamped(first int, texts ...string) string {
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "%s %s\n", time.Unix(int64(first+i), 0).UTC().Format(time.RFC3339Nano), text)
	}
	return b.String()
}

// texts opens logs that are given by pod.
func texts(logs map[string]string) OpenFunc {
	return func(_ context.Context, c Container, _ Options) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(logs[c.Pod])), nil
	}
}

// collect reads all logs and returns "POD TEXT" of each line.
func collect(t *testing.T, r Reader, all []Container) ([]string, []Notice) {
	t.Helper()
	var got []string
	notes, err := r.Read(t.Context(), all, Options{}, func(l Line) error {
		got = append(got, l.Container.Pod+" "+l.Text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, notes
}

func TestReadMerges(t *testing.T) {
	logs := map[string]string{
		"a": stamped(1, "one") + stamped(5, "five", "six"),
		"b": stamped(2, "two") + "the server's own\n" + stamped(4, "four", "five too"),
		"c": "",
		"d": "before all\n" + stamped(3, "three"),
	}
	all := []Container{named("a"), named("b"), named("c"), named("d")}
	want := []string{"d before all", "a one", "b two", "b the server's own", "d three", "b four", "a five", "b five too", "a six"}
	for most := 1; most <= 5; most++ {
		got, notes := collect(t, Reader{Open: texts(logs), Max: most, IdleTimeout: time.Minute}, all)
		if !slices.Equal(got, want) || len(notes) > 0 {
			t.Errorf("%d at once: %q, notes %v", most, got, notes)
		}
	}
}

// Any logs, read by any number at once: every line, in the order of times, and of each
// log in its own order, even where its clock goes back.
func TestReadKeepsOrder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		logs, lines := map[string]string{}, map[string][]string{}
		var all []Container
		for i := range 1 + rnd.IntN(9) {
			pod, at := fmt.Sprintf("p%d", i), rnd.IntN(50)
			all = append(all, named(pod))
			var b strings.Builder
			for n := range rnd.IntN(40) {
				at += rnd.IntN(4)
				text := fmt.Sprintf("%s-%d %s", pod, n, strings.Repeat("x", rnd.IntN(1+rnd.IntN(9000))))
				b.WriteString(stamped(at, text))
				lines[pod] = append(lines[pod], text)
			}
			logs[pod] = b.String()
		}
		r, last := Reader{Open: texts(logs), Max: 1 + rnd.IntN(9), IdleTimeout: time.Minute}, time.Time{}
		if _, err := r.Read(t.Context(), all, Options{}, func(l Line) error {
			if l.Time.Before(last) {
				t.Fatalf("seed %d: %s after %s", seed, l.Time, last)
			}
			last = l.Time
			mine := lines[l.Container.Pod]
			if len(mine) == 0 || mine[0] != l.Text {
				t.Fatalf("seed %d: %.40q is not the next line of %s", seed, l.Text, l.Container.Pod)
			}
			lines[l.Container.Pod] = mine[1:]
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for pod, remaining := range lines {
			if len(remaining) > 0 {
				t.Errorf("seed %d: %d lines of %s are missing", seed, len(remaining), pod)
			}
		}
	}
	if remaining, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(remaining) > 0 {
		t.Errorf("files are left: %v %v", remaining, err)
	}
}

// A log that fails is a note; what was read of it stays, and the others do.
func TestReadTellsFailures(t *testing.T) {
	refused, broken := errors.New("refused"), errors.New("broken")
	long := strings.Repeat("y", inMemory)
	open := func(_ context.Context, c Container, _ Options) (io.ReadCloser, error) {
		switch c.Pod {
		case "refused":
			return nil, refused
		case "broken":
			return io.NopCloser(io.MultiReader(strings.NewReader(stamped(1, "one")+"par"), iotest.ErrReader(broken))), nil
		case "broken-late":
			return io.NopCloser(io.MultiReader(strings.NewReader(stamped(2, long, "two")), iotest.ErrReader(broken))), nil
		case "broken-at-once":
			return io.NopCloser(iotest.ErrReader(broken)), nil
		}
		return io.NopCloser(strings.NewReader(stamped(9, "fine"))), nil
	}
	all := []Container{named("refused"), named("broken"), named("broken-late"), named("broken-at-once"), named("fine")}
	want := []string{"broken one", "broken par", "broken-late " + long, "broken-late two", "fine fine"}
	for most := 1; most <= 5; most += 4 {
		got, notes := collect(t, Reader{Open: open, Max: most, IdleTimeout: time.Minute}, all)
		if !slices.Equal(got, want) {
			t.Errorf("%d at once: %.200q", most, got)
		}
		notices := map[string]string{}
		for _, n := range notes {
			notices[n.Container.Pod] = fmt.Sprint(n.Event, n.Err)
		}
		for pod, event := range map[string]string{
			"refused": fmt.Sprint(Failed, refused), "broken": fmt.Sprint(Interrupted, broken), "broken-late": fmt.Sprint(Interrupted, broken), "broken-at-once": fmt.Sprint(Failed, broken),
		} {
			if notices[pod] != event {
				t.Errorf("%d at once: %s: %q, want %q", most, pod, notices[pod], event)
			}
		}
		if len(notes) != 4 {
			t.Errorf("notes %v", notes)
		}
	}
}

// No more logs are open at once than may be.
func TestReadIsBounded(t *testing.T) {
	const most = 3
	var open, high atomic.Int64
	var all []Container
	for i := range 20 {
		all = append(all, named(fmt.Sprintf("p%02d", i)))
	}
	r := Reader{Max: most, IdleTimeout: time.Minute, Open: func(_ context.Context, c Container, _ Options) (io.ReadCloser, error) {
		now := open.Add(1)
		for {
			before := high.Load()
			if now <= before || high.CompareAndSwap(before, now) {
				break
			}
		}
		return &counted{strings.NewReader(stamped(1, c.Pod)), &open}, nil
	}}
	got, _ := collect(t, r, all)
	if len(got) != len(all) || high.Load() > most || open.Load() != 0 {
		t.Errorf("%d lines, %d open at once, %d left open", len(got), high.Load(), open.Load())
	}
}

type counted struct {
	io.Reader
	n *atomic.Int64
}

func (c *counted) Close() error { c.n.Add(-1); return nil }

// silent never answers, until its context ends.
type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) { <-s.ctx.Done(); return 0, s.ctx.Err() }
func (silent) Close() error               { return nil }

// Who says nothing is given up; who is slow is not, nor who is only not read.
func TestReadHasPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := Reader{Max: 9, IdleTimeout: 30 * time.Second, Open: func(ctx context.Context, c Container, _ Options) (io.ReadCloser, error) {
			switch c.Pod {
			case "never-opens":
				<-ctx.Done()
				return nil, ctx.Err()
			case "never-goes-on":
				return io.NopCloser(io.MultiReader(strings.NewReader(stamped(1, "one")), silent{ctx})), nil
			case "slow":
				in, out := io.Pipe()
				go func() {
					for i := range 4 {
						time.Sleep(20 * time.Second)
						_, _ = io.WriteString(out, stamped(3+i, "slow"))
					}
					_ = out.Close()
				}()
				return in, nil
			}
			return io.NopCloser(strings.NewReader(stamped(100, "last"))), nil
		}}
		got, notes := collect(t, r, []Container{named("never-opens"), named("never-goes-on"), named("slow"), named("fine")})
		if want := []string{"never-goes-on one", "slow slow", "slow slow", "slow slow", "slow slow", "fine last"}; !slices.Equal(got, want) {
			t.Errorf("lines %q", got)
		}
		if len(notes) != 2 || notes[0].Event != Failed || notes[1].Event != Interrupted {
			t.Errorf("notes %v", notes)
		}
		for _, n := range notes {
			if n.Err == nil || n.Err.Error() != "no answer within 30s" {
				t.Errorf("%s: %v", n.Container.Pod, n.Err)
			}
		}
		if took := time.Since(began); took > 3*time.Minute {
			t.Errorf("it took %s", took)
		}
	})
}

// Reading ends with its context, and with an error of who takes the lines.
func TestReadEnds(t *testing.T) {
	full := errors.New("disk full")
	r := Reader{Max: 2, IdleTimeout: time.Minute, Open: texts(map[string]string{"a": stamped(1, "one", "two"), "b": stamped(1, "one")})}
	if _, err := r.Read(t.Context(), []Container{named("a"), named("b")}, Options{}, func(Line) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	notes, err := r.Read(ctx, []Container{named("a"), named("b")}, Options{}, func(Line) error { n++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || n != 1 || len(notes) > 0 {
		t.Errorf("error %v after %d lines, notes %v", err, n, notes)
	}
}
