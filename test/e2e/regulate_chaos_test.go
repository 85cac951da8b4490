package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/faults"
)

// scenario is something that goes wrong while a ring is held and let go. It ends with an
// error unless the ring was held in full, and is free again, byte for byte.
type scenario struct {
	name string
	// rings share the work: each does every so-manieth part of it.
	rings int
	run   func(ctx context.Context, r *ring, part, parts int) error
}

// mostWrites is more than a run writes: a run that is still killed there goes on for ever.
const mostWrites = 100

var scenarios = []scenario{
	{"apply dies after write 1, 2, ...", 6, dying(faults.Lost)},
	{"watch dies after write 1, 2, ...", 6, watching(faults.Lost)},
	{"every other write meets a 409", 1, stormy(faults.Conflict())},
	{"every other answer to a write is lost", 1, stormy(faults.Lost(func() {}))},
	{"the server fails every other write", 1, stormy(faults.InternalError())},
	{"rights end after write 1, 2, ...", 4, forbidden},
	{"three processes at once", 1, together},
	{"the clock jumps", 1, jumping},
}

// The chaos ring: whatever happens to regulate, and whenever, the next run ends right.
func TestRegulateChaos(t *testing.T) {
	t.Parallel()
	c := withoutOperators.Cluster(t)
	defineRing(t, c)
	begun := time.Now()
	tallies, states := make([]tally, len(scenarios)), make([]error, len(scenarios))
	const atOnce = 8 // a run waits while the API server works
	var work errgroup.Group
	work.SetLimit(atOnce)
	type part struct {
		ring *ring
		err  error
	}
	parts := make([][]part, len(scenarios))
	for i, s := range scenarios {
		parts[i] = make([]part, s.rings)
		for k := range parts[i] {
			p := &parts[i][k]
			p.ring = newRing(t, c)
			work.Go(func() error {
				p.err = s.run(t.Context(), p.ring, k, s.rings)
				return nil
			})
		}
	}
	_ = work.Wait() // each says itself how it ended
	for i := range scenarios {
		for _, p := range parts[i] {
			tallies[i].add(p.ring.tally)
			states[i] = errors.Join(states[i], p.err)
		}
	}
	restarted, err := restarting(t)
	t.Logf("after %s:\n%s", time.Since(begun).Round(time.Second), table(append(tallies, restarted), append(states, err)))
	for i, err := range append(states, err) {
		if err != nil {
			t.Errorf("%s: %v", nameOf(i), err)
		}
	}
	for i := range 2 {
		if tallies[i].kills < 10 {
			t.Errorf("%s: %d kills: that are not all writes of a run", scenarios[i].name, tallies[i].kills)
		}
	}
}

func nameOf(i int) string {
	if i < len(scenarios) {
		return scenarios[i].name
	}
	return "the API server is killed, and comes back"
}

// table is what became of the scenarios.
func table(tallies []tally, states []error) string {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SCENARIO\tRUNS\tWRITES\tKILLS\tEND")
	for i, s := range tallies {
		end := "held in full, then as it was, byte for byte"
		if states[i] != nil {
			end = "WRONG: " + strings.ReplaceAll(states[i].Error(), "\n", "; ")
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", nameOf(i), s.runs, s.writes, s.kills, end)
	}
	_ = w.Flush() // into memory
	return out.String()
}

// cycle breaks db, has hold see to it that its neighbours are held, heals db, has loose see
// to it that they are let go, and looks at both. Nothing is changed twice meanwhile.
func (r *ring) cycle(ctx context.Context, hold, loose func(context.Context) error) error {
	web, report, err := r.generations(ctx)
	if err != nil {
		return err
	}
	if err := r.says(ctx, "Failed"); err != nil {
		return err
	}
	if err := hold(ctx); err != nil {
		return fmt.Errorf("hold: %w", err)
	}
	if err := r.held(ctx); err != nil {
		return fmt.Errorf("held: %w", err)
	}
	if err := r.says(ctx, "Running"); err != nil {
		return err
	}
	if err := loose(ctx); err != nil {
		return fmt.Errorf("let go: %w", err)
	}
	if err := r.free(ctx); err != nil {
		return fmt.Errorf("let go: %w", err)
	}
	webNow, reportNow, err := r.generations(ctx)
	// Of a Deployment annotations count, too: two fields of it change, to and fro.
	if err == nil && (webNow != web+4 || reportNow != report+2) {
		err = fmt.Errorf("web was changed %d times, want 4, and report %d times, want 2", webNow-web, reportNow-report)
	}
	return err
}

// dying kills apply at each of its writes, of a Stop and of a Recover, until there is no
// such write any more.
func dying(how func(func()) faults.Effect) func(context.Context, *ring, int, int) error {
	return func(ctx context.Context, r *ring, part, parts int) error {
		for n := part + 1; n < mostWrites; n += parts {
			stopped, freed := false, false
			err := r.cycle(ctx, func(ctx context.Context) (err error) {
				if stopped, err = r.applyKilled(ctx, n, how); err != nil {
					return err
				}
				return r.settle(ctx, r.held)
			}, func(ctx context.Context) (err error) {
				if freed, err = r.applyKilled(ctx, n, how); err != nil {
					return err
				}
				return r.settle(ctx, r.free)
			})
			if err != nil {
				return fmt.Errorf("%s, killed at write %d: %w", r.ns, n, err)
			}
			if !stopped && !freed {
				return nil
			}
		}
		return fmt.Errorf("a run writes more than %d times", mostWrites)
	}
}

// watching kills watch at each of its writes, and starts another one.
func watching(how func(func()) faults.Effect) func(context.Context, *ring, int, int) error {
	return func(ctx context.Context, r *ring, part, parts int) error {
		for n := part + 1; n < mostWrites; n += parts {
			stopped, freed := false, false
			err := r.cycle(ctx, func(ctx context.Context) (err error) {
				stopped, err = r.watchKilled(ctx, n, how, r.held)
				return err
			}, func(ctx context.Context) (err error) {
				freed, err = r.watchKilled(ctx, n, how, r.free)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s, killed at write %d: %w", r.ns, n, err)
			}
			if !stopped && !freed {
				return nil
			}
		}
		return fmt.Errorf("a run writes more than %d times", mostWrites)
	}
}

// watchKilled watches until something is so. The first who watches is killed at its n-th
// write, the second goes on.
func (r *ring) watchKilled(ctx context.Context, n int, how func(func()) faults.Effect, so func(context.Context) error) (bool, error) {
	run, killed, err := r.doomed(ctx, n, how, r.args("watch")...)
	if err != nil {
		return false, err
	}
	err = r.until(ctx, killed, func(ctx context.Context) error {
		if isClosed(killed) {
			return nil
		}
		return so(ctx)
	})
	if isClosed(killed) {
		r.kills++
		_, waited := run.wait()
		r.counted()
		waited = errors.Join(waited, r.hurry(ctx))
		if run, err = r.start(ctx, r.args("watch")...); err != nil || waited != nil {
			return true, errors.Join(err, waited)
		}
		err = r.until(ctx, nil, so)
	}
	if err != nil {
		err = fmt.Errorf("%w; %v says:\n%s", err, run.cmd.Args[1:], &run.stderr)
	}
	ended := run.interrupt()
	if ended != nil && isClosed(killed) && run.cmd.ProcessState != nil && run.cmd.ProcessState.ExitCode() < 0 {
		ended = nil // it was killed at a write that it did because of the interrupt
	}
	r.counted()
	return isClosed(killed), errors.Join(err, ended)
}

// interrupt ends a run as Ctrl-C does.
func (r *ringRun) interrupt() error {
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("%v ended by itself: %w:\n%s", r.cmd.Args[1:], err, &r.stderr)
	}
	code, err := r.wait()
	if err == nil && code != 0 && code != command.ExitInterrupted {
		err = fmt.Errorf("%v: exit code %d after an interrupt:\n%s", r.cmd.Args[1:], code, &r.stderr)
	}
	return err
}

// stormy has every other write of the first run meet a fault. The run may give up, and say
// so; the next one, without faults, ends right.
func stormy(effect faults.Effect) func(context.Context, *ring, int, int) error {
	return func(ctx context.Context, r *ring, _, _ int) error {
		through := func(so func(context.Context) error) func(context.Context) error {
			return func(ctx context.Context) error {
				var writes atomic.Int64
				r.proxy.Inject(faults.Fault{Effect: effect, Match: func(q *http.Request) bool {
					return faults.Writes(q) && writes.Add(1)%2 == 1
				}})
				run, err := r.start(ctx, r.args("apply")...)
				if err != nil {
					return err
				}
				code, err := run.wait()
				r.counted()
				if err == nil && code != command.ExitDone && (code != command.ExitError || !strings.Contains(run.stderr.String(), "error: ")) {
					err = fmt.Errorf("exit code %d:\n%s", code, &run.stderr)
				}
				if err != nil {
					return err
				}
				return r.settle(ctx, so)
			}
		}
		return r.cycle(ctx, through(r.held), through(r.free))
	}
}

// forbidden takes the right to change targets away after the first writes of a run, which
// says so. What was done of a hold is taken back by the next run, which may: no app is held
// by halves. After the time for which rules leave alone what failed, it is held. Who may not
// give ownership back keeps it, and says so: that alone may differ in the end.
func forbidden(ctx context.Context, r *ring, part, parts int) error {
	for n := part + 1; n < mostWrites; n += parts {
		hits := 0
		for _, step := range []struct {
			phase string
			so    func(context.Context) error
		}{{"Failed", r.held}, {"Running", r.freeOfAnyOwner}} {
			if err := r.says(ctx, step.phase); err != nil {
				return err
			}
			hit, err := r.refused(ctx, n)
			if err != nil {
				return err
			}
			if hit {
				hits++
			}
			if err := r.whole(ctx, hit, step.so); err != nil {
				return fmt.Errorf("%s, forbidden from write %d on, db %s: %w", r.ns, n, step.phase, err)
			}
		}
		if hits == 0 {
			return nil
		}
	}
	return fmt.Errorf("a run writes more than %d times", mostWrites)
}

// refused is a run of apply that may not change targets from the n-th write of them on, and
// says whether it came to that.
func (r *ring) refused(ctx context.Context, n int) (hit bool, err error) {
	var writes atomic.Int64
	r.proxy.Inject(faults.Fault{Effect: faults.Forbidden(), Match: func(q *http.Request) bool {
		return ofTarget(q) && writes.Add(1) >= int64(n)
	}})
	code, said := r.applyAt(ctx, 0)
	for _, q := range r.proxy.Requests() {
		hit = hit || q.Fault
	}
	r.counted()
	if want := map[bool]int{true: command.ExitError, false: command.ExitDone}[hit]; code != want || hit && !strings.Contains(said, "forbidden") {
		return hit, fmt.Errorf("forbidden from write %d on: exit code %d, want %d and the word:\n%s", n, code, want, said)
	}
	return hit, nil
}

// whole runs apply without faults: all is held in full, or all is free, and in the end what
// it should be.
func (r *ring) whole(ctx context.Context, failed bool, so func(context.Context) error) error {
	var clocks []time.Duration
	if failed {
		clocks = []time.Duration{time.Second, 2 * time.Second}
	}
	for _, clock := range append(clocks, 10*time.Minute, 11*time.Minute, 12*time.Minute) {
		code, said := r.applyAt(ctx, clock)
		r.counted()
		if code != command.ExitDone {
			return fmt.Errorf("exit code %d %s later:\n%s", code, clock, said)
		}
		if clock == 2*time.Second {
			if err := r.halves(ctx); err != nil {
				return err
			}
		}
	}
	return so(ctx)
}

// applyAt runs regulate apply in this process, by a clock that is off by so much.
func (r *ring) applyAt(ctx context.Context, clock time.Duration) (code int, said string) {
	var out, errOut bytes.Buffer
	env := command.Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut},
		Getenv:    func(string) string { return "" },
		Now:       func() time.Time { return time.Now().Add(clock) },
	}
	r.runs++
	code = cli.Main(ctx, env, r.args("apply", "--kubeconfig", r.proxy.Kubeconfig(), "--cache-dir", r.dir))
	return code, errOut.String()
}

// ofTarget says whether a request writes to a target.
func ofTarget(q *http.Request) bool {
	if !faults.Writes(q) {
		return false
	}
	for _, t := range ringTargets {
		if strings.Contains(q.URL.Path, "/"+t.resource.Resource+"/"+t.name) {
			return true
		}
	}
	return false
}

// together has three processes do the same at the same time. All end well.
func together(ctx context.Context, r *ring, _, _ int) error {
	at := func(so func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			var runs []*ringRun
			for range 3 {
				run, err := r.start(ctx, r.args("apply")...)
				if err != nil {
					return err
				}
				runs = append(runs, run)
			}
			var all error
			for _, run := range runs {
				code, err := run.wait()
				if err == nil && code != 0 {
					err = fmt.Errorf("exit code %d:\n%s", code, &run.stderr)
				}
				all = errors.Join(all, err)
			}
			r.counted()
			if all != nil {
				return all
			}
			return r.settle(ctx, so)
		}
	}
	for range 3 {
		if err := r.cycle(ctx, at(r.held), at(r.free)); err != nil {
			return err
		}
	}
	return nil
}

// jumping runs the command line in this process, where the clock can be set: it jumps by an
// hour, to and fro, between two looks and between Stop and Recover. A rule waits for 30 s,
// by whatever clock.
func jumping(ctx context.Context, r *ring, _, _ int) error {
	text, err := os.ReadFile(r.manifest)
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.manifest, bytes.ReplaceAll(text, []byte("for: 0s"), []byte("for: 30s")), 0o600); err != nil {
		return err
	}
	// Whatever the clock said before: it is so for 31 s, by a clock that goes on from there.
	through := func(clock time.Duration, so func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			var err error
			for k := range 5 {
				code, said := r.applyAt(ctx, clock+time.Duration(k)*31*time.Second)
				r.counted()
				if code != command.ExitDone {
					return fmt.Errorf("exit code %d:\n%s", code, said)
				}
				if err = so(ctx); err == nil {
					return nil
				}
			}
			return err
		}
	}
	const hour = time.Hour
	for _, jump := range []struct{ stop, free time.Duration }{{0, hour}, {hour, -hour}, {-hour, 24 * hour}, {24 * hour, -24 * hour}, {0, 0}} {
		if err := r.cycle(ctx, through(jump.stop, r.held), through(jump.free, r.free)); err != nil {
			return fmt.Errorf("clock at %s, then at %s: %w", jump.stop, jump.free, err)
		}
	}
	return nil
}

// restarting kills the API server, of a cluster for this alone, while apply and watch are
// at work, and starts it again.
func restarting(t *testing.T) (tally, error) {
	t.Helper()
	c := cluster.StartFor(t, cluster.Options{})
	applyText(t, c, inNamespace(t, "", "ring.definitions.yaml"))
	r := newRing(t, c)
	ctx := t.Context()
	// It dies while a write is on its way: the proxy waits with it until the server is back.
	during := func(command string, so func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			back := make(chan error, 1)
			r.proxy.Inject(faults.Fault{Match: faults.Nth(3, faults.Writes), Times: 1, Effect: func(w http.ResponseWriter, q *http.Request, next http.Handler) {
				dead := make(chan struct{})
				go func() {
					close(dead)
					back <- c.RestartAPIServer(ctx)
				}()
				<-dead
				next.ServeHTTP(w, q)
			}})
			run, err := r.start(ctx, r.args(command)...)
			if err != nil {
				return err
			}
			if err := <-back; err != nil {
				return err
			}
			if command == "watch" {
				err := r.until(ctx, nil, so)
				return errors.Join(err, run.interrupt())
			}
			if _, err := run.wait(); err != nil { // it may have given up
				return err
			}
			r.counted()
			return r.settle(ctx, so)
		}
	}
	for _, command := range []string{"apply", "watch"} {
		if err := r.cycle(ctx, during(command, r.held), during(command, r.free)); err != nil {
			return r.tally, fmt.Errorf("%s: %w", command, err)
		}
	}
	return r.tally, nil
}
