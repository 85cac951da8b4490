package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// watched is a health --watch that a test looks at.
type watched struct {
	*appServer
	*lineChannel
	errs bytes.Buffer
	err  error // why it has ended, once lines is closed
}

// watchHealth begins a watch, which ends with the test.
func watchHealth(t *testing.T, output string, about ...string) *watched {
	t.Helper()
	w := &watched{appServer: newAppServer(), lineChannel: &lineChannel{lines: make(chan string)}}
	o := w.health(t, w.lineChannel, &w.errs, output, about...)
	o.watch = true
	// A watch that says nothing more ends here, by the clock of the test.
	ctx, stop := context.WithTimeout(t.Context(), time.Hour)
	go func() {
		w.err = o.run(ctx, o.args)
		close(w.lines)
	}()
	t.Cleanup(func() {
		stop()
		for range w.lines { // It may want to say something yet.
			continue
		}
	})
	return w
}

// line returns the next line.
func (w *watched) line(t *testing.T) string {
	t.Helper()
	line, more := <-w.lines
	if !more {
		t.Fatalf("it has ended: %v\n%s", w.err, &w.errs)
	}
	t.Log(strings.TrimSuffix(line, "\n"))
	return line
}

// until reads changes until the stack is as it is wanted, and returns that of the stack.
func (w *watched) until(t *testing.T, to string) (reason, message string) {
	t.Helper()
	for {
		var c struct{ Stack, Object, From, To, Reason, Message string }
		if err := json.Unmarshal([]byte(w.line(t)), &c); err != nil {
			t.Fatal(err)
		}
		if c.To == "" || c.Stack != "" && c.Stack != "Deployment.apps/shop/web" {
			t.Errorf("something is gone, or a stack is new: %+v", c)
		}
		if c.To == "Unknown" && (c.Reason != "NotRead" || !strings.HasSuffix(c.Message, "unread (Forbidden)")) {
			t.Errorf("it is not unread: %+v", c)
		}
		if c.Stack != "" && c.To == to {
			return c.Reason, c.Message
		}
	}
}

// TestWatchOfWhatMayNotBeRead takes the rights to read a part of a stack away during a watch,
// and gives them back: nothing is gone, no other stack is found, and the documents say why.
func TestWatchOfWhatMayNotBeRead(t *testing.T) {
	for name, about := range map[string][]string{"the namespace": nil, "one root": {"deployment/web"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watchHealth(t, "json", about...)
				w.until(t, "Healthy")
				for range 2 {
					synctest.Wait() // All is watched.
					w.refuse()
					w.until(t, "Unknown")
					w.restore()
					w.until(t, "Healthy")
				}
			})
		})
	}
}

// sees reads changes until there is one of an object, or of a stack, to a status.
func (w *watched) sees(t *testing.T, object, stack, to string) (reason, message string) {
	t.Helper()
	for {
		var c struct{ Stack, Object, To, Reason, Message string }
		if err := json.Unmarshal([]byte(w.line(t)), &c); err != nil {
			t.Fatal(err)
		}
		if c.Stack == stack && (stack != "" || c.Object == object) && c.To == to {
			return c.Reason, c.Message
		}
	}
}

// TestWatchOfAHealthyPart holds that a part which is Healthy and may not be read any longer is
// unread, although what is above it stays Healthy, or was unread before.
func TestWatchOfAHealthyPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pod, replicas = "Pod/shop/web-1-a", "ReplicaSet.apps/shop/web-1"
		w := watchHealth(t, "json", "deployment/web")
		w.until(t, "Healthy")
		for _, above := range [][]string{nil, {"replicasets"}} {
			synctest.Wait() // All is watched.
			if above != nil {
				w.change(func() { w.without = above })
				w.sees(t, replicas, "", "Unknown")
				synctest.Wait()
			}
			w.change(func() { w.without = slices.Concat(above, []string{"pods"}) })
			if reason, message := w.sees(t, pod, "", "Unknown"); reason != "NotRead" || message != "unread (Forbidden)" {
				t.Errorf("it is %s, %s", reason, message)
			}
			w.change(func() { w.without = nil })
			w.sees(t, pod, "", "Healthy")
		}
	})
}

// TestWatchOfARootThatGoes holds that a root which is deleted during a watch is gone, which is
// a change and no error, and that it is judged again when it comes back.
func TestWatchOfARootThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const stack = "Deployment.apps/shop/web"
		w := watchHealth(t, "json", "deployment/web")
		w.until(t, "Healthy")
		for range 2 {
			synctest.Wait() // All is watched.
			w.change(func() { w.gone = true })
			w.sees(t, "", stack, "")
			w.change(func() { w.gone = false })
			w.sees(t, "", stack, "Healthy")
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.errs.Len() > 0 {
			t.Errorf("it says:\n%s", &w.errs)
		}
	})
}

// TestWatchSaysUnread is the same in text.
func TestWatchSaysUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchHealth(t, "tree")
		until := func(want string) {
			t.Helper()
			for {
				line := w.line(t)
				if strings.Contains(line, "gone") {
					t.Errorf("something is gone: %s", line)
				}
				if strings.Join(strings.Fields(line)[1:], " ") == want {
					return
				}
			}
		}
		for !strings.Contains(w.line(t), "Deployment/web") {
			continue
		}
		synctest.Wait() // All is watched.
		w.refuse()
		until("? Unknown Deployment/web unread (Forbidden)")
		until("? Unknown stack Deployment/web ReplicaSet.apps/shop/web-1: unread (Forbidden)")
		w.restore()
		until("✔ Healthy stack Deployment/web")
	})
}

// TestWaitSaysWhatIsThereNow holds that a wait whose time is up shows what is there by then: the
// rights to read it were taken away, it changed while it could not be watched, or nobody knows.
func TestWaitSaysWhatIsThereNow(t *testing.T) {
	for name, c := range map[string]struct {
		begin, change func(*appServer)
		want, shown   string
	}{
		"refused": {
			func(*appServer) {}, func(s *appServer) { s.refused = true },
			"wait for Degraded: Deployment.apps/shop/web is Unknown (ReplicaSet.apps/shop/web-1: it could not be read): not reached after 5s", "Unknown",
		},
		"not watched": {
			func(s *appServer) { s.unwatched = true }, func(s *appServer) { s.available = 0 },
			"wait for Degraded: Deployment.apps/shop/web is Progressing (ReplicaSet.apps/shop/web-1: 0/1 replicas available): not reached after 5s", "Progressing",
		},
		"no answer": {
			func(*appServer) {}, func(s *appServer) { s.silent = true },
			"wait for Degraded: not reached after 5s; now: watch interrupted: customresourcedefinitions.apiextensions.k8s.io and 3 more (Timeout): no answer", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newAppServer()
				c.begin(s)
				var out, errs bytes.Buffer
				o := s.health(t, &out, &errs, "json", "deployment/web")
				o.wait, o.timeout = "Degraded", 5*time.Second
				ended := make(chan error)
				go func() { ended <- o.run(t.Context(), o.args) }()
				synctest.Wait() // It has read everything, and waits.
				s.change(func() { c.change(s) })
				err := <-ended
				if err == nil || err.Error() != c.want {
					t.Errorf("it ends with %v, want %s", err, c.want)
				}
				var answer struct{ Stacks []struct{ Health string } }
				if err := json.Unmarshal(out.Bytes(), &answer); err != nil && c.shown != "" {
					t.Fatalf("%v: %s", err, &out)
				}
				if c.shown == "" && out.Len() > 0 || c.shown != "" && (len(answer.Stacks) != 1 || answer.Stacks[0].Health != c.shown) {
					t.Errorf("it shows\n%s\nwant %s", &out, c.shown)
				}
			})
		})
	}
}

// TestWaitOfASilentServer holds that the time of a wait counts from its beginning: a server that
// never answers does not make it longer.
func TestWaitOfASilentServer(t *testing.T) {
	s := newAppServer()
	s.silent = true
	var out, errs bytes.Buffer
	o := s.health(t, &out, &errs, "json", "deployment/web")
	o.wait, o.timeout = "Healthy", 300*time.Millisecond
	began := time.Now()
	err := o.run(t.Context(), o.args)
	soon := timeout.Scaled(10 * time.Second) // discovery alone would take three times that
	if took := time.Since(began); took < o.timeout || took > soon {
		t.Errorf("it ends after %s, want %s", took, o.timeout)
	}
	const want = "wait for Healthy: no state after 300ms: the API server has not answered"
	if err == nil || err.Error() != want || out.Len() > 0 {
		t.Errorf("it ends with %v, want %s; it shows %q", err, want, &out)
	}
}
