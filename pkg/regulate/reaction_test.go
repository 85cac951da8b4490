package regulate

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/signals"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// The words are those of Elastic Cloud on Kubernetes, whose operator has read the annotation
// since 3.5.0 and says so by a condition (elastic/cloud-on-k8s pkg/apis/common/v1).
const pauseAnnotation = "eck.k8s.elastic.co/pause-orchestration"

func pausedBasket(since, reacted string) signals.Signal {
	return signals.Signal{
		Kind: "Basket.shop.test", Preset: signals.PresetPause, Mode: signals.PauseRollout, Since: since, Reacted: reacted,
		Patch: map[string]any{"metadata": map[string]any{"annotations": map[string]any{pauseAnnotation: "true"}}},
	}
}

// reacting is an app of one object, which is paused by an annotation.
func reacting(t *testing.T, s signals.Signal, act system.Action) (*bench, Target) {
	t.Helper()
	b := newBench()
	to := b.api.add(t, "kubectl", true, `{apiVersion: shop.test/v1, kind: Basket, metadata: {name: one, namespace: shop}, spec: {size: 1}}`)
	act.Preset = signals.PresetPause
	b.app("web", []system.Action{act}, []object.Ref{ref("shop.test", "Basket", "one")})
	b.runner = func(r *Runner) { r.Signals = signals.NewSet([]signals.Signal{s}, nil) }
	return b, to
}

const eckReacted = `status.condition("OrchestrationPaused").status == "True"`

// reacts is the operator, which says in the status what it has read.
func (b *bench) reacts(t *testing.T, to Target, after time.Duration, status string) {
	t.Helper()
	go func() {
		time.Sleep(after)
		b.api.mu.Lock()
		defer b.api.mu.Unlock()
		b.api.change(t, to, "elastic-operator", []any{map[string]any{"type": "OrchestrationPaused", "status": status}}, "status", "conditions")
	}()
}

// patches counts the writes of an object.
func (b *bench) patches(to Target) *int {
	n := 0
	b.api.fault = func(_ int, what string) fate {
		if what == "patch "+to.String() {
			n++
		}
		return fate{}
	}
	return &n
}

// TestReacts: an app is held when the status of its object says that the operator reacted.
func TestReacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, to := reacting(t, pausedBasket("3.5.0", eckReacted), system.Action{})
		b.reacts(t, to, 3*time.Second, "False") // of an older pause
		b.reacts(t, to, 40*time.Second, "True")
		began := time.Now()
		out, err := b.once(t, "web")
		if err != nil || len(out.Failed) > 0 || !strings.HasSuffix(out.Done[0].Result, pauseAnnotation+" = \"true\"; its operator reacted") {
			t.Fatalf("%v %+v", err, out)
		}
		if took := time.Since(began); took < 40*time.Second || took > 50*time.Second {
			t.Errorf("it took %s", took)
		}
		if h := b.journal(t).Holds; len(h) != 1 || h[0].Phase != Held {
			t.Errorf("%+v", h)
		}
		b.until(t)
	})
}

// TestReactsNever: an operator that is older than the signal leaves the object alone. The app
// is not held then, and what was written is taken back.
func TestReactsNever(t *testing.T) {
	for name, c := range map[string]struct {
		signal  signals.Signal
		timeout time.Duration
		want    string
	}{
		"older": {
			pausedBasket("3.5.0", eckReacted), 0,
			"written without effect: its operator did not react to pause of Basket.shop.test/shop/one within 2m0s: it is likely older than 3.5.0, the release that first reads this, or it does not run",
		},
		"as long as the manifest says": {pausedBasket("3.5.0", eckReacted), 10 * time.Second, "within 10s: it is likely older than 3.5.0"},
		"not told since when":          {pausedBasket("", eckReacted), 0, "within 2m0s: it does not run, or is overloaded"},
		"it cannot be evaluated":       {pausedBasket("3.5.0", `status.seen.at == 1`), 0, "within 2m0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, to := reacting(t, c.signal, system.Action{Timeout: c.timeout})
			before := b.api.image(t)
			out, err := b.once(t, "web")
			if err != nil || len(out.Failed) == 0 || !strings.Contains(out.Failed[0].Result, c.want) {
				t.Errorf("%s: %v %+v", name, err, out)
			}
			b.until(t)
			b.sameAs(t, before)
			if j := b.journal(t); len(j.Holds)+len(j.Conflicts) > 0 || j.AppRecords["web"].Refused.IsZero() || b.api.timesSeen(to) != 3 {
				t.Errorf("%s: %+v, seen %d times", name, j, b.api.timesSeen(to))
			}
		})
	}
}

// TestReactsToNothing: what no status tells is held as soon as it is written, and so is a dry run.
func TestReactsToNothing(t *testing.T) {
	for name, c := range map[string]struct {
		signal signals.Signal
		dry    bool
	}{"no status says so": {pausedBasket("3.5.0", ""), false}, "a dry run": {pausedBasket("3.5.0", eckReacted), true}} {
		synctest.Test(t, func(t *testing.T) {
			b, _ := reacting(t, c.signal, system.Action{})
			signals := b.runner
			b.runner = func(r *Runner) { signals(r); r.DryRun = c.dry }
			began := time.Now()
			out, err := b.once(t, "web")
			if err != nil || len(out.Failed) > 0 || len(out.Done) == 0 || strings.Contains(out.Done[0].Result, "reacted") || time.Since(began) > time.Second {
				t.Errorf("%s: %v %+v after %s", name, err, out, time.Since(began))
			}
		})
	}
}

// TestReactsAfterKill: a run that is killed while it waits is continued by waiting, and what
// is written is not written again. Who calls it off meanwhile has it taken back.
func TestReactsAfterKill(t *testing.T) {
	for name, reacts := range map[string]bool{"it reacts": true, "it never does": false} {
		synctest.Test(t, func(t *testing.T) {
			b, to := reacting(t, pausedBasket("3.5.0", eckReacted), system.Action{})
			before := b.api.image(t)
			writes := b.patches(to)
			b.cut(t, 30*time.Second)
			if h := b.journal(t).Holds; len(h) != 1 || h[0].Phase != Stopping || h[0].Operations[0].State != Started || *writes != 1 {
				t.Fatalf("%s: %+v, %d writes", name, b.states(t), *writes)
			}
			if reacts {
				b.reacts(t, to, 30*time.Second, "True")
			}
			out, err := b.once(t, "web")
			failed := slices.ContainsFunc(out.Failed, func(r Record) bool { return strings.Contains(r.Result, "did not react") })
			if err != nil || failed == reacts {
				t.Errorf("%s: %v %+v", name, err, out)
			}
			if !reacts {
				b.sameAs(t, before)
				return
			}
			if h := b.journal(t).Holds; len(h) != 1 || h[0].Phase != Held || *writes != 1 {
				t.Errorf("%s: %+v, %d writes", name, b.states(t), *writes)
			}
		})
	}
}

// TestReactsCalledOff: an app that is let go while it was waited for its operator is let go.
func TestReactsCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := reacting(t, pausedBasket("3.5.0", eckReacted), system.Action{})
		before := b.api.image(t)
		b.cut(t, 30*time.Second)
		b.until(t)
		b.sameAs(t, before)
	})
}

// cut is a run that ends after a time, as with Ctrl-C.
func (b *bench) cut(t *testing.T, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	j := b.journal(t)
	if _, err := b.run(ctx).Do(ctx, b.plan(j, "web"), j); err == nil {
		t.Error("it was not stopped")
	}
}

// TestReactsGone: an object that goes, or is made anew, while its operator is waited for.
func TestReactsGone(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(b *bench, to Target)
		want    string
	}{
		"gone":    {func(b *bench, to Target) { delete(b.api.objects, to.String()) }, "was deleted before its operator reacted"},
		"another": {func(b *bench, to Target) { b.api.objects[to.String()].SetUID("new") }, "was replaced by another object"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, to := reacting(t, pausedBasket("3.5.0", eckReacted), system.Action{})
			go func() {
				time.Sleep(5 * time.Second)
				b.api.mu.Lock()
				defer b.api.mu.Unlock()
				c.happens(b, to)
			}()
			out, err := b.once(t, "web")
			if err != nil || len(out.Failed) == 0 || !strings.Contains(out.Failed[0].Result, c.want) || len(b.journal(t).Holds) > 0 {
				t.Errorf("%s: %v %+v", name, err, out)
			}
		})
	}
}
