package luahealth

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ConfigMapName is that of the ConfigMap in which Argo CD is configured.
const ConfigMapName = "argocd-cm"

// Namespace is where Argo CD is by default.
const Namespace = "argocd"

// Prefix is how the keys of customizations begin, in the data of the ConfigMap.
const Prefix = "resource.customizations"

// override is what the keys of a ConfigMap together say of one kind.
type override struct {
	script, where string
	open          bool
}

// OfConfigMap returns the customizations in the data of an argocd-cm, which origin names:
// those of resource.customizations.health.GROUP_KIND, and those of the block
// resource.customizations, which the former go before. What cannot be understood is a note,
// and left out; as in Argo CD, the other keys of the ConfigMap say nothing here.
//
// Of several patterns that a kind fits, that with the most characters which are no wildcard
// goes first, then by the alphabet: Argo CD takes any.
func OfConfigMap(origin string, data map[string]string) (*Set, []string) {
	overrides, notes := map[string]*override{}, []string(nil)
	note := func(key string, err error) {
		notes = append(notes, fmt.Sprintf("%s, %s: %v", origin, key, err))
	}
	if block := data[Prefix]; block != "" {
		readBlock(block, overrides, note)
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		readSplit(name, data[name], overrides, note)
	}
	var all []*customization
	for _, text := range slices.Sorted(maps.Keys(overrides)) {
		o := overrides[text]
		if strings.TrimSpace(o.script) == "" {
			continue
		}
		k, err := parseKey(text)
		if err == nil && len(o.script) > maxScriptBytes {
			err = tooLong()
		}
		if err != nil {
			note(o.where, err)
			continue
		}
		all = append(all, &customization{key: k, origin: fmt.Sprintf("%s (%s)", ConfigMapName, origin+", "+o.where), script: &script{text: o.script, open: o.open}})
	}
	slices.SortStableFunc(all, func(a, b *customization) int { return cmp.Compare(b.key.literal, a.key.literal) })
	return newSet(all), notes
}

// readSplit reads a key such as resource.customizations.health.shop.example.com_Backup.
func readSplit(name, value string, into map[string]*override, note func(string, error)) {
	rest, ours := strings.CutPrefix(name, Prefix+".")
	if !ours {
		return
	}
	setting, kind, _ := strings.Cut(rest, ".")
	if setting != "health" && setting != "useOpenLibs" {
		return
	}
	text, err := splitKey(kind)
	if err != nil {
		note(name, err)
		return
	}
	o := into[text]
	if o == nil {
		o = &override{}
		into[text] = o
	}
	if setting == "health" {
		o.script, o.where = value, name
		return
	}
	open, err := strconv.ParseBool(value)
	if err != nil {
		note(name, fmt.Errorf("%q is neither true nor false", value))
	}
	o.open = open
}

// readBlock reads the value of resource.customizations: a mapping of keys.
func readBlock(text string, into map[string]*override, note func(string, error)) {
	var block map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(text), &block); err != nil {
		note(Prefix, errors.New(strings.TrimPrefix(err.Error(), "yaml: ")))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(block)) {
		node := block[name]
		var entry struct {
			Health string `yaml:"health.lua"`
			Open   bool   `yaml:"health.lua.useOpenLibs"`
		}
		if err := node.Decode(&entry); err != nil {
			note(Prefix+": "+name, errors.New(strings.TrimPrefix(err.Error(), "yaml: ")))
			continue
		}
		into[name] = &override{script: entry.Health, open: entry.Open, where: Prefix + ": " + name}
	}
}
