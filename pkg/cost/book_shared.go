package cost

import (
	"maps"
	"slices"
)

// sharedRules are what the stacks of a cluster share by the rules of a book.
type sharedRules struct {
	namespaces []string            // patterns
	labels     map[string][]string // patterns of values, by key
	by         string              // even where it is empty
}

// How a book splits what is shared.
const (
	sharedEvenly = "even"
	sharedByCost = "cost"
)

// SharesAnything says whether a book has rules of what all stacks pay for.
func (b *Book) SharesAnything() bool { return len(b.shared.namespaces)+len(b.shared.labels) > 0 }

// SharedByCost says that what is shared is split by what each stack pays otherwise, and not evenly.
func (b *Book) SharedByCost() bool { return b.shared.by == sharedByCost }

// SharedLabels are the keys of the labels that rules of a book ask for, in order.
func (b *Book) SharedLabels() []string { return slices.Sorted(maps.Keys(b.shared.labels)) }

// Shares says whether all stacks pay for a thing: for its namespace, or a label; label returns the
// value of a label, empty for none.
func (b *Book) Shares(namespace string, label func(key string) string) bool {
	if namespace != "" && anyPattern(b.shared.namespaces, namespace) {
		return true
	}
	for key, values := range b.shared.labels {
		if value := label(key); value != "" && anyWildcard(values, value) {
			return true
		}
	}
	return false
}

// For returns the book of a cluster: without the overrides for other clusters.
func (b *Book) For(cluster string) *Book {
	if !slices.ContainsFunc(b.overrides, func(o override) bool { return len(o.clusters) > 0 }) {
		return b
	}
	book := &Book{Name: b.Name, Currency: b.Currency, base: b.base, notCharged: b.notCharged, shared: b.shared}
	for _, o := range b.overrides {
		if len(o.clusters) == 0 || cluster != "" && anyWildcard(o.clusters, cluster) {
			book.overrides = append(book.overrides, o)
		}
	}
	return book
}

func anyWildcard(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return wildcard(p).MatchString(text) })
}
