package source

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// doubled is a document that is n times as large once its aliases are written out.
func doubled(n int) string {
	return "a: &a " + strings.Repeat("x", 1000) + "\nb: [" + strings.Repeat("*a, ", n) + "]\n"
}

func TestRefusesWhatGrows(t *testing.T) {
	utf16 := func(order binary.AppendByteOrder) string { return "\xef\xbb\xbf" + inUTF16(doubled(20_000), order) }
	for name, c := range map[string]struct{ text, want string }{
		// No document of the stream is out of bounds: all together are.
		"aliases of many documents": {zipped(strings.Repeat("---\n"+doubled(2000), 40)), "its aliases expand to far more"},
		"aliases in UTF-16":         {utf16(binary.LittleEndian), "its aliases expand to far more"},
		"aliases in UTF-16 (BE)":    {utf16(binary.BigEndian), "its aliases expand to far more"},
		"aliases after a break":     {strings.ReplaceAll(doubled(20_000), " *a", "\u2028*a"), "its aliases expand to far more"},
		"zeros in gzip":             {zipped(strings.Repeat("\x00", 3*unpackedAlways)), "it unpacks to more than 100 times its size"},
		"text in gzip":              {zipped("a: " + strings.Repeat("x", 3*unpackedAlways)), "it unpacks to more than 100 times its size"},
		"gzip after gzip":           {strings.Repeat(zipped(strings.Repeat("#\n", 1<<20)), 8), "it unpacks to more than 100 times its size"},
		"indicators":                {strings.Repeat("- \n", strict.MaxNodes), "nodes (keys, values, items) in 6000000 bytes: too many for objects"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Parse("x", strings.NewReader(c.text))
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 256<<20 {
				t.Errorf("%d bytes took %d MiB to refuse", len(c.text), took>>20)
			}
		})
	}
}

// What a person packs, or writes with aliases, is read.
func TestReadsWhatIsPackedWell(t *testing.T) {
	var b strings.Builder
	for i := range 2_000 {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web-%d\n  uid: %x\n  labels: &l {app: web, tier: front}\nspec:\n  selector: *l\n  containers:\n  - {name: web, image: registry.example.com/web@sha256:%x}\n", i, i*7919, i*104729)
	}
	docs, err := Parse("x", strings.NewReader(zipped(b.String())))
	if err != nil || len(docs) != 2_000 {
		t.Errorf("%d documents, and %v", len(docs), err)
	}
}

// As many bytes take about as long in many documents as in few.
func TestJSONStreamsAreReadOnce(t *testing.T) {
	stream := func(documents int) string {
		const bytes = 8 << 20
		return strings.Repeat(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`+strings.Repeat("x", bytes/documents-60)+"\"}}\n\n\n", documents)
	}
	fastest := func(text string) time.Duration {
		least := time.Hour
		for range 3 {
			begin := time.Now()
			if _, err := Parse("x", strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
			least = min(least, time.Since(begin))
		}
		return least
	}
	short, long := fastest(stream(100)), fastest(stream(20_000))
	t.Logf("100 documents took %s, 20000 of as many bytes %s", short, long)
	if long > 8*short {
		t.Errorf("100 documents took %s, 20000 of as many bytes %s", short, long)
	}
}
