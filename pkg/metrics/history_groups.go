package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
)

// cgroupUID matches the cgroup forms of the UID of a pod: with dashes, with underscores (systemd), and the
// hash of a static pod.
var cgroupUID = lazyregexp.New(`pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})`)

// uidOf is the UID of the pod of a cAdvisor series: its own label where a scraper adds
// one, or out of the path of the cgroup.
func uidOf(labels map[string]string) string {
	if uid := cmp.Or(labels["uid"], labels["pod_uid"]); uid != "" {
		return uid
	}
	m := cgroupUID.FindStringSubmatch(labels["id"])
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(m[1], "_", "-")
}

// group is the series of one thing, by who stored them.
type group struct {
	key    string
	labels map[string]string
	lists  map[string][]sample
}

// groups puts series together that are of one thing: those that have the same values of
// the labels that name it. What a scraper adds makes no difference.
func groups(list []series, names ...string) []group {
	byKey := map[string]int{}
	var out []group
	for _, s := range list {
		key := keyOf(s.labels, names)
		i, ok := byKey[key]
		if !ok {
			i = len(out)
			byKey[key] = i
			out = append(out, group{key: key, labels: s.labels, lists: map[string][]sample{}})
		}
		by := keyOf(s.labels, slices.Sorted(maps.Keys(s.labels)))
		out[i].lists[by] = append(out[i].lists[by], s.samples...)
	}
	slices.SortFunc(out, func(a, b group) int { return strings.Compare(a.key, b.key) })
	return out
}

func keyOf(labels map[string]string, names []string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString(labels[n])
		b.WriteByte(0xff)
	}
	return b.String()
}

// begun is the moment of the first sample.
func (g group) begun() int64 {
	at := int64(math.MaxInt64)
	for _, list := range g.lists {
		at = min(at, list[0].t)
	}
	return at
}

// samples of a group, of several scrapers, as those of one gauge.
func (g group) samples() []sample {
	return unite(slices.Collect(maps.Values(g.lists))...)
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
