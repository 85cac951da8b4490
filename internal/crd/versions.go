package crd

import "strings"

// versions compares two definitions of one version.
func (c *comparer) versions(was, now version) {
	switch {
	case was.served && !now.served:
		c.add(versionUnserved, "", nil, nil, "the version is no longer served")
	case !was.served && now.served:
		c.add(versionServed, "", nil, nil, "the version is served")
	}
	c.subresources(was, now)
	c.selectable(was.fields["selectableFields"], now.fields["selectableFields"])
	if !sameColumns(was.fields["additionalPrinterColumns"], now.fields["additionalPrinterColumns"]) {
		c.add(columnsChanged, "", nil, nil, "other printer columns")
	}
	for _, key := range []string{"deprecated", "deprecationWarning"} {
		if !sameKeyword(key, was.fields[key], now.fields[key]) {
			c.add(deprecationChanged, "", was.fields[key], now.fields[key], "another deprecation")
		}
	}
	c.unknown("", was.fields, now.fields, versionKnown)
	c.schemas(was.schema, now.schema)
}

func versionKnown(key string) bool {
	switch key {
	case "name", "served", "storage", "schema", "subresources", "selectableFields", "additionalPrinterColumns", "deprecated", "deprecationWarning":
		return true
	}
	return false
}

// schemas compares the schemas of a version.
func (c *comparer) schemas(was, now map[string]any) {
	if (was == nil) != (now == nil) {
		c.add(unknownChange, "", given(was), given(now), "the schema as a whole")
		return
	}
	c.reworded = 0
	c.schema(schemaPath{root: true}, was, now)
	if c.reworded > 0 {
		c.add(descriptionsChanged, "", nil, nil, "%d descriptions changed", c.reworded)
	}
}

func given(m map[string]any) string {
	if m == nil {
		return "none"
	}
	return "given"
}

// removed records a removed version, which breaks its clients.
func (c *comparer) removed(was *definition, v version) {
	switch {
	case v.served:
		c.add(versionRemoved, "", nil, nil, "the version was served, and was removed")
	case !contains(was.stored, v.name):
		c.add(unservedRemoved, "", nil, nil, "the version was neither served nor stored, and was removed")
	}
}

// stored checks that all versions in which objects are stored remain.
func (c *comparer) stored(was, now *definition) {
	for _, name := range was.stored {
		if _, ok := now.version(name); !ok {
			c.version = name
			c.add(storedVersionRemoved, "", nil, nil, "objects may be stored in this version (status.storedVersions has %s), and it was removed", strings.Join(was.stored, ", "))
		}
	}
	c.version = ""
}

// added checks a new version. Without conversion only apiVersion changes between it and the storage
// version, so fields of only one of them are lost.
func (c *comparer) added(now *definition, v version) {
	c.add(versionAdded, "", nil, nil, "the version was added")
	storage, _ := now.version(now.storage)
	if !v.served || v.storage || now.strategy != "None" || v.schema == nil || storage.schema == nil {
		return
	}
	for _, change := range c.between(storage.schema, v.schema) {
		if dropsFields(change.Rule) {
			c.add(versionLossy, change.Field, change.Was, change.Is, "without a conversion, an object that is stored in %s and written in %s loses it (%s)", storage.name, v.name, change.Rule)
		}
	}
	for _, change := range c.between(v.schema, storage.schema) {
		if change.Rule == fieldRemoved {
			c.add(versionLossy, change.Field, change.Is, change.Was, "there is no conversion, and objects are stored in %s, which does not have it", storage.name)
		}
	}
}

func dropsFields(rule string) bool {
	switch rule {
	case fieldRemoved, typeChanged, intOrStringChanged, pruningStarted, additionalTightened, embeddedChanged:
		return true
	}
	return false
}

// storage compares the former storage version with the new one, which must read the stored objects.
func (c *comparer) storage(was, now *definition) {
	if was.storage == now.storage {
		return
	}
	if _, found := now.version(was.storage); !found {
		return // stored reports it
	}
	c.add(storageVersionChanged, "spec.versions", was.storage, now.storage, "objects are stored in another version, which cannot be undone by itself")
	before, _ := was.version(was.storage)
	after, _ := now.version(now.storage)
	if now.strategy != "None" || before.schema == nil || after.schema == nil {
		return
	}
	c.version = after.name
	for _, d := range c.between(before.schema, after.schema) {
		if d.Severity == Unsafe {
			c.add(storageIncompatible, d.Field, d.Was, d.Is, "without a conversion, objects are stored in %s (%s)", before.name, d.Rule)
		}
	}
	c.version = ""
}

// between compares the schemas of two versions.
func (c *comparer) between(was, now map[string]any) []Change {
	sub := &comparer{severities: c.severities, version: c.version, name: c.name, keepsAll: c.keepsAll}
	sub.schema(schemaPath{root: true}, was, now)
	if c.err == nil {
		c.err = sub.err
	}
	return sub.changes
}

func (c *comparer) subresources(was, now version) {
	before, err := mapAt(c.name, was.name+" subresources", was.fields["subresources"])
	if err != nil && c.err == nil {
		c.err = err
	}
	after, err := mapAt(c.name, now.name+" subresources", now.fields["subresources"])
	if err != nil && c.err == nil {
		c.err = err
	}
	_, had := before["status"].(map[string]any)
	_, has := after["status"].(map[string]any)
	switch {
	case had && !has:
		c.add(statusWithdrawn, "", nil, nil, "the status is no longer a subresource")
	case has && !had:
		c.add(statusAdded, "", nil, nil, "the status is a subresource")
	}
	c.scale(before["scale"], after["scale"])
	c.unknown("subresources", before, after, func(key string) bool { return key == "status" || key == "scale" })
}

func (c *comparer) scale(was, now any) {
	before, had := was.(map[string]any)
	after, has := now.(map[string]any)
	switch {
	case had && !has:
		c.add(scaleWithdrawn, "", nil, nil, "the scale subresource was removed")
		return
	case has && !had:
		c.add(scaleAdded, "", nil, nil, "the scale subresource was added")
		return
	}
	for _, key := range keysOf(before, after) {
		switch {
		case same(before[key], after[key]):
		case key == "labelSelectorPath" && before[key] == nil:
			c.add(scaleAdded, "", nil, after[key], "the scale subresource has a selector")
		default:
			c.add(scaleChanged, "", before[key], after[key], "%s of the scale subresource changed", key)
		}
	}
}

func (c *comparer) selectable(was, now any) {
	paths := func(v any) []string {
		var all []string
		list, _ := v.([]any)
		for _, item := range list {
			m, _ := item.(map[string]any)
			p, _ := m["jsonPath"].(string)
			all = append(all, strings.TrimPrefix(p, "."))
		}
		return all
	}
	before, after := paths(was), paths(now)
	for _, p := range before {
		if !contains(after, p) {
			c.add(selectableRemoved, p, nil, nil, "objects can no longer be selected by it")
		}
	}
	for _, p := range after {
		if !contains(before, p) {
			c.add(selectableAdded, p, nil, nil, "objects can be selected by it")
		}
	}
}
