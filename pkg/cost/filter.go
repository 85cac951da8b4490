package cost

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// Filter selects things by the values of keys: all its terms must hold.
type Filter []filterTerm

// filterTerm is a condition on the value of a key, which is empty where there is none.
type filterTerm struct {
	key    Key
	not    bool
	values []*regexp.Regexp
}

// operators are tried in this order.
func operators() []string { return []string{"!=", "==", "=", " notin ", " in "} }

// ParseFilter reads conditions in the words of a label selector, separated by commas: KEY=VALUE,
// KEY!=VALUE, KEY in (VALUE,VALUE), KEY notin (VALUE,VALUE). In a value * is any text, and ? any
// character; an empty value, or (none), is that of what has none.
func ParseFilter(text string) (Filter, error) {
	var f Filter
	for _, part := range outsideParentheses(text) {
		t, err := parseTerm(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		f = append(f, t)
	}
	return f, nil
}

// outsideParentheses splits a text at commas that are in no parentheses.
func outsideParentheses(text string) []string {
	depth := 0
	return strings.FieldsFunc(text+" ", func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ',' && depth <= 0
	})
}

func parseTerm(text string) (filterTerm, error) {
	for _, op := range operators() {
		name, value, ok := strings.Cut(text, op)
		if !ok || strings.ContainsAny(name, "=!(") {
			continue
		}
		key, err := ParseKey(strings.TrimSpace(name))
		switch {
		case err != nil:
			return filterTerm{}, err
		case key.By == ByStack:
			return filterTerm{}, fmt.Errorf("stack is no key of a filter: name the stack as a ROOT, or filter by resource, controllerName or label:KEY")
		}
		t := filterTerm{key: key, not: strings.Contains(op, "!") || strings.Contains(op, "not")}
		values := []string{value}
		if strings.HasPrefix(op, " ") {
			list, opened := strings.CutPrefix(strings.TrimSpace(value), "(")
			list, closed := strings.CutSuffix(list, ")")
			if rest := strings.ReplaceAll(list, noValue, ""); !opened || !closed || strings.TrimSpace(list) == "" || strings.ContainsAny(rest, "()") {
				return t, fmt.Errorf("%q has no list of values: expected one in parentheses, as in namespace in (shop,tools)", field.Shorten(text))
			}
			values = strings.Split(list, ",")
		}
		for _, v := range values {
			if v = strings.TrimSpace(v); v == noValue {
				v = ""
			}
			t.values = append(t.values, wildcard(v))
		}
		return t, nil
	}
	return filterTerm{}, fmt.Errorf("%q is no condition: expected KEY=VALUE, KEY!=VALUE, KEY in (VALUE,...) or KEY notin (VALUE,...); KEY is one of %s",
		field.Shorten(text), strings.Join(KeyNames()[1:], ", "))
}

// wildcard compiles a text in which * is any text and ? any character.
func wildcard(text string) *regexp.Regexp {
	text = strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(text))
	return regexp.MustCompile("(?s)^" + text + "$")
}

// Keys are those that a filter asks for.
func (f Filter) Keys() []Key {
	var keys []Key
	for _, t := range f {
		keys = append(keys, t.key)
	}
	return keys
}

func (f Filter) accepts(value func(Key) string) bool {
	return !slices.ContainsFunc(f, func(t filterTerm) bool {
		v := value(t.key)
		return t.not == slices.ContainsFunc(t.values, func(r *regexp.Regexp) bool { return r.MatchString(v) })
	})
}

// Select returns the part of a reading and of its ledger that a filter accepts. Charges stay as they
// were made: what is left out keeps its share of what all share. A part of idle capacity, of a shared
// namespace or of the overhead has the values of the stack that pays for it, and what no stack pays
// for those of its node and cluster alone.
func (f Filter) Select(r *metrics.UsageReport, p *metrics.Attribution, l *Ledger, g Grouping) (*metrics.UsageReport, *Ledger) {
	if len(f) == 0 {
		return r, l
	}
	groups := newGrouper(r, p, g)
	thing := func(key objectKey) bool {
		return f.accepts(func(k Key) string { return groups.valueOf(k, key).String() })
	}
	charge := func(c Charge) bool {
		if c.Kind == Used || c.Kind == Unmounted {
			return thing(objectKey{c.Item, c.UID})
		}
		return f.accepts(func(k Key) string {
			value, _ := groups.valueOfRest(k, &c)
			return value.String()
		})
	}
	ledger, reading := *l, *r
	ledger.Charges = matching(l.Charges, charge)
	reading.Pods = matching(r.Pods, func(pod metrics.Pod) bool { return thing(objectKey{pod.Ref, string(pod.UID)}) })
	reading.Claims = matching(r.Claims, func(c metrics.Claim) bool { return thing(objectKey{c.Ref, string(c.UID)}) })
	reading.LoadBalancers = matching(r.LoadBalancers, func(b metrics.LoadBalancer) bool { return thing(objectKey{ref: b.Service}) })
	reading.Unclaimed = matching(r.Unclaimed, func(v metrics.Volume) bool { return charge(Charge{Kind: Unclaimed, Item: v.Ref()}) })
	return &reading, &ledger
}

func matching[T any](all []T, keep func(T) bool) []T {
	var out []T
	for _, one := range all {
		if keep(one) {
			out = append(out, one)
		}
	}
	return out
}
