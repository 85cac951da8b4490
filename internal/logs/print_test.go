package logs

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ktypes "k8s.io/apimachinery/pkg/types"
)

func containerOf(ns, pod, name string) Container {
	return Container{Namespace: ns, Pod: pod, Name: name, UID: ktypes.UID(ns + pod), Node: "node-0", Instance: "1", Running: true}
}

func said(c Container, text string) Line {
	return Line{Container: c, Time: time.Unix(1, 0), Stamp: "2026-11-15T09:00:00.5Z", Text: text}
}

func TestTextLines(t *testing.T) {
	web, db := containerOf("shop", "web-7d9c5-x2x4v", "web"), containerOf("data", "db-0", "mysql")
	for _, c := range []struct {
		name  string
		lines Printer
		in    []Line
		want  string
	}{
		{
			"in a pipe",
			Printer{home: "shop"},
			[]Line{said(web, "hello"), said(db, "")},
			"web-7d9c5-x2x4v web | hello\ndata/db-0 mysql | \n",
		},
		{
			"on a terminal",
			Printer{home: "shop", Width: 100},
			[]Line{said(db, "a"), said(web, "b"), said(db, "c")},
			"data/db-0 mysql     | a\nweb-7d9c5-x2x4v web | b\ndata/db-0 mysql     | c\n",
		},
		{
			"times",
			Printer{Timestamps: true, NoPrefix: true},
			[]Line{said(web, "a"), {Container: web, Text: "the server's own"}},
			"2026-11-15T09:00:00.5Z a\nthe server's own\n",
		},
		{
			"what a terminal would obey",
			Printer{NoPrefix: true},
			[]Line{said(web, "\x1b[1;31mred\x1b[0m\ta\x1b]0;title\x07\x1b[2J \u202eb\xff")},
			"red\ta\\x1b]0;title\\x07\\x1b[2J \\u202eb\\xff\n",
		},
		{"a line that is cut", Printer{NoPrefix: true}, []Line{{Container: web, Text: "abc", Cut: 5}}, "abc… (5 bytes more)\n"},
		{
			"matches stand out",
			Printer{Color: true, filter: Filter{Only: []*regexp.Regexp{regexp.MustCompile("o+"), regexp.MustCompile("oof|$"), regexp.MustCompile("b")}}, NoPrefix: true},
			[]Line{said(web, "foof\x1b[31mbar\x1b")},
			"f\x1b[1;7moo\x1b[0mf\x1b[1;7mb\x1b[0mar\\x1b\n",
		},
		{"and not without colour", Printer{filter: Filter{Only: []*regexp.Regexp{regexp.MustCompile("o")}}, NoPrefix: true}, []Line{said(web, "foo")}, "foo\n"},
	} {
		var out bytes.Buffer
		w := c.lines
		w.Out = &out
		var all []Container
		for _, l := range c.in {
			all = append(all, l.Container)
		}
		w.begin(w.filter, w.home, all)
		for _, l := range c.in {
			if err := w.line(l); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != c.want {
			t.Errorf("%s:\n%q\nwant:\n%q", c.name, &out, c.want)
		}
	}
}

// A label is never wider than its columns; pods that differ at their end still do.
func TestLabelsAreCut(t *testing.T) {
	long := "prometheus-kube-prometheus-stack-operator-7d9c5"
	for columns := 16; columns < 90; columns++ {
		w := Printer{home: "shop", Width: (columns*5 + 1) / 2, NoPrefix: true}
		seen := map[string]bool{}
		for _, c := range []Container{
			containerOf("shop", long+"-aaaaa", "config-reloader-of-the-prometheus"), containerOf("shop", long+"-bbbbb", "config-reloader-of-the-prometheus"),
			containerOf("shop", long+"-aaaaa", "c"), containerOf("shop", "a", "config-reloader-of-the-prometheus"), containerOf("other", "a", "b"),
		} {
			name := w.name(c)
			if n := utf8.RuneCountInString(name); n > columns {
				t.Errorf("%d columns: %q has %d", columns, name, n)
			}
			if seen[name] {
				t.Errorf("%d columns: two are %q", columns, name)
			}
			seen[name] = true
		}
	}
	w := Printer{home: "shop", Width: 75, NoPrefix: true}
	if got := w.name(containerOf("shop", "web-0", "nginx")); got != "web-0 nginx" {
		t.Errorf("a short label is %q", got)
	}
}

// A pod has one colour, whatever the run and whichever the container; pods have several.
func TestColoursOfPods(t *testing.T) {
	colours := map[string]bool{}
	for i := range 40 {
		pod := fmt.Sprintf("web-%d", i)
		one, two := paintPod("x", containerOf("shop", pod, "a"), true), paintPod("x", containerOf("shop", pod, "b"), true)
		if one != two {
			t.Errorf("%s is %q and %q", pod, one, two)
		}
		colours[one] = true
	}
	if len(colours) < len(podColours)/2 {
		t.Errorf("forty pods have the colours %v", colours)
	}
	if got := paintPod("x", containerOf("shop", "web-0", "a"), true); got != "\x1b[32mx\x1b[0m" {
		t.Errorf("the colour of web-0 has changed: %q", got)
	}
	if got := paintPod("x", containerOf("shop", "web-0", "a"), false); got != "x" {
		t.Errorf("without colour: %q", got)
	}
}

func TestJSONLines(t *testing.T) {
	var out bytes.Buffer
	w := Printer{Out: &out, JSON: true}
	c := containerOf("shop", "web-0", "web")
	for _, l := range []Line{said(c, "<a>\x1b[31m \u202e\xff\t\U000e0041"), {Container: Container{Namespace: "shop", Pod: "p", Name: "c"}, Text: "the server's own", Cut: 7}} {
		if err := w.line(l); err != nil {
			t.Fatal(err)
		}
	}
	const head = `{"apiVersion":"sysop.dev/v1alpha1","kind":"LogLine","namespace":"shop",`
	want := head + `"pod":"web-0","container":"web","node":"node-0","time":"2026-11-15T09:00:00.5Z","message":"<a>\u001b[31m \u202e\ufffd\t\udb40\udc41"}` + "\n" +
		head + `"pod":"p","container":"c","message":"the server's own","cut":7}` + "\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

func TestLineFilter(t *testing.T) {
	res := func(texts ...string) (all []*regexp.Regexp) {
		for _, text := range texts {
			all = append(all, regexp.MustCompile(text))
		}
		return all
	}
	for _, c := range []struct {
		only, never []*regexp.Regexp
		text        string
		want        bool
	}{
		{nil, nil, "", true},
		{res("a", "b"), nil, "xbx", true},
		{res("a", "b"), nil, "c", false},
		{nil, res("a"), "xa", false},
		{nil, res("a"), "x", true},
		{res("a"), res("b", "c"), "ac", false},
		{res("^a$"), nil, "a", true},
	} {
		if got := (Filter{c.only, c.never}).takes(c.text); got != c.want {
			t.Errorf("%v, not %v: %q is taken: %v", c.only, c.never, c.text, got)
		}
	}
}

// reporter writes messages to a buffer.
type reporter struct{ out *bytes.Buffer }

func (r reporter) Warn(text string) { fmt.Fprintf(r.out, "warning: %s\n", text) }
func (r reporter) Note(text string) { fmt.Fprintf(r.out, "note: %s\n", text) }

func TestNotices(t *testing.T) {
	forbidden := func(pod string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod, errors.New("no"))
	}
	note := func(ns, pod, name string, event Event, why any) Notice {
		n := Notice{Container: containerOf(ns, pod, name), Event: event}
		if err, ok := why.(error); ok {
			n.Err = err
		} else {
			n.Reason, _ = why.(string)
		}
		return n
	}
	var many []Notice
	for i := range 6 {
		many = append(many, note("shop", fmt.Sprintf("p%d", i), "c", Failed, forbidden(fmt.Sprintf("p%d", i))))
	}
	gone := []Notice{note("shop", "a", "web", Gone, nil), note("shop", "a", "log", Gone, nil), note("data", "b", "db", Gone, nil)}
	for _, c := range []struct {
		name   string
		follow bool
		tell   [][]Notice
		want   string
	}{
		{
			"waiting", false,
			[][]Notice{{note("shop", "a", "web", Waiting, "ErrImagePull"), note("data", "b", "db", Waiting, "PodInitializing"), note("shop", "c", "web", Waiting, "ErrImagePull")}},
			"warning: no log yet of a web, c web: waiting to start (ErrImagePull)\nwarning: no log yet of data/b db: waiting to start (PodInitializing)\n",
		},
		{
			"forbidden in two namespaces", false,
			[][]Notice{append(slices.Clone(many), note("data", "b", "db", Failed, forbidden("b")))},
			"warning: not read: the log of p0 c, p1 c, p2 c and 3 more: pods \"p0\" is forbidden: no\nwarning: not read: the log of data/b db: pods \"b\" is forbidden: no\n",
		},
		{"forbidden, once and for all", true, [][]Notice{many[:1], many[1:2], many}, "warning: not read: the log of p0 c: pods \"p0\" is forbidden: no\n"},
		{"broken off", false, [][]Notice{{note("shop", "a", "web", Interrupted, errors.New("a"))}}, "warning: the log of a web broke off: a\n"},
		{
			"broken off, for now", true,
			[][]Notice{{note("shop", "a", "web", Interrupted, errors.New("gone"))}, {note("shop", "b", "web", Interrupted, errors.New("gone"))}},
			"warning: the log of a web broke off: gone; retrying\n",
		},
		{"queued", true, [][]Notice{{note("shop", "a", "web", Queued, nil), note("shop", "b", "web", Queued, nil)}}, "warning: not followed until another log ends: a web, b web (--max-streams 2)\n"},
		{"gone, a pod at a time", true, [][]Notice{gone, gone[:1], {note("shop", "d", "web", Gone, nil)}}, "note: a, data/b are gone from the stack\nnote: d is gone from the stack\n"},
		{"ended", true, [][]Notice{{note("shop", "a", "web", Ended, "Succeeded")}, {note("shop", "a", "log", Ended, "Succeeded")}}, "note: a ended: Succeeded\n"},
	} {
		var out bytes.Buffer
		teller := &notices{Request: &Request{Options: Options{Follow: c.follow}, MaxStreams: 2}, to: reporter{&out}, home: "shop"}
		for _, notes := range c.tell {
			teller.report(notes)
		}
		if out.String() != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, &out, c.want)
		}
	}
}

func TestWantedContainers(t *testing.T) {
	main, init, debug := containerOf("shop", "a", "web"), containerOf("shop", "a", "prepare"), containerOf("shop", "a", "debug")
	init.Role, debug.Role = Init, Ephemeral
	all := []Container{init, main, debug}
	for _, c := range []struct {
		q    Request
		want []Container
	}{
		{Request{AllContainers: true}, all},
		{Request{}, []Container{main}},
		{Request{Containers: []string{"prepare", "none"}}, []Container{init}},
	} {
		if got := c.q.wanted(all); !slices.Equal(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
	if len(all) != 3 || all[0].Name != "prepare" {
		t.Error("what was given has changed")
	}
}

// What has not started is told, and what was not restarted has no log from before.
func TestReadyContainers(t *testing.T) {
	runs, waits, again := containerOf("shop", "a", "web"), containerOf("shop", "b", "web"), containerOf("shop", "c", "web")
	waits.Instance, waits.Running, waits.Waiting = "", false, "ErrImagePull"
	again.Restarted = true
	all := []Container{runs, waits, again}
	l := &Request{}
	ready, notes := l.ready(all)
	if !slices.Equal(ready, []Container{runs, again}) || len(notes) != 1 || notes[0].Container != waits || notes[0].Reason != "ErrImagePull" {
		t.Errorf("ready %v, notes %v", ready, notes)
	}
	l.Options.Previous = true
	ready, notes = l.ready(all)
	if !slices.Equal(ready, []Container{again}) || len(notes) > 0 {
		t.Errorf("from before: ready %v, notes %v", ready, notes)
	}
}
