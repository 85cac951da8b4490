package install

import (
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	// around is the number of context lines around a change.
	around = 3
	// maxEdits limits the edits of a line-by-line diff; beyond it, one text replaces the other.
	maxEdits = 2000
)

// secretData returns the content of a Secret in the form of data.
func secretData(u *unstructured.Unstructured) map[string]string {
	out := map[string]string{}
	if u == nil {
		return out
	}
	if data, ok := u.Object["data"].(map[string]any); ok {
		for k, v := range data {
			out[k] = fmt.Sprint(v)
		}
	}
	if texts, ok := u.Object["stringData"].(map[string]any); ok {
		for k, v := range texts {
			out[k] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(v)))
		}
	}
	return out
}

// WriteDiff writes differences as a unified diff of YAML, object by object.
func WriteDiff(w io.Writer, all []Difference) error {
	for i := range all {
		d := &all[i]
		was, now := lines(d.live), lines(d.want)
		from, to := "a/"+d.Object.String(), "b/"+d.Object.String()
		switch d.What {
		case ObjectAdded:
			from = "/dev/null"
		case ObjectRemoved:
			to = "/dev/null"
		}
		if _, err := fmt.Fprintf(w, "--- %s\n+++ %s\n%s", from, to, unified(was, now)); err != nil {
			return err
		}
	}
	return nil
}

func lines(u *unstructured.Unstructured) []string {
	if u == nil {
		return nil
	}
	text, err := yaml.Marshal(u.Object)
	if err != nil {
		return []string{"# it cannot be written: " + err.Error()}
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// edit is a line that stays (' '), is removed ('-') or is added ('+').
type edit struct {
	op   byte
	text string
}

// unified writes the hunks of a diff.
func unified(was, now []string) string {
	edits := editsOf(was, now)
	var b strings.Builder
	old, fresh := 1, 1
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' {
			i++
			old++
			fresh++
			continue
		}
		start := max(0, i-around)
		end := hunkEnd(edits, i)
		lead := i - start
		var minus, plus int
		for _, e := range edits[start:end] {
			if e.op != '+' {
				minus++
			}
			if e.op != '-' {
				plus++
			}
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(old-lead, minus), span(fresh-lead, plus))
		for _, e := range edits[start:end] {
			b.WriteByte(e.op)
			b.WriteString(e.text)
			b.WriteByte('\n')
		}
		old += minus - lead
		fresh += plus - lead
		i = end
	}
	return b.String()
}

// span formats the lines of a hunk; an empty hunk names the line before it.
func span(start, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", start-1)
	case 1:
		return fmt.Sprint(start)
	}
	return fmt.Sprintf("%d,%d", start, n)
}

// hunkEnd returns the end of the hunk of the change at i. Changes whose context lines overlap share
// a hunk.
func hunkEnd(edits []edit, i int) int {
	last := i
	for j := i; j < len(edits) && j-last <= 2*around; j++ {
		if edits[j].op != ' ' {
			last = j
		}
	}
	return min(len(edits), last+1+around)
}

// editsOf turns one text into another with the fewest lines changed, by Myers' algorithm
// (An O(ND) Difference Algorithm and Its Variations, 1986).
func editsOf(was, now []string) []edit {
	head := 0
	for head < len(was) && head < len(now) && was[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(was)-head && tail < len(now)-head && was[len(was)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	var out []edit
	out = appendAll(out, ' ', was[:head])
	out = append(out, middle(was[head:len(was)-tail], now[head:len(now)-tail])...)
	return appendAll(out, ' ', was[len(was)-tail:])
}

func appendAll(out []edit, op byte, texts []string) []edit {
	for _, t := range texts {
		out = append(out, edit{op, t})
	}
	return out
}

// middle computes how far each diagonal gets with d changes, for growing d, and keeps the trace for
// walking back.
func middle(a, b []string) []edit {
	n, m := len(a), len(b)
	most := min(n+m, maxEdits)
	v := make([]int, 2*most+2)
	var trace [][]int
	for d := 0; d <= most; d++ {
		trace = append(trace, append([]int(nil), v[most-d:most+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && v[most+k-1] < v[most+k+1]:
				x = v[most+k+1]
			default:
				x = v[most+k-1] + 1
			}
			y := x - k
			for x < n && y < m && a[x] == b[y] {
				x++
				y++
			}
			v[most+k] = x
			if x >= n && y >= m {
				return walkBack(a, b, trace, d)
			}
		}
	}
	return appendAll(appendAll(nil, '-', a), '+', b)
}

func walkBack(a, b []string, trace [][]int, d int) []edit {
	x, y := len(a), len(b)
	var reversed []edit
	for ; d > 0; d-- {
		// trace[d] has how far the diagonals -d to d+1 got with d-1 changes.
		at := func(k int) int { return trace[d][k+d] }
		k := x - y
		before := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			before = k + 1
		}
		start := at(before)
		if before < k {
			start++
		}
		for x > start {
			x--
			y--
			reversed = append(reversed, edit{' ', a[x]})
		}
		if before < k {
			x--
			reversed = append(reversed, edit{'-', a[x]})
		} else {
			y--
			reversed = append(reversed, edit{'+', b[y]})
		}
	}
	for x > 0 {
		x--
		reversed = append(reversed, edit{' ', a[x]})
	}
	slices.Reverse(reversed)
	return reversed
}
