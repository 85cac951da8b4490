package metrics

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// sumOver sums an expression over the steps in (t - length, t]. The range is a millisecond
// shorter: before Prometheus 3 ranges included their first moment.
func sumOver(x string, length, step time.Duration) string {
	return "sum_over_time((" + x + ")[" + lengthOf(length-time.Millisecond) + ":" + lengthOf(step) + "])"
}

// lengthOf writes a length of time as PromQL has it.
func lengthOf(d time.Duration) string { return model.Duration(d).String() }

func maxBy(labels, x string) string { return "max by (" + labels + ") (" + x + ")" }

func sumBy(labels, x string) string { return "sum by (" + labels + ") (" + x + ")" }

// labelled adds a label.
func labelled(x, name, value string) string {
	return fmt.Sprintf(`label_replace(%s,%q,%q,"","")`, x, name, value)
}

// union is all series of expressions whose labels differ.
func union(all ...string) string { return "(" + strings.Join(all, " or ") + ")" }

// withHours are the sizes of things, and 1 for each step that they were there.
func withHours(x string) string {
	return union(labelled(x, "of", "size"), labelled(x+" * 0 + 1", "of", "hours"))
}

// quoteMatcher writes alternatives for a matcher of regular expressions: "a|b". A name that
// is none must still not end the string.
func quoteMatcher(values []string) string {
	escaped := make([]string, len(values))
	for i, v := range values {
		escaped[i] = regexp.QuoteMeta(v)
	}
	return strconv.Quote(strings.Join(escaped, "|"))
}

// sanitize writes a name as a label of Prometheus has it.
func sanitize(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
}
