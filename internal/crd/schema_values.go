package crd

import "slices"

// values compares defaults and enumerations.
func (c *comparer) values(at schemaPath, was, now map[string]any) {
	before, had := was["default"]
	after, has := now["default"]
	switch {
	case (!had || before == nil) && has && after != nil:
		c.add(defaultAdded, at.path, nil, after, "a default was added")
	case had && before != nil && (!has || after == nil):
		c.add(defaultRemoved, at.path, before, nil, "the default was removed")
	case !same(before, after):
		c.add(defaultChanged, at.path, before, after, "another default")
	}
	c.enum(at, was["enum"], now["enum"])
}

func (c *comparer) enum(at schemaPath, was, now any) {
	before, had := was.([]any)
	after, has := now.([]any)
	if was != nil && !had || now != nil && !has {
		c.malformed(at.path, "has an enum that is not a list")
		return
	}
	switch {
	case len(before) == 0 && len(after) == 0:
		return
	case len(before) == 0:
		c.add(enumAdded, at.path, nil, after, "values are limited")
		return
	case len(after) == 0:
		c.add(enumRelaxed, at.path, before, nil, "values are no longer limited")
		return
	}
	if gone := difference(before, after); len(gone) > 0 {
		c.add(enumTightened, at.path, before, after, "%s is no longer accepted", short(gone))
	}
	if added := difference(after, before); len(added) > 0 {
		c.add(enumRelaxed, at.path, before, after, "%s is accepted", short(added))
	}
}

// difference returns the values of a that are not in b.
func difference(a, b []any) []any {
	var rest []any
	for _, v := range a {
		if !slices.ContainsFunc(b, func(w any) bool { return same(v, w) }) {
			rest = append(rest, v)
		}
	}
	return rest
}

// bound is a keyword that limits in one direction.
type bound struct {
	key string
	// exclusive is the keyword that excludes the bound itself.
	exclusive string
	lower     bool
	// counted is set if 0 is equal to none.
	counted bool
}

// numbers compares bounds.
func (c *comparer) numbers(at schemaPath, was, now map[string]any) {
	for _, b := range []bound{
		{key: "minimum", exclusive: "exclusiveMinimum", lower: true},
		{key: "minLength", lower: true, counted: true},
		{key: "minItems", lower: true, counted: true},
		{key: "minProperties", lower: true, counted: true},
		{key: "maximum", exclusive: "exclusiveMaximum"},
		{key: "maxLength"},
		{key: "maxItems"},
		{key: "maxProperties"},
	} {
		if was[b.key] != nil || now[b.key] != nil {
			c.bound(at, b, was, now)
		}
	}
	switch before, after := was["multipleOf"], now["multipleOf"]; {
	case same(before, after):
	case after == nil:
		c.add(boundRelaxed, at.path, before, nil, "multipleOf was removed")
	default:
		c.add(multipleChanged, at.path, before, after, "another multipleOf")
	}
	switch had, has := was["uniqueItems"] == true, now["uniqueItems"] == true; {
	case has && !had:
		c.add(uniqueAdded, at.path, nil, nil, "items must be unique")
	case had && !has:
		c.add(boundRelaxed, at.path, nil, nil, "items need no longer be unique")
	}
}

func (c *comparer) bound(at schemaPath, b bound, was, now map[string]any) {
	before, had := c.limit(at, b, was)
	after, has := c.limit(at, b, now)
	tighter := maximumLowered
	if b.lower {
		tighter = minimumRaised
	}
	switch {
	case !had && !has:
	case !had:
		c.add(boundAdded, at.path, nil, now[b.key], "%s was added", b.key)
	case !has:
		c.add(boundRelaxed, at.path, was[b.key], nil, "%s was removed", b.key)
	case before == after:
		switch wasOut, isOut := was[b.exclusive] == true, now[b.exclusive] == true; {
		case isOut && !wasOut:
			c.add(tighter, at.path, nil, nil, "%s %s is now exclusive (%s)", b.key, short(now[b.key]), b.exclusive)
		case wasOut && !isOut:
			c.add(boundRelaxed, at.path, nil, nil, "%s %s is now inclusive", b.key, short(now[b.key]))
		}
	case (after > before) == b.lower:
		c.add(tighter, at.path, was[b.key], now[b.key], "%s is tighter", b.key)
	default:
		c.add(boundRelaxed, at.path, was[b.key], now[b.key], "%s is wider", b.key)
	}
}

func (c *comparer) limit(at schemaPath, b bound, schema map[string]any) (float64, bool) {
	v, given := schema[b.key]
	if !given || v == nil {
		return 0, false
	}
	n, ok := number(v)
	if !ok {
		c.malformed(at.path, "has %s, which is not a number, as %s", short(v), b.key)
	}
	return n, !(b.counted && n == 0)
}

// text compares patterns and formats.
func (c *comparer) text(at schemaPath, was, now map[string]any) {
	for _, f := range []struct{ key, changed, removed string }{
		{"pattern", patternChanged, patternRemoved},
		{"format", formatChanged, formatRemoved},
	} {
		before, after := was[f.key], now[f.key]
		switch {
		case sameKeyword(f.key, before, after):
		case blank(after):
			c.add(f.removed, at.path, before, nil, "the %s was removed", f.key)
		case blank(before):
			c.add(f.changed, at.path, nil, after, "a %s was added", f.key)
		default:
			c.add(f.changed, at.path, before, after, "another %s", f.key)
		}
	}
}
