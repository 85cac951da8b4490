package crd

import "slices"

// values compares defaults and enumerations.
func (c *comparer) values(at schemaPath, was, is map[string]any) {
	before, had := was["default"]
	after, has := is["default"]
	switch {
	case (!had || before == nil) && has && after != nil:
		c.add(defaultAdded, at.path, nil, after, "a default was added")
	case had && before != nil && (!has || after == nil):
		c.add(defaultRemoved, at.path, before, nil, "the default was removed")
	case !same(before, after):
		c.add(defaultChanged, at.path, before, after, "another default")
	}
	c.enum(at, was["enum"], is["enum"])
}

func (c *comparer) enum(at schemaPath, was, is any) {
	before, had := was.([]any)
	after, has := is.([]any)
	if was != nil && !had || is != nil && !has {
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
	if more := difference(after, before); len(more) > 0 {
		c.add(enumRelaxed, at.path, before, after, "%s is accepted", short(more))
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
func (c *comparer) numbers(at schemaPath, was, is map[string]any) {
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
		if was[b.key] != nil || is[b.key] != nil {
			c.bound(at, b, was, is)
		}
	}
	switch before, after := was["multipleOf"], is["multipleOf"]; {
	case same(before, after):
	case after == nil:
		c.add(boundRelaxed, at.path, before, nil, "multipleOf was removed")
	default:
		c.add(multipleChanged, at.path, before, after, "another multipleOf")
	}
	switch had, has := was["uniqueItems"] == true, is["uniqueItems"] == true; {
	case has && !had:
		c.add(uniqueAdded, at.path, nil, nil, "items must be unique")
	case had && !has:
		c.add(boundRelaxed, at.path, nil, nil, "items need no longer be unique")
	}
}

func (c *comparer) bound(at schemaPath, b bound, was, is map[string]any) {
	before, had := c.limit(at, b, was)
	after, has := c.limit(at, b, is)
	tighter := maximumLowered
	if b.lower {
		tighter = minimumRaised
	}
	switch {
	case !had && !has:
	case !had:
		c.add(boundAdded, at.path, nil, is[b.key], "%s was added", b.key)
	case !has:
		c.add(boundRelaxed, at.path, was[b.key], nil, "%s was removed", b.key)
	case before == after:
		switch wasOut, isOut := was[b.exclusive] == true, is[b.exclusive] == true; {
		case isOut && !wasOut:
			c.add(tighter, at.path, nil, nil, "%s %s is now exclusive (%s)", b.key, short(is[b.key]), b.exclusive)
		case wasOut && !isOut:
			c.add(boundRelaxed, at.path, nil, nil, "%s %s is now inclusive", b.key, short(is[b.key]))
		}
	case (after > before) == b.lower:
		c.add(tighter, at.path, was[b.key], is[b.key], "%s is tighter", b.key)
	default:
		c.add(boundRelaxed, at.path, was[b.key], is[b.key], "%s is wider", b.key)
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
func (c *comparer) text(at schemaPath, was, is map[string]any) {
	for _, f := range []struct{ key, changed, removed string }{
		{"pattern", patternChanged, patternRemoved},
		{"format", formatChanged, formatRemoved},
	} {
		before, after := was[f.key], is[f.key]
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
