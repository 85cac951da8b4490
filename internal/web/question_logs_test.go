package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/logs"
)

// TestLogs holds that the page gets the last lines of a pod as a terminal shows them, bounded, and
// why there are none.
func TestLogs(t *testing.T) {
	s := newUIServer(t)
	v := surveyOf(t, s)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if err := v.Open(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Observe(ctx); err != nil {
		t.Fatal(err)
	}
	a := &API{Page: v}
	ask := func(query string) *logs.PodLog {
		t.Helper()
		values, err := url.ParseQuery("ref=Pod/shop/web&" + query)
		if err != nil {
			t.Fatal(err)
		}
		text, err := a.logs(ctx, values)
		if err != nil {
			t.Fatal(err)
		}
		got := &logs.PodLog{}
		if err := json.Unmarshal(text, got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	const stamp = "2026-11-15T09:00:00.5Z "
	var asked url.Values
	s.log = func(q url.Values) (int, string) {
		asked = q
		return 200, stamp + "plain\n" + stamp + "\x1b[31mred\x1b[0m\x07 \u202eturned\n" + stamp + "tab\there\n" + stamp + strings.Repeat("x", 9000) + "\n"
	}
	got := ask("")
	if asked.Get("tailLines") != "200" || asked.Get("container") != "web" || asked.Get("follow") != "" {
		t.Errorf("requested %v", asked)
	}
	if got.Container != "web" || len(got.Containers) != 1 || got.Containers[0].Restarted || got.Unavailable != "" || len(got.Lines) != 4 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []string{"plain", `red\x07 \u202eturned`, "tab\there", strings.Repeat("x", 8<<10) + "… (808 bytes more)"} {
		if got.Lines[i] != want {
			t.Errorf("line %d: %q, want %q", i, got.Lines[i], want)
		}
	}
	if ask("tail=7"); asked.Get("tailLines") != "7" {
		t.Errorf("requested %v", asked)
	}

	s.log = func(url.Values) (int, string) {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, "%sline %d %s\n", stamp, i, strings.Repeat("y", 1000))
		}
		return 200, b.String()
	}
	if got := ask("tail=1000"); got.Omitted < 400 || got.Omitted+len(got.Lines) != 1000 || !strings.HasPrefix(got.Lines[len(got.Lines)-1], "line 999 ") {
		t.Errorf("%d lines and %d omitted", len(got.Lines), got.Omitted)
	}

	s.log = func(url.Values) (int, string) {
		return 403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods \"web\" is forbidden: User \"me\" cannot get resource \"pods/log\""}`
	}
	for query, want := range map[string]string{
		"":                "cannot read logs in shop: forbidden",
		"previous=true":   "the container was not restarted: there is no earlier log",
		"container=other": `the pod has no container "other"`,
	} {
		if got := ask(query); got.Unavailable != want || len(got.Lines) > 0 {
			t.Errorf("%q: %+v, want %q", query, got, want)
		}
	}
	for query, want := range map[string]string{"ref=Pod/shop/other": "was not read", "ref=Pod/shop/web&tail=0": "tail=0: expected 1 to 5000 lines", "ref=Pod/shop/web&tail=all": "tail=all: expected"} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.logs(ctx, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}
}

// TestLogsOfSnapshot: a snapshot has the objects, and no logs.
func TestLogsOfSnapshot(t *testing.T) {
	a := &API{Page: demoPage(t)}
	if _, err := a.logs(t.Context(), url.Values{"ref": {"Secret/moodle/cluster1-secret"}}); err == nil || !strings.Contains(err.Error(), "only Pods have logs") {
		t.Errorf("a Secret has logs: %v", err)
	}
	text, err := a.logs(t.Context(), url.Values{"ref": {"Pod/moodle/cluster1-mysql-0"}})
	if err != nil || !strings.Contains(string(text), "a snapshot holds no logs") {
		t.Errorf("%s %v", text, err)
	}
}
