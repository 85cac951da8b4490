package regulate

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
	"github.com/kubectl-sysop/kubectl-sysop/test/timeout"
)

// A request says what happens and is signed; it is sent again, as the same one, when the
// receiver could not take it; and its inverse is sent when the app is let go.
func TestHTTP(t *testing.T) {
	var got []string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get(signatureHeader) != Sign([]byte("secret"), r.Header.Get(timestampHeader), body) {
			t.Errorf("signature %q", r.Header.Get(signatureHeader))
		}
		if !strings.Contains(string(body), `"app":"web"`) || r.Header.Get("X-Own") != "yes" {
			t.Errorf("%s %v", body, r.Header)
		}
		got = append(got, r.URL.Path+" "+r.Header.Get(onceHeader))
		if len(got) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer receiver.Close()
	b := newBench()
	b.api.add(t, "ann", false, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}, data: {k: c2VjcmV0}}`)
	post := func(path string) *system.HTTP {
		return &system.HTTP{URL: receiver.URL + path, SecretName: "s", SecretKey: "k", Headers: map[string]string{"X-Own": "yes"}}
	}
	b.app("web", []system.Action{{HTTP: post("/stop"), Inverse: &system.Action{HTTP: post("/go")}}})
	b.until(t, "web")
	b.until(t)
	if want := []string{"/stop shop/1/0", "/stop shop/1/0", "/go shop/1/0/inverse"}; !slices.Equal(got, want) {
		t.Errorf("requests %v, want %v", got, want)
	}
}

// What a receiver refuses, or sends elsewhere, fails the hold.
func TestHTTPRefused(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the signature went to another host") }))
	defer elsewhere.Close()
	for word, handler := range map[string]http.HandlerFunc{
		"400 Bad Request": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "no")
		},
		"does not name": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
	} {
		receiver := httptest.NewServer(handler)
		b := newBench()
		b.app("web", []system.Action{{HTTP: &system.HTTP{URL: receiver.URL}}})
		out, err := b.once(t, "web")
		receiver.Close()
		if err != nil || len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Result, word) || len(b.journal(t).Holds) > 0 {
			t.Errorf("%s: %v %+v", word, err, out)
		}
	}
}

// Who cannot be dialed has heard nothing: that is said. Who took the
// connection and did not answer may have done it.
func TestHTTPNotSent(t *testing.T) {
	listen := func() net.Listener {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	nobody := listen()
	_ = nobody.Close()
	silent := listen()
	defer silent.Close()
	go func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	for _, c := range []struct {
		l         net.Listener
		says, not string
	}{
		{nobody, "nothing was sent: no connection within 300ms: ", "may have been done"},
		{silent, "it may have been done: POST ", "nothing was sent"},
	} {
		b := newBench()
		post := &system.HTTP{URL: "http://" + c.l.Addr().String()}
		b.app("web", []system.Action{{HTTP: post, Timeout: 300 * time.Millisecond}})
		out, err := b.once(t, "web")
		if err != nil || len(out.Failed) == 0 || !strings.Contains(out.Failed[0].Result, c.says) || strings.Contains(out.Failed[0].Result, c.not) {
			t.Errorf("%v %+v", err, out.Failed)
		}
		if h := b.journal(t); len(h.Holds) > 0 || !strings.Contains(h.History[len(h.History)-1].Result, "failed: ") {
			t.Errorf("%+v", h)
		}
	}
}

// A command is refused unless commands are allowed: before anything is written.
func TestExec(t *testing.T) {
	file := filepath.Join(t.TempDir(), "said")
	say := func(word string) *system.Exec {
		return &system.Exec{Command: []string{"sh", "-c", "echo " + word + " $SYSOP_SYSTEM $SYSOP_APP $SYSOP_SIGNAL $SYSOP_STEP $OWN >>" + filepath.ToSlash(file) + "; echo told"}, Env: map[string]string{"OWN": "mine"}}
	}
	for _, allowed := range []bool{false, true} {
		b := newBench()
		b.runner = func(r *Runner) { r.AllowExec = allowed }
		b.app("web", []system.Action{{Exec: say("stop"), Inverse: &system.Action{Exec: say("go")}}})
		out, err := b.once(t, "web")
		if !allowed {
			if err != nil || len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Result, "--allow-exec") || len(b.journal(t).Holds) > 0 {
				t.Errorf("%v %+v", err, out)
			}
			continue
		}
		if err != nil || len(out.Done) != 1 || out.Done[0].Result != "sh succeeded" {
			t.Fatalf("%v %+v", err, out)
		}
		b.until(t)
	}
	said, err := os.ReadFile(file)
	if want := "stop shop web Stop do mine\ngo shop web Recover undo mine\n"; err != nil || string(said) != want {
		t.Errorf("%q, want %q", said, want)
	}
}

// A command that fails, or does not end, fails the hold; what it started ends with it.
func TestExecFails(t *testing.T) {
	for word, act := range map[string]system.Action{
		"sh: exit status 3": {Exec: &system.Exec{Command: []string{"sh", "-c", "echo why; exit 3"}}},
		"was killed":        {Exec: &system.Exec{Command: []string{"sh", "-c", "sleep 60 & wait"}}, Timeout: 200 * time.Millisecond},
	} {
		b := newBench()
		b.runner = func(r *Runner) { r.AllowExec = true }
		b.app("web", []system.Action{act})
		began := time.Now()
		out, err := b.once(t, "web")
		if err != nil || len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Result, word) || time.Since(began) > timeout.Scaled(30*time.Second) {
			t.Errorf("%s: %v %+v", word, err, out)
		}
	}
}

// What a command is given and what it writes, the rest of an address and what is answered are
// neither in the journal nor in Events nor in errors: the program, how it ended and the host.
func TestDeedsKeepSecrets(t *testing.T) {
	const secret = "s3cret"
	answers := func(code int) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			fmt.Fprint(w, "your token is "+secret)
		}))
	}
	fine, refuses, busy, gone := answers(http.StatusOK), answers(http.StatusForbidden), answers(http.StatusBadGateway), answers(http.StatusOK)
	gone.Close()
	defer fine.Close()
	defer refuses.Close()
	defer busy.Close()
	post := func(s *httptest.Server) system.Action {
		return system.Action{HTTP: &system.HTTP{URL: s.URL + "/hook/" + secret + "?token=" + secret}, Timeout: 300 * time.Millisecond}
	}
	run := func(script string) system.Action {
		return system.Action{Exec: &system.Exec{Command: []string{"sh", "-c", script + "; echo " + secret, secret}}, Timeout: 300 * time.Millisecond}
	}
	for name, act := range map[string]system.Action{
		"fine": post(fine), "refuses": post(refuses), "busy": post(busy), "gone": post(gone), "ran": run("true"), "failed": run("echo " + secret + "; exit 3"),
		"slow": run("echo " + secret + "; sleep 5"), "absent": {Exec: &system.Exec{Command: []string{"no-such-program", secret}}},
	} {
		b := newBench()
		var heard []string
		b.runner = func(r *Runner) {
			r.AllowExec = true
			r.Output = func(app, text string) { heard = append(heard, app+": "+text) }
		}
		b.app("web", []system.Action{act})
		out, err := b.once(t, "web")
		journal, unwritten := json.Marshal(b.journal(t))
		if unwritten != nil {
			t.Fatal(unwritten)
		}
		for what, text := range map[string]string{"outcome": fmt.Sprintf("%+v", out), "error": fmt.Sprint(err), "journal": string(journal)} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: the %s has it: %s", name, what, text)
			}
		}
		if n := len(out.Done) + len(out.Failed); n == 0 {
			t.Errorf("%s: nothing is said", name)
		}
		if (name == "ran" || name == "failed") && !strings.Contains(strings.Join(heard, "\n"), "web: "+secret) {
			t.Errorf("%s: who sits there saw %q", name, heard)
		}
	}
}

// A Job is run once, whenever the process is killed, waited for, and deleted in the end.
func TestJob(t *testing.T) {
	for _, ends := range []string{"Complete", "Failed", ""} {
		for n := range 6 {
			synctest.Test(t, func(t *testing.T) {
				b := newBench()
				b.app("web", []system.Action{{Timeout: time.Minute, Job: &system.Job{Template: map[string]any{"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never"}}}}}})
				made := 0
				b.api.fault = func(i int, what string) fate {
					if strings.HasPrefix(what, "create ") {
						made++
						to := strings.TrimPrefix(what, "create Job.batch/shop/")
						if ends != "" {
							time.AfterFunc(3*time.Second, func() {
								b.api.mu.Lock()
								defer b.api.mu.Unlock()
								if o, ok := b.api.objects["Job.batch/shop/"+to]; ok {
									patch.Put(o.Object, []string{"status", "conditions"}, []any{map[string]any{"type": ends, "status": "True", "reason": "Because"}})
								}
							})
						}
					}
					return fate{kill: i == n}
				}
				out, _ := b.once(t, "web")
				if ends == "Complete" {
					b.until(t, "web")
					if got := b.states(t); len(got) != 1 || !strings.HasSuffix(got[0], " Done") || len(b.api.objects) != 1 {
						t.Errorf("killed at %d: %v", n, got)
					}
				} else if n == 0 && (len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Result, map[string]string{"": "did not finish within 1m0s", "Failed": "failed: Because"}[ends])) {
					t.Errorf("%q: %+v", ends, out.Failed)
				}
				b.until(t)
				if len(b.api.objects) > 0 || n != 2 && made > 1 {
					t.Errorf("killed at %d: %d made, %d left", n, made, len(b.api.objects))
				}
			})
		}
	}
}
