package crd

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Compare returns the changes from one definition to another: first those of the whole definition,
// then version by version in the order of the former, each by field. The status of the former has
// the versions in which objects are stored; the default is its storage version. Labels, annotations
// and the status are not compared.
//
// Schemas are compared as the API server interprets structural ones: an undeclared field is pruned
// unless x-kubernetes-preserve-unknown-fields or additionalProperties keep it; apiVersion, kind and
// metadata are always declared. If it cannot be decided that every valid object stays valid, the
// change is Unsafe. The error says where one of the two is malformed.
func Compare(former, next *unstructured.Unstructured) ([]Change, error) {
	was, err := readDefinition(former)
	if err != nil {
		return nil, err
	}
	now, err := readDefinition(next)
	if err != nil {
		return nil, err
	}
	c := newComparer(was, now)
	c.definitions(was, now)
	for _, v := range was.versions {
		c.version = v.name
		if after, ok := now.version(v.name); ok {
			c.versions(v, after)
			continue
		}
		c.removed(was, v)
	}
	c.version = ""
	c.stored(was, now)
	for _, v := range now.versions {
		if _, ok := was.version(v.name); !ok {
			c.version = v.name
			c.added(now, v)
		}
	}
	c.version = ""
	c.storage(was, now)
	return c.changes, c.err
}

// comparer collects changes, and the first error.
type comparer struct {
	changes    []Change
	severities map[string]Severity
	version    string
	// name is that of the definition, for errors.
	name string
	// keepsAll is set if the former definition prunes nothing.
	keepsAll bool
	// reworded counts the changed descriptions of the version.
	reworded int
	err      error
}

func newComparer(was, now *definition) *comparer {
	c := &comparer{severities: map[string]Severity{}, name: now.name, keepsAll: was.keepsAll}
	for _, r := range Rules() {
		c.severities[r.ID] = r.Severity
	}
	return c
}

// add records a change. The formatted text follows the field and the version.
func (c *comparer) add(rule, at string, was, now any, format string, args ...any) {
	change := Change{Rule: rule, Severity: c.severities[rule], Version: c.version, Field: at, Was: short(was), Is: short(now)}
	message := fmt.Sprintf(format, args...)
	if change.Was != "" || change.Is != "" {
		message += ": it was " + orNothing(change.Was) + ", it is " + orNothing(change.Is)
	}
	place := at
	if place != "" && c.version != "" {
		place += " in " + c.version
	} else if c.version != "" {
		place = c.version
	}
	if place != "" {
		message = place + ": " + message
	}
	change.Message = message
	c.changes = append(c.changes, change)
}

func (c *comparer) malformed(at, format string, args ...any) {
	if c.err == nil {
		c.err = malformed(c.name, strings.TrimSpace(c.version+" "+at), format, args...)
	}
}

// definitions compares the fields outside of versions.
func (c *comparer) definitions(was, now *definition) {
	for _, f := range []struct {
		rule, at string
		was, is  any
		what     string
	}{
		{nameChanged, "metadata.name", was.name, now.name, "another name"},
		{groupChanged, "spec.group", was.spec["group"], now.spec["group"], "another group"},
		{nameChanged, "spec.names.plural", was.names["plural"], now.names["plural"], "another plural"},
		{kindChanged, "spec.names.kind", was.names["kind"], now.names["kind"], "another kind"},
		{scopeChanged, "spec.scope", was.spec["scope"], now.spec["scope"], "another scope"},
		{listKindChanged, "spec.names.listKind", was.listKind(), now.listKind(), "another list kind"},
		{aliasesChanged, "spec.names.singular", was.singular(), now.singular(), "another singular"},
		{aliasesChanged, "spec.names.shortNames", was.names["shortNames"], now.names["shortNames"], "other short names"},
		{aliasesChanged, "spec.names.categories", was.names["categories"], now.names["categories"], "other categories"},
	} {
		if !sameKeyword(f.at, f.was, f.is) {
			c.add(f.rule, f.at, f.was, f.is, "%s", f.what)
		}
	}
	if now.keepsAll != was.keepsAll {
		rule, message := pruningEnded, "unknown fields are stored"
		if was.keepsAll {
			rule, message = pruningStarted, "unknown fields are dropped"
		}
		c.add(rule, "spec.preserveUnknownFields", was.keepsAll, now.keepsAll, "%s", message)
	}
	c.conversions(was, now)
	c.unknown("spec.names", was.names, now.names, namesKnown)
	c.unknown("spec", was.spec, now.spec, specKnown)
}

func namesKnown(key string) bool {
	switch key {
	case "plural", "kind", "listKind", "singular", "shortNames", "categories":
		return true
	}
	return false
}

func specKnown(key string) bool {
	switch key {
	case "group", "names", "scope", "versions", "conversion", "preserveUnknownFields":
		return true
	}
	return false
}

// listKind and singular return the defaults of the API server.
func (d *definition) listKind() string {
	if s, _ := d.names["listKind"].(string); s != "" {
		return s
	}
	kind, _ := d.names["kind"].(string)
	return kind + "List"
}

func (d *definition) singular() string {
	if s, _ := d.names["singular"].(string); s != "" {
		return s
	}
	kind, _ := d.names["kind"].(string)
	return strings.ToLower(kind)
}

func (c *comparer) conversions(was, now *definition) {
	const at = "spec.conversion"
	if was.strategy != now.strategy {
		if len(was.versions) > 1 || len(was.stored) > 1 {
			c.add(conversionChanged, at+".strategy", was.strategy, now.strategy, "another conversion, on which %d versions depend", len(was.versions))
		} else {
			c.add(conversionUnused, at+".strategy", was.strategy, now.strategy, "another conversion; there was a single version")
		}
	} else if !sameConversion(was.conversion, now.conversion) {
		c.add(webhookChanged, at+".webhook", was.conversion["webhook"], now.conversion["webhook"], "another webhook")
	}
	c.unknown(at, was.conversion, now.conversion, func(key string) bool { return key == "strategy" || key == "webhook" })
}

// unknown records differences in keys that no other rule covers.
func (c *comparer) unknown(at string, was, now map[string]any, known func(string) bool) {
	for _, key := range keysOf(was, now) {
		if !known(key) && !sameKeyword(key, was[key], now[key]) {
			c.add(unknownChange, strings.TrimPrefix(at+"."+key, "."), was[key], now[key], "a change that no rule covers")
		}
	}
}

// keysOf returns the keys of both, each once, sorted.
func keysOf(a, b map[string]any) []string {
	keys := make([]string, 0, len(a)+len(b))
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, both := a[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}
