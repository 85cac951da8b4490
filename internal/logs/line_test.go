package logs

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

type readLine struct {
	stamp, text string
	cut         int
	whole       bool
}

func readLines(t testing.TB, r io.Reader) ([]readLine, error) {
	t.Helper()
	var out []readLine
	for l := newLineReader(r); ; {
		line, whole, err := l.next()
		if err != nil {
			return out, err
		}
		if line.Time.IsZero() != (line.Stamp == "") {
			t.Errorf("time %s, stamp %q", line.Time, line.Stamp)
		}
		out = append(out, readLine{line.Stamp, line.Text, line.Cut, whole})
	}
}

func TestLines(t *testing.T) {
	const stamp = "2026-11-15T09:00:00.000000001Z"
	long := strings.Repeat("x", maxLineBytes)
	for _, c := range []struct {
		name, in string
		want     []readLine
	}{
		{"nothing", "", nil},
		{"a line", stamp + " hello\n", []readLine{{stamp, "hello", 0, true}}},
		{"blanks are the program's", stamp + "  a  \n", []readLine{{stamp, " a  ", 0, true}}},
		{"an empty line", stamp + " \n", []readLine{{stamp, "", 0, true}}},
		{"and one without its blank", stamp + "\n", []readLine{{stamp, "", 0, true}}},
		{"nothing at all on a line", "\n\n", []readLine{{"", "", 0, true}, {"", "", 0, true}}},
		{"another zone", "2026-11-15T09:00:00.5+02:00 a\n", []readLine{{"2026-11-15T09:00:00.5+02:00", "a", 0, true}}},
		{"the server's own", "unable to retrieve container logs\n", []readLine{{"", "unable to retrieve container logs", 0, true}}},
		{"what looks like a time", "2026-13-45T09:00:00Z a\n", []readLine{{"", "2026-13-45T09:00:00Z a", 0, true}}},
		{"line ends of Windows", stamp + " a\r\n", []readLine{{stamp, "a", 0, true}}},
		{"no end", stamp + " a\n" + stamp + " b", []readLine{{stamp, "a", 0, true}, {stamp, "b", 0, false}}},
		{"as long as may be", long + "\na\n", []readLine{{"", long, 0, true}, {"", "a", 0, true}}},
		{"too long", long + "yz\na\n", []readLine{{"", long, 2, true}, {"", "a", 0, true}}},
		{"too long, without an end", long + "yz", []readLine{{"", long, 2, false}}},
	} {
		got, err := readLines(t, strings.NewReader(c.in))
		if !errors.Is(err, io.EOF) || len(got) != len(c.want) {
			t.Errorf("%s: %d lines, %v", c.name, len(got), err)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: line %d: %.60q %d %v, want %.60q", c.name, i, got[i].text, got[i].cut, got[i].whole, c.want[i].text)
			}
		}
	}
}

// A log that breaks off in a line gives the part, and then the error, and again.
func TestLinesThatBreakOff(t *testing.T) {
	broken := errors.New("broken")
	r := newLineReader(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	for i, want := range []string{"a", "b"} {
		line, whole, err := r.next()
		if line.Text != want || whole != (i == 0) || err != nil {
			t.Errorf("line %d: %q %v %v", i, line.Text, whole, err)
		}
	}
	for range 2 {
		if _, _, err := r.next(); !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
	}
}

// FuzzLines holds that lines, put together, are what was read, however it arrives.
func FuzzLines(f *testing.F) {
	f.Add([]byte("2026-11-15T09:00:00Z a\nb\r\n\n\xff c"))
	f.Add([]byte("2026-11-15T09:00:00.000000001Z"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, _ := readLines(t, iotest.OneByteReader(bytes.NewReader(in)))
		text, ended := strings.CutSuffix(string(in), "\n")
		var want []string
		if len(in) > 0 {
			want = strings.Split(text, "\n")
		}
		if len(got) != len(want) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
		for i, l := range got {
			full := l.text
			if l.stamp != "" {
				if _, err := time.Parse(time.RFC3339Nano, l.stamp); err != nil {
					t.Errorf("stamp %q", l.stamp)
				}
				full = l.stamp + " " + l.text
			}
			line := strings.TrimSuffix(want[i], "\r")
			if full != line && full != line+" " || l.whole != (ended || i < len(got)-1) {
				t.Errorf("line %d: %q (%v), want %q", i, full, l.whole, line)
			}
		}
	})
}
